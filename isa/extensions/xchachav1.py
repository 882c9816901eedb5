"""ChaCha by whole quarter rounds: variant V1 of the ASAP 2021 extension (RV64).

A register holds two words of a column: a above d, and b above c.
"""

from __future__ import annotations

from isa.bits import Bits, concat
from isa.instruction import Extension

EXTENSION = Extension(
    "xchachav1",
    source="Marshall, Page, Pham: A lightweight ISE for ChaCha on RISC-V, ASAP 2021, ISE V1; "
    "encodings of scarv/chacha-ise@46bdaa4",
    xlens=(64,),
    requires=("xchachapack",),
)
_instruction = EXTENSION.instruction


def _words(rs1: Bits, rs2: Bits) -> tuple[Bits, Bits, Bits, Bits]:
    return rs1.slice(32, 32), rs2.slice(32, 32), rs2.slice(0, 32), rs1.slice(0, 32)


@_instruction("chacha.v1.ad rd rs1 rs2 31..25=0 14..12=7 6..0=0xb")
def ad(rs1: Bits, rs2: Bits) -> Bits:
    """New a above new d of a quarter round."""
    a, b, c, d = _words(rs1, rs2)
    a = a + b
    d = (d ^ a).rotl(16)
    b = (b ^ (c + d)).rotl(12)
    a = a + b
    return concat(a, (d ^ a).rotl(8))


@_instruction("chacha.v1.bc rd rs1 rs2 31..25=1 14..12=7 6..0=0xb")
def bc(rs1: Bits, rs2: Bits) -> Bits:
    """New b above new c, from the new a and d and the old b and c."""
    a, b, c, d = _words(rs1, rs2)
    c = c + (d.rotl(24) ^ a)
    b = (b ^ c).rotl(12)
    c = c + d
    return concat((b ^ c).rotl(7), c)

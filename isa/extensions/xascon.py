"""Ascon's linear layer: the extension of the lwise project (RV32 and RV64)."""

from __future__ import annotations

from isa.bits import Bits, concat, mux
from isa.instruction import Extension

EXTENSION = Extension(
    "xascon",
    source="Cheng, Grossschaedl, Marshall, Page, Pham: RISC-V instruction set extensions for "
    "lightweight symmetric cryptography, TCHES 2023(1); scarv/lwise@1a16305 doc/ascon",
)
_FIELDS = {"imm": (29, 25)}
ROTATIONS = ((19, 28), (61, 39), (1, 6), (10, 17), (7, 41))
"""Amounts of Sigma 0 to 4 (Ascon v1.2, 2.6.3)."""


def _sigma(x: Bits, imm: Bits) -> Bits:
    """Sigma `imm` of a 64-bit word of the state; x itself, as the RTL has it, beyond 4."""
    result = x
    for i, (first, second) in enumerate(ROTATIONS):
        result = mux(imm.eq(i), x ^ x.rotr(first) ^ x.rotr(second), result)
    return result


@EXTENSION.instruction(
    "ascon.sigma.lo rd rs1 rs2 imm 31..30=0 14..12=7 6..0=0x2b", xlens=(32,), fields=_FIELDS
)
def sigma_lo(rs1: Bits, rs2: Bits, imm: Bits) -> Bits:
    """Low half of Sigma of rs2:rs1."""
    return _sigma(concat(rs2, rs1), imm).slice(0, 32)


@EXTENSION.instruction(
    "ascon.sigma.hi rd rs1 rs2 imm 31..30=1 14..12=7 6..0=0x2b", xlens=(32,), fields=_FIELDS
)
def sigma_hi(rs1: Bits, rs2: Bits, imm: Bits) -> Bits:
    """High half of Sigma of rs2:rs1."""
    return _sigma(concat(rs2, rs1), imm).slice(32, 32)


@EXTENSION.instruction(
    "ascon.sigma rd rs1 imm 31..30=2 14..12=6 6..0=0x2b", xlens=(64,), fields=_FIELDS
)
def sigma(rs1: Bits, imm: Bits) -> Bits:
    """Sigma of a word."""
    return _sigma(rs1, imm)

"""AES by quadrants: variant V5 of the TCHES 2021 comparison (RV32).

A word holds two rows of two columns: rows 0 and 1 ("lo") or 2 and 3 ("hi"); the column with the
lower number in its high half, within a half the row with the lower number in its low byte.
"""

from __future__ import annotations

from collections.abc import Sequence

from isa.aes import INVERSE_MIX, MIX, inverse_sbox, sbox
from isa.aes_state import mixed_byte, substitute
from isa.bits import Bits, concat
from isa.instruction import Extension

EXTENSION = Extension(
    "xaesv5",
    source="Marshall, Newell, Page, Saarinen, Wolf: The design of scalar AES instruction set "
    "extensions for RISC-V, TCHES 2021(1), ISE V5; encodings and byte order as in the RTL of "
    "scarv/aes-risc-pipeline@c7d190c",
    xlens=(32,),
)
_instruction = EXTENSION.instruction


@_instruction("saes.v5.esrsub.lo rd rs1 rs2 31..25=20 14..12=0b111 6..0=0xb")
def esrsub_lo(rs1: Bits, rs2: Bits) -> Bits:
    """ShiftRows and SubBytes, rows 0 and 1 of two columns; rs2 holds the other two."""
    return substitute(sbox(), concat(rs1.byte(1), rs1.byte(2), rs2.byte(3), rs1.byte(0)))


@_instruction("saes.v5.esrsub.hi rd rs1 rs2 31..25=21 14..12=0b111 6..0=0xb")
def esrsub_hi(rs1: Bits, rs2: Bits) -> Bits:
    """ShiftRows and SubBytes, rows 2 and 3 of two columns; rs2 holds the other two."""
    return substitute(sbox(), concat(rs2.byte(1), rs2.byte(2), rs1.byte(3), rs2.byte(0)))


@_instruction("saes.v5.dsrsub.lo rd rs1 rs2 31..25=22 14..12=0b111 6..0=0xb")
def dsrsub_lo(rs1: Bits, rs2: Bits) -> Bits:
    """InvShiftRows and InvSubBytes, rows 0 and 1 of two columns; rs2 holds the other two."""
    return substitute(inverse_sbox(), concat(rs2.byte(1), rs1.byte(2), rs1.byte(3), rs1.byte(0)))


@_instruction("saes.v5.dsrsub.hi rd rs1 rs2 31..25=23 14..12=0b111 6..0=0xb")
def dsrsub_hi(rs1: Bits, rs2: Bits) -> Bits:
    """InvShiftRows and InvSubBytes, rows 2 and 3 of two columns; rs2 holds the other two."""
    return substitute(inverse_sbox(), concat(rs1.byte(1), rs2.byte(2), rs2.byte(3), rs2.byte(0)))


def _mixed(rs1: Bits, rs2: Bits, factors: Sequence[int]) -> Bits:
    """The rows of rs1 after mixing the columns that rs1 and rs2 make up."""
    parts = []
    for low in (0, 2):
        column = [r.byte(low + row) for r in (rs1, rs2) for row in range(2)]
        parts += [mixed_byte(column, row, factors) for row in range(2)]
    return concat(*reversed(parts))


@_instruction("saes.v5.emix rd rs1 rs2 31..25=24 14..12=0b111 6..0=0xb")
def emix(rs1: Bits, rs2: Bits) -> Bits:
    """MixColumns of two columns, the rows that rs1 holds."""
    return _mixed(rs1, rs2, MIX)


@_instruction("saes.v5.dmix rd rs1 rs2 31..25=25 14..12=0b111 6..0=0xb")
def dmix(rs1: Bits, rs2: Bits) -> Bits:
    """InvMixColumns of two columns, the rows that rs1 holds."""
    return _mixed(rs1, rs2, INVERSE_MIX)


@_instruction("saes.v5.sub rd rs1 31..25=26 24..20=0 14..12=0b110 6..0=0xb")
def sub(rs1: Bits) -> Bits:
    """SubBytes of a word, for the key schedule."""
    return substitute(sbox(), rs1)

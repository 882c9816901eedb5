"""AES by columns with ShiftRows implied: variant V2 of the TCHES 2021 comparison (RV32).

Each instruction takes two columns and reads some bytes from either, so that a step of four
substitutions and a step of four mixes have together moved the rows.
"""

from __future__ import annotations

from isa.aes import INVERSE_MIX, MIX, inverse_sbox, sbox
from isa.aes_state import mix_columns, substitute
from isa.bits import Bits, concat
from isa.instruction import Extension

EXTENSION = Extension(
    "xaesv2",
    source="Marshall, Newell, Page, Saarinen, Wolf: The design of scalar AES instruction set "
    "extensions for RISC-V, TCHES 2021(1), ISE V2; encodings of scarv/aes-risc-pipeline@c7d190c",
    xlens=(32,),
)
_instruction = EXTENSION.instruction


def _alternating(rs1: Bits, rs2: Bits) -> Bits:
    """Bytes 0 and 2 of rs1, bytes 1 and 3 of rs2."""
    return concat(rs2.byte(3), rs1.byte(2), rs2.byte(1), rs1.byte(0))


def _halves(rs1: Bits, rs2: Bits) -> Bits:
    """The low half of rs1, the high half of rs2."""
    return concat(rs2.slice(16, 16), rs1.slice(0, 16))


@_instruction("saes.v2.sub.enc rd rs1 rs2 31..25=8 14..12=0b111 6..0=0xb")
def sub_enc(rs1: Bits, rs2: Bits) -> Bits:
    """SubBytes of alternating bytes."""
    return substitute(sbox(), _alternating(rs1, rs2))


@_instruction("saes.v2.sub.dec rd rs1 rs2 31..25=7 14..12=0b111 6..0=0xb")
def sub_dec(rs1: Bits, rs2: Bits) -> Bits:
    """InvSubBytes of alternating bytes."""
    return substitute(inverse_sbox(), _alternating(rs1, rs2))


@_instruction("saes.v2.mix.enc rd rs1 rs2 31..25=6 14..12=0b111 6..0=0xb")
def mix_enc(rs1: Bits, rs2: Bits) -> Bits:
    """MixColumns of two half columns."""
    return mix_columns(_halves(rs1, rs2), MIX)


@_instruction("saes.v2.mix.dec rd rs1 rs2 31..25=5 14..12=0b111 6..0=0xb")
def mix_dec(rs1: Bits, rs2: Bits) -> Bits:
    """InvMixColumns of two half columns."""
    return mix_columns(_halves(rs1, rs2), INVERSE_MIX)

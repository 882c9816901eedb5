"""AES by whole columns: variant V1 of the TCHES 2021 comparison (RV32)."""

from __future__ import annotations

from isa.aes import INVERSE_MIX, MIX, inverse_sbox, sbox
from isa.aes_state import mix_columns, substitute
from isa.bits import Bits
from isa.instruction import Extension

EXTENSION = Extension(
    "xaesv1",
    source="Marshall, Newell, Page, Saarinen, Wolf: The design of scalar AES instruction set "
    "extensions for RISC-V, TCHES 2021(1), ISE V1; encodings of scarv/aes-risc-pipeline@c7d190c",
    xlens=(32,),
)
_instruction = EXTENSION.instruction


@_instruction("saes.v1.encs rd rs1 31..25=0 24..20=0 14..12=0b110 6..0=0xb")
def encs(rs1: Bits) -> Bits:
    """SubBytes of a column."""
    return substitute(sbox(), rs1)


@_instruction("saes.v1.encm rd rs1 31..25=0 24..20=1 14..12=0b110 6..0=0xb")
def encm(rs1: Bits) -> Bits:
    """MixColumns of a column."""
    return mix_columns(rs1, MIX)


@_instruction("saes.v1.decs rd rs1 31..25=0 24..20=2 14..12=0b110 6..0=0xb")
def decs(rs1: Bits) -> Bits:
    """InvSubBytes of a column."""
    return substitute(inverse_sbox(), rs1)


@_instruction("saes.v1.decm rd rs1 31..25=0 24..20=3 14..12=0b110 6..0=0xb")
def decm(rs1: Bits) -> Bits:
    """InvMixColumns of a column."""
    return mix_columns(rs1, INVERSE_MIX)

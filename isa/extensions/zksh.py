"""Zksh: the permutations of the SM3 hash function (GB/T 32905-2016)."""

from __future__ import annotations

from isa.bits import Bits
from isa.instruction import Extension

EXTENSION = Extension(
    "zksh", source="RISC-V Cryptography Extensions Volume I, Scalar & Entropy Source 1.0.1, 2.8"
)
_instruction = EXTENSION.instruction


@_instruction("sm3p0 rd rs1 31..30=0 29..25=0b01000 24..20=0b01000 14..12=1 6..0=0x13")
def sm3p0(rs1: Bits) -> Bits:
    """P0 of a word, sign-extended."""
    x = rs1.slice(0, 32)
    return (x ^ x.rotl(9) ^ x.rotl(17)).sext(rs1.width)


@_instruction("sm3p1 rd rs1 31..30=0 29..25=0b01000 24..20=0b01001 14..12=1 6..0=0x13")
def sm3p1(rs1: Bits) -> Bits:
    """P1 of a word, sign-extended."""
    x = rs1.slice(0, 32)
    return (x ^ x.rotl(15) ^ x.rotl(23)).sext(rs1.width)

"""Zksed: the SM4 block cipher (GB/T 32907-2016)."""

from __future__ import annotations

from isa.aes_state import placed_byte, selected_byte
from isa.bits import Bits, lookup
from isa.instruction import Extension
from isa.sm4 import sbox

EXTENSION = Extension(
    "zksed", source="RISC-V Cryptography Extensions Volume I, Scalar & Entropy Source 1.0.1, 2.7"
)
_instruction = EXTENSION.instruction


def _substituted(rs2: Bits, bs: Bits) -> Bits:
    return lookup(sbox(), selected_byte(rs2.slice(0, 32), bs)).zext(32)


@_instruction("sm4ed rd rs1 rs2 bs 29..25=0b11000 14..12=0 6..0=0x33")
def sm4ed(rs1: Bits, rs2: Bits, bs: Bits) -> Bits:
    """One byte of the S-box and of the linear map L of a round, added to rs1, sign-extended."""
    s = _substituted(rs2, bs)
    mixed = s ^ s.rotl(2) ^ s.rotl(10) ^ s.rotl(18) ^ s.rotl(24)
    return (rs1.slice(0, 32) ^ placed_byte(mixed, bs)).sext(rs1.width)


@_instruction("sm4ks rd rs1 rs2 bs 29..25=0b11010 14..12=0 6..0=0x33")
def sm4ks(rs1: Bits, rs2: Bits, bs: Bits) -> Bits:
    """One byte of the S-box and of L' of the key schedule, added to rs1, sign-extended."""
    s = _substituted(rs2, bs)
    mixed = s ^ s.rotl(13) ^ s.rotl(23)
    return (rs1.slice(0, 32) ^ placed_byte(mixed, bs)).sext(rs1.width)

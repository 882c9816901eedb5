"""Zksed: the SM4 block cipher (GB/T 32907-2016)."""

from __future__ import annotations

from isa.aes_state import placed_byte, selected_byte
from isa.bits import Bits, concat, const, lookup
from isa.instruction import Extension
from isa.sm4 import sbox

EXTENSION = Extension(
    "zksed", source="RISC-V Cryptography Extensions Volume I, Scalar & Entropy Source 1.0.1, 2.7"
)
_instruction = EXTENSION.instruction


def _transformed(rs2: Bits, bs: Bits, rotations: tuple[int, ...]) -> Bits:
    """One byte through the S-box and a sum of rotations.

    The cipher numbers bytes from the most significant; words here hold them in memory order.
    """
    s = lookup(sbox(), selected_byte(rs2.slice(0, 32), bs))
    first = concat(s, const(0, 24))
    total = first
    for amount in rotations:
        total = total ^ first.rotl(amount)
    return placed_byte(concat(*(total.byte(i) for i in range(4))), bs)


@_instruction("sm4ed rd rs1 rs2 bs 29..25=0b11000 14..12=0 6..0=0x33")
def sm4ed(rs1: Bits, rs2: Bits, bs: Bits) -> Bits:
    """One byte of the S-box and of the linear map L of a round, added to rs1, sign-extended."""
    return (rs1.slice(0, 32) ^ _transformed(rs2, bs, (2, 10, 18, 24))).sext(rs1.width)


@_instruction("sm4ks rd rs1 rs2 bs 29..25=0b11010 14..12=0 6..0=0x33")
def sm4ks(rs1: Bits, rs2: Bits, bs: Bits) -> Bits:
    """One byte of the S-box and of L' of the key schedule, added to rs1, sign-extended."""
    return (rs1.slice(0, 32) ^ _transformed(rs2, bs, (13, 23))).sext(rs1.width)

"""Zkne: AES encryption."""

from __future__ import annotations

from isa.aes import MIX, sbox, times
from isa.aes_state import (
    mix_columns,
    placed_byte,
    selected_byte,
    shifted_half,
    substitute,
)
from isa.bits import Bits, concat, lookup
from isa.extensions import zknd
from isa.instruction import Extension

EXTENSION = Extension(
    "zkne", source="RISC-V Cryptography Extensions Volume I, Scalar & Entropy Source 1.0.1, 2.4"
)
_instruction = EXTENSION.instruction

EXTENSION.adopt(zknd.EXTENSION, "aes64ks1i", "aes64ks2")


@_instruction("aes32esmi rd rs1 rs2 bs 29..25=0b10011 14..12=0 6..0=0x33", xlens=(32,))
def aes32esmi(rs1: Bits, rs2: Bits, bs: Bits) -> Bits:
    """One byte of SubBytes and its share of MixColumns, added to rs1."""
    s = lookup(sbox(), selected_byte(rs2, bs))
    column = concat(*(times(s, factor) for factor in reversed(MIX)))
    return rs1 ^ placed_byte(column, bs)


@_instruction("aes32esi rd rs1 rs2 bs 29..25=0b10001 14..12=0 6..0=0x33", xlens=(32,))
def aes32esi(rs1: Bits, rs2: Bits, bs: Bits) -> Bits:
    """One byte of SubBytes, added to rs1."""
    s = lookup(sbox(), selected_byte(rs2, bs))
    return rs1 ^ placed_byte(s.zext(32), bs)


@_instruction("aes64esm rd rs1 rs2 31..30=0 29..25=0b11011 14..12=0b000 6..0=0x33", xlens=(64,))
def aes64esm(rs1: Bits, rs2: Bits) -> Bits:
    """Two columns of ShiftRows, SubBytes and MixColumns of the state rs2:rs1."""
    return mix_columns(aes64es(rs1, rs2), MIX)


@_instruction("aes64es rd rs1 rs2 31..30=0 29..25=0b11001 14..12=0b000 6..0=0x33", xlens=(64,))
def aes64es(rs1: Bits, rs2: Bits) -> Bits:
    """Two columns of ShiftRows and SubBytes of the state rs2:rs1."""
    return substitute(sbox(), shifted_half(concat(rs2, rs1), 1))

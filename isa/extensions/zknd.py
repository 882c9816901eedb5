"""Zknd: AES decryption."""

from __future__ import annotations

from isa.aes import INVERSE_MIX, inverse_sbox, sbox, times
from isa.aes_state import (
    mix_columns,
    placed_byte,
    round_constant,
    selected_byte,
    shifted_half,
    substitute,
)
from isa.bits import Bits, concat, lookup, mux
from isa.instruction import Extension

EXTENSION = Extension(
    "zknd", source="RISC-V Cryptography Extensions Volume I, Scalar & Entropy Source 1.0.1, 2.5"
)
_instruction = EXTENSION.instruction


@_instruction("aes32dsmi rd rs1 rs2 bs 29..25=0b10111 14..12=0 6..0=0x33", xlens=(32,))
def aes32dsmi(rs1: Bits, rs2: Bits, bs: Bits) -> Bits:
    """One byte of InvSubBytes and its share of InvMixColumns, added to rs1."""
    s = lookup(inverse_sbox(), selected_byte(rs2, bs))
    column = concat(*(times(s, factor) for factor in reversed(INVERSE_MIX)))
    return rs1 ^ placed_byte(column, bs)


@_instruction("aes32dsi rd rs1 rs2 bs 29..25=0b10101 14..12=0 6..0=0x33", xlens=(32,))
def aes32dsi(rs1: Bits, rs2: Bits, bs: Bits) -> Bits:
    """One byte of InvSubBytes, added to rs1."""
    s = lookup(inverse_sbox(), selected_byte(rs2, bs))
    return rs1 ^ placed_byte(s.zext(32), bs)


@_instruction("aes64dsm rd rs1 rs2 31..30=0 29..25=0b11111 14..12=0b000 6..0=0x33", xlens=(64,))
def aes64dsm(rs1: Bits, rs2: Bits) -> Bits:
    """Two columns of InvShiftRows, InvSubBytes and InvMixColumns of the state rs2:rs1."""
    return mix_columns(aes64ds(rs1, rs2), INVERSE_MIX)


@_instruction("aes64ds rd rs1 rs2 31..30=0 29..25=0b11101 14..12=0b000 6..0=0x33", xlens=(64,))
def aes64ds(rs1: Bits, rs2: Bits) -> Bits:
    """Two columns of InvShiftRows and InvSubBytes of the state rs2:rs1."""
    return substitute(inverse_sbox(), shifted_half(concat(rs2, rs1), -1))


@_instruction(
    "aes64im rd rs1 31..30=0 29..25=0b11000 24..20=0b0000 14..12=0b001 6..0=0x13", xlens=(64,)
)
def aes64im(rs1: Bits) -> Bits:
    """InvMixColumns of two columns."""
    return mix_columns(rs1, INVERSE_MIX)


@_instruction(
    "aes64ks1i rd rs1 rnum 31..30=0 29..25=0b11000 24=1 14..12=0b001 6..0=0x13", xlens=(64,)
)
def aes64ks1i(rs1: Bits, rnum: Bits) -> Bits:
    """SubWord, RotWord and the round constant of the key schedule, twice; rnum 10 only SubWord."""
    word = rs1.slice(32, 32)
    rotated = mux(rnum.eq(10), word, word.rotr(8))
    result = substitute(sbox(), rotated) ^ round_constant(rnum).zext(32)
    return concat(result, result)


@_instruction("aes64ks2 rd rs1 rs2 31..30=1 29..25=0b11111 14..12=0b000 6..0=0x33", xlens=(64,))
def aes64ks2(rs1: Bits, rs2: Bits) -> Bits:
    """Two words of the key schedule from the one before and the two of the last round."""
    low = rs1.slice(32, 32) ^ rs2.slice(0, 32)
    return concat(low ^ rs2.slice(32, 32), low)

"""Zknd: AES decryption (RV32)."""

from __future__ import annotations

from isa.aes import INVERSE_MIX, inverse_sbox, times
from isa.bits import Bits, concat, const, lookup
from isa.instruction import Extension

EXTENSION = Extension(
    "zknd",
    source="RISC-V Cryptography Extensions Volume I, Scalar & Entropy Source 1.0.1, 3.2-3.3",
    xlens=(32,),
)
_instruction = EXTENSION.instruction


def _selected(rs2: Bits, bs: Bits) -> Bits:
    """Byte `bs` of rs2."""
    return rs2.shr_var(concat(bs, const(0, 3))).slice(0, 8)


def _placed(column: Bits, bs: Bits) -> Bits:
    """Rotate left by `bs` bytes."""
    return column.rotr_var(~concat(bs, const(0, 3)) + 1)


@_instruction("aes32dsmi rd rs1 rs2 bs 29..25=0b10111 14..12=0 6..0=0x33")
def aes32dsmi(rs1: Bits, rs2: Bits, bs: Bits) -> Bits:
    """One byte of InvSubBytes and its share of InvMixColumns, added to rs1."""
    s = lookup(inverse_sbox(), _selected(rs2, bs))
    column = concat(*(times(s, factor) for factor in reversed(INVERSE_MIX)))
    return rs1 ^ _placed(column, bs)


@_instruction("aes32dsi rd rs1 rs2 bs 29..25=0b10101 14..12=0 6..0=0x33")
def aes32dsi(rs1: Bits, rs2: Bits, bs: Bits) -> Bits:
    """One byte of InvSubBytes, added to rs1."""
    s = lookup(inverse_sbox(), _selected(rs2, bs))
    return rs1 ^ _placed(s.zext(32), bs)

"""GIFT by fixslicing: the extension of the lwise project (RV32), but for its fixed key updates."""

from __future__ import annotations

from collections.abc import Iterable

from isa.bits import Bits, concat
from isa.instruction import Extension

EXTENSION = Extension(
    "xgift",
    source="Cheng, Grossschaedl, Marshall, Page, Pham: RISC-V instruction set extensions for "
    "lightweight symmetric cryptography, TCHES 2023(1); scarv/lwise@1a16305 doc/gift",
    xlens=(32,),
)
_FIELDS = {"imm": (29, 25)}
PERMUTATION = ((0x0A0A0A0A, 3), (0x00CC00CC, 6), (0x0000F0F0, 12), (0x000000FF, 24))
"""Mask and distance of the four exchanges that permute the bits of a slice."""


def _exchange(x: Bits, mask: Bits, shifted: Bits, amount: Bits) -> Bits:
    """Exchange the bits under the mask with those `amount` above them."""
    t = (x ^ shifted) & mask
    return x ^ t ^ t.shl_var(amount)


@EXTENSION.instruction("gift.swapmove rd rs1 rs2 imm 31..30=0 14..12=7 6..0=0xb", fields=_FIELDS)
def swapmove(rs1: Bits, rs2: Bits, imm: Bits) -> Bits:
    """Exchange the bits of rs1 under the mask rs2 with those imm above them."""
    return _exchange(rs1, rs2, rs1.shr_var(imm), imm)


def _rotated(x: Bits, imm: Bits, width: int) -> Bits:
    """Every element of a width rotated right by imm, modulo the width."""
    amount = imm.slice(0, width.bit_length() - 1)
    parts = [x.slice(low, width).rotr_var(amount) for low in range(0, x.width, width)]
    return concat(*reversed(parts))


@EXTENSION.instruction("gift.rori.n rd rs1 imm 31..30=1 14..12=6 6..0=0xb", fields=_FIELDS)
def rori_n(rs1: Bits, imm: Bits) -> Bits:
    """Rotate nibbles right by immediate."""
    return _rotated(rs1, imm, 4)


@EXTENSION.instruction("gift.rori.b rd rs1 imm 31..30=2 14..12=6 6..0=0xb", fields=_FIELDS)
def rori_b(rs1: Bits, imm: Bits) -> Bits:
    """Rotate bytes right by immediate."""
    return _rotated(rs1, imm, 8)


@EXTENSION.instruction("gift.rori.h rd rs1 imm 31..30=3 14..12=6 6..0=0xb", fields=_FIELDS)
def rori_h(rs1: Bits, imm: Bits) -> Bits:
    """Rotate halfwords right by immediate."""
    return _rotated(rs1, imm, 16)


def _exchanges(x: Bits, steps: Iterable[tuple[int, int]]) -> Bits:
    for mask, distance in steps:
        t = (x ^ x >> distance) & mask
        x = x ^ t ^ t << distance
    return x


@EXTENSION.instruction("gift.permbits.step rd rs1 imm 31..30=3 14..12=6 6..0=0x2b", fields=_FIELDS)
def permbits_step(rs1: Bits, imm: Bits) -> Bits:
    """Permute the bits of a slice, then rotate right by immediate."""
    return _exchanges(rs1, PERMUTATION).rotr_var(imm)


@EXTENSION.instruction("gift.key.updstd rd rs1 31..25=0x20 14..12=6 6..0=0x2b")
def key_updstd(rs1: Bits) -> Bits:
    """Key update: the upper halfword rotated right by 2, the lower by 12."""
    return concat(rs1.slice(16, 16).rotr(2), rs1.slice(0, 16).rotr(12))

"""Zbe of the withdrawn draft: gathering and scattering of bits under a mask.

The name is the one Spike uses for it. Written in log2(xlen) steps: in step k every bit under the
mask moves by 2^k or stays, as bit k of the number of gaps below it says.
"""

from __future__ import annotations

from isa.bits import Bits
from isa.extensions.rv64i import on_words
from isa.instruction import Extension

EXTENSION = Extension(
    "xzbe",
    source="RISC-V Bitmanip Extension draft 0.94 (2021), chapter 2, Zbe; encodings as in "
    "riscv/riscv-opcodes@24677d7 opcodes-rv32b and opcodes-rv64b",
)
_instruction = EXTENSION.instruction


def _moves(mask: Bits) -> list[Bits]:
    """For each step of gathering, which of the bits, where they are by then, move."""
    moves = []
    gaps = ~mask << 1  # ones below which an unpaired gap remains
    for k in range(mask.width.bit_length() - 1):
        parity = gaps
        for j in range(mask.width.bit_length() - 1):
            parity = parity ^ parity << (1 << j)
        moving = parity & mask
        moves.append(moving)
        mask = mask ^ moving | moving >> (1 << k)
        gaps = gaps & ~parity
    return moves


@_instruction("bcompress rd rs1 rs2 31..25=4 14..12=6 6..2=0x0C 1..0=3")
def bcompress(rs1: Bits, rs2: Bits) -> Bits:
    """The bits of rs1 under the mask rs2, side by side from bit 0."""
    x = rs1 & rs2
    for k, moving in enumerate(_moves(rs2)):
        moved = x & moving
        x = x ^ moved | moved >> (1 << k)
    return x


@_instruction("bdecompress rd rs1 rs2 31..25=36 14..12=6 6..2=0x0C 1..0=3")
def bdecompress(rs1: Bits, rs2: Bits) -> Bits:
    """The low bits of rs1 at the places of the ones of rs2."""
    x = rs1
    for k, moving in reversed(list(enumerate(_moves(rs2)))):
        x = x & ~moving | x << (1 << k) & moving
    return x & rs2


@_instruction("bcompressw rd rs1 rs2 31..25=4 14..12=6 6..2=0x0E 1..0=3", xlens=(64,))
def bcompressw(rs1: Bits, rs2: Bits) -> Bits:
    """Gather bits of a word, sign-extended."""
    return on_words(bcompress, rs1, rs2)


@_instruction("bdecompressw rd rs1 rs2 31..25=36 14..12=6 6..2=0x0E 1..0=3", xlens=(64,))
def bdecompressw(rs1: Bits, rs2: Bits) -> Bits:
    """Scatter bits of a word, sign-extended."""
    return on_words(bdecompress, rs1, rs2)

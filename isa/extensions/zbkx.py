"""Zbkx: crossbar permutations."""

from __future__ import annotations

from isa.bits import Bits, concat, const, mux
from isa.instruction import Extension

EXTENSION = Extension(
    "zbkx",
    source="RISC-V Cryptography Extensions Volume I, Scalar & Entropy Source 1.0.1, 2.3",
)
_instruction = EXTENSION.instruction


def crossbar(rs1: Bits, rs2: Bits, width: int) -> Bits:
    """Element i of the result: the element of rs1 that element i of rs2 names, 0 beyond the end."""
    count = rs1.width // width
    index_width = count.bit_length() - 1
    parts = []
    for i in range(count):
        index = rs2.slice(i * width, width)
        amount = concat(index.slice(0, index_width), const(0, width.bit_length() - 1))
        picked = rs1.shr_var(amount).slice(0, width)
        if index_width < width:
            beyond = index.slice(index_width, width - index_width)
            picked = mux(beyond.eq(0), picked, const(0, width))
        parts.append(picked)
    return concat(*reversed(parts))


@_instruction("xperm4 rd rs1 rs2 31..25=20 14..12=2 6..0=0x33")
def xperm4(rs1: Bits, rs2: Bits) -> Bits:
    """Nibble crossbar."""
    return crossbar(rs1, rs2, 4)


@_instruction("xperm8 rd rs1 rs2 31..25=20 14..12=4 6..0=0x33")
def xperm8(rs1: Bits, rs2: Bits) -> Bits:
    """Byte crossbar."""
    return crossbar(rs1, rs2, 8)

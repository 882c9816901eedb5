"""Zbs: single-bit operations."""

from __future__ import annotations

from isa.bits import Bits, const
from isa.instruction import Extension

EXTENSION = Extension("zbs", source="RISC-V Unprivileged ISA 20240411, 28.4.4 (Zbs 1.0.0)")
_instruction = EXTENSION.instruction


def _index(rs2: Bits) -> Bits:
    """Bit number in a register: its lowest log2(xlen) bits."""
    return rs2.slice(0, rs2.width.bit_length() - 1)


def _one(rs1: Bits, index: Bits) -> Bits:
    return const(1, rs1.width).shl_var(index)


@_instruction("bclri rd rs1 31..25=0x24 shamtw 14..12=1 6..2=0x04 1..0=3", xlens=(32,))
def bclri(rs1: Bits, shamtw: Bits) -> Bits:
    """Clear a bit by immediate."""
    return rs1 & ~_one(rs1, shamtw)


@_instruction("bexti rd rs1 31..25=0x24 shamtw 14..12=5 6..2=0x04 1..0=3", xlens=(32,))
def bexti(rs1: Bits, shamtw: Bits) -> Bits:
    """Extract a bit by immediate."""
    return rs1.shr_var(shamtw) & 1


@_instruction("binvi rd rs1 31..25=0x34 shamtw 14..12=1 6..2=0x04 1..0=3", xlens=(32,))
def binvi(rs1: Bits, shamtw: Bits) -> Bits:
    """Invert a bit by immediate."""
    return rs1 ^ _one(rs1, shamtw)


@_instruction("bseti rd rs1 31..25=0x14 shamtw 14..12=1 6..2=0x04 1..0=3", xlens=(32,))
def bseti(rs1: Bits, shamtw: Bits) -> Bits:
    """Set a bit by immediate."""
    return rs1 | _one(rs1, shamtw)


for _line, _meaning in (
    ("bclri rd rs1 31..26=0x12 shamtd 14..12=1 6..2=0x04 1..0=3", bclri),
    ("bexti rd rs1 31..26=0x12 shamtd 14..12=5 6..2=0x04 1..0=3", bexti),
    ("binvi rd rs1 31..26=0x1a shamtd 14..12=1 6..2=0x04 1..0=3", binvi),
    ("bseti rd rs1 31..26=0x0a shamtd 14..12=1 6..2=0x04 1..0=3", bseti),
):
    EXTENSION.declare(_line, _meaning, ("rs1", "shamtd"), xlens=(64,))


@_instruction("bclr rd rs1 rs2 31..25=0x24 14..12=1 6..2=0x0C 1..0=3")
def bclr(rs1: Bits, rs2: Bits) -> Bits:
    """Clear a bit."""
    return bclri(rs1, _index(rs2))


@_instruction("bext rd rs1 rs2 31..25=36 14..12=5 6..2=0x0C 1..0=3")
def bext(rs1: Bits, rs2: Bits) -> Bits:
    """Extract a bit."""
    return bexti(rs1, _index(rs2))


@_instruction("binv rd rs1 rs2 31..25=52 14..12=1 6..2=0x0C 1..0=3")
def binv(rs1: Bits, rs2: Bits) -> Bits:
    """Invert a bit."""
    return binvi(rs1, _index(rs2))


@_instruction("bset rd rs1 rs2 31..25=20 14..12=1 6..2=0x0C 1..0=3")
def bset(rs1: Bits, rs2: Bits) -> Bits:
    """Set a bit."""
    return bseti(rs1, _index(rs2))

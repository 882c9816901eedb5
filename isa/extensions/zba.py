"""Zba: address generation."""

from __future__ import annotations

from isa.bits import Bits
from isa.instruction import Extension

EXTENSION = Extension("zba", source="RISC-V Unprivileged ISA 20240411, 28.4.1 (Zba 1.0.0)")
_instruction = EXTENSION.instruction


@_instruction("sh1add rd rs1 rs2 31..25=16 14..12=2 6..2=0x0C 1..0=3")
def sh1add(rs1: Bits, rs2: Bits) -> Bits:
    """Shift left by 1 and add."""
    return rs2 + (rs1 << 1)


@_instruction("sh2add rd rs1 rs2 31..25=16 14..12=4 6..2=0x0C 1..0=3")
def sh2add(rs1: Bits, rs2: Bits) -> Bits:
    """Shift left by 2 and add."""
    return rs2 + (rs1 << 2)


@_instruction("sh3add rd rs1 rs2 31..25=16 14..12=6 6..2=0x0C 1..0=3")
def sh3add(rs1: Bits, rs2: Bits) -> Bits:
    """Shift left by 3 and add."""
    return rs2 + (rs1 << 3)


def _word(rs1: Bits) -> Bits:
    """The low word, zero-extended."""
    return rs1.slice(0, 32).zext(64)


@_instruction("add.uw rd rs1 rs2 31..25=4 14..12=0 6..2=0x0E 1..0=3", xlens=(64,))
def add_uw(rs1: Bits, rs2: Bits) -> Bits:
    """Add an unsigned word."""
    return rs2 + _word(rs1)


@_instruction("sh1add.uw rd rs1 rs2 31..25=16 14..12=2 6..2=0x0E 1..0=3", xlens=(64,))
def sh1add_uw(rs1: Bits, rs2: Bits) -> Bits:
    """Shift an unsigned word left by 1 and add."""
    return sh1add(_word(rs1), rs2)


@_instruction("sh2add.uw rd rs1 rs2 31..25=16 14..12=4 6..2=0x0E 1..0=3", xlens=(64,))
def sh2add_uw(rs1: Bits, rs2: Bits) -> Bits:
    """Shift an unsigned word left by 2 and add."""
    return sh2add(_word(rs1), rs2)


@_instruction("sh3add.uw rd rs1 rs2 31..25=16 14..12=6 6..2=0x0E 1..0=3", xlens=(64,))
def sh3add_uw(rs1: Bits, rs2: Bits) -> Bits:
    """Shift an unsigned word left by 3 and add."""
    return sh3add(_word(rs1), rs2)


@_instruction("slli.uw rd rs1 31..26=2 shamtd 14..12=1 6..2=0x06 1..0=3", xlens=(64,))
def slli_uw(rs1: Bits, shamtd: Bits) -> Bits:
    """Shift an unsigned word left by immediate."""
    return _word(rs1).shl_var(shamtd)

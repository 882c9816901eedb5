"""Zbb: basic bit manipulation."""

from __future__ import annotations

from isa.bits import Bits, concat, const, mux
from isa.extensions.rv64i import on_words
from isa.instruction import Extension

EXTENSION = Extension("zbb", source="RISC-V Unprivileged ISA 20240411, 28.4.2 (Zbb 1.0.0)")
_instruction = EXTENSION.instruction


@_instruction("andn rd rs1 rs2 31..25=32 14..12=7 6..2=0x0C 1..0=3")
def andn(rs1: Bits, rs2: Bits) -> Bits:
    """And with inverted operand."""
    return rs1 & ~rs2


@_instruction("orn rd rs1 rs2 31..25=32 14..12=6 6..2=0x0C 1..0=3")
def orn(rs1: Bits, rs2: Bits) -> Bits:
    """Or with inverted operand."""
    return rs1 | ~rs2


@_instruction("xnor rd rs1 rs2 31..25=32 14..12=4 6..2=0x0C 1..0=3")
def xnor(rs1: Bits, rs2: Bits) -> Bits:
    """Exclusive nor."""
    return ~(rs1 ^ rs2)


def _reversed(x: Bits) -> Bits:
    return concat(*(x.bit(i) for i in range(x.width)))


def _leading_zeros(x: Bits) -> Bits:
    """Zeros above the highest one, in log2(width) + 1 bits, by halving."""
    if x.width == 1:
        return ~x
    half = x.width // 2
    high, low = _leading_zeros(x.slice(half, half)), _leading_zeros(x.slice(0, half))
    digits = low.width - 1
    high_empty, low_empty = high.bit(digits), low.bit(digits)
    rest = [low.slice(0, digits)] if digits else []
    return mux(high_empty, concat(low_empty, ~low_empty, *rest), high.zext(digits + 2))


@_instruction("clz rd rs1 31..20=0x600 14..12=1 6..2=0x04 1..0=3")
def clz(rs1: Bits) -> Bits:
    """Count leading zeros."""
    return _leading_zeros(rs1).zext(rs1.width)


@_instruction("ctz rd rs1 31..20=0x601 14..12=1 6..2=0x04 1..0=3")
def ctz(rs1: Bits) -> Bits:
    """Count trailing zeros."""
    return clz(_reversed(rs1))


def _ones(x: Bits) -> Bits:
    """Number of ones, in log2(width) + 1 bits, as a tree of additions."""
    if x.width == 1:
        return x
    half = x.width // 2
    high, low = _ones(x.slice(half, half)), _ones(x.slice(0, half))
    return high.zext(high.width + 1) + low.zext(low.width + 1)


@_instruction("cpop rd rs1 31..20=0x602 14..12=1 6..2=0x04 1..0=3")
def cpop(rs1: Bits) -> Bits:
    """Count ones."""
    return _ones(rs1).zext(rs1.width)


@_instruction("max rd rs1 rs2 31..25=5 14..12=6 6..2=0x0C 1..0=3")
def max_(rs1: Bits, rs2: Bits) -> Bits:
    """Signed maximum."""
    return mux(rs1.slt(rs2), rs2, rs1)


@_instruction("maxu rd rs1 rs2 31..25=5 14..12=7 6..2=0x0C 1..0=3")
def maxu(rs1: Bits, rs2: Bits) -> Bits:
    """Unsigned maximum."""
    return mux(rs1.ult(rs2), rs2, rs1)


@_instruction("min rd rs1 rs2 31..25=5 14..12=4 6..2=0x0C 1..0=3")
def min_(rs1: Bits, rs2: Bits) -> Bits:
    """Signed minimum."""
    return mux(rs1.slt(rs2), rs1, rs2)


@_instruction("minu rd rs1 rs2 31..25=5 14..12=5 6..2=0x0C 1..0=3")
def minu(rs1: Bits, rs2: Bits) -> Bits:
    """Unsigned minimum."""
    return mux(rs1.ult(rs2), rs1, rs2)


@_instruction("sext.b rd rs1 31..20=0x604 14..12=1 6..2=0x04 1..0=3")
def sext_b(rs1: Bits) -> Bits:
    """Sign-extend a byte."""
    return rs1.slice(0, 8).sext(rs1.width)


@_instruction("sext.h rd rs1 31..20=0x605 14..12=1 6..2=0x04 1..0=3")
def sext_h(rs1: Bits) -> Bits:
    """Sign-extend a halfword."""
    return rs1.slice(0, 16).sext(rs1.width)


@_instruction("zext.h rd rs1 31..25=0x04 24..20=0 14..12=0x4 6..0=0x33", xlens=(32,))
@_instruction("zext.h rd rs1 31..25=0x04 24..20=0 14..12=0x4 6..2=0xE 1..0=0x3", xlens=(64,))
def zext_h(rs1: Bits) -> Bits:
    """Zero-extend a halfword; written as the case of `pack` and `packw` that it is."""
    return concat(const(0, 16), rs1.slice(0, 16)).sext(rs1.width)


@_instruction("rol rd rs1 rs2 31..25=0x30 14..12=1 6..2=0x0C 1..0=3")
def rol(rs1: Bits, rs2: Bits) -> Bits:
    """Rotate left."""
    amount = rs2.slice(0, rs1.width.bit_length() - 1)
    return rs1.rotr_var(~amount + 1)


@_instruction("ror rd rs1 rs2 31..25=0x30 14..12=5 6..2=0x0C 1..0=3")
def ror(rs1: Bits, rs2: Bits) -> Bits:
    """Rotate right."""
    return rs1.rotr_var(rs2.slice(0, rs1.width.bit_length() - 1))


@_instruction("rori rd rs1 31..25=0x30 shamtw 14..12=5 6..2=0x04 1..0=3", xlens=(32,))
def rori(rs1: Bits, shamtw: Bits) -> Bits:
    """Rotate right by immediate."""
    return rs1.rotr_var(shamtw)


EXTENSION.declare(
    "rori rd rs1 31..26=0x18 shamtd 14..12=5 6..2=0x04 1..0=3",
    rori,
    ("rs1", "shamtd"),
    xlens=(64,),
)


@_instruction("orc.b rd rs1 31..20=0x287 14..12=0x5 6..0=0x13")
def orc_b(rs1: Bits) -> Bits:
    """Set each byte to all ones where it is not zero."""
    return concat(*((~rs1.byte(i).eq(0)).sext(8) for i in reversed(range(rs1.width // 8))))


@_instruction("rev8 rd rs1 31..20=0x698 14..12=5 6..0=0x13", xlens=(32,))
@_instruction("rev8 rd rs1 31..20=0x6B8 14..12=5 6..0=0x13", xlens=(64,))
def rev8(rs1: Bits) -> Bits:
    """Reverse the bytes."""
    return concat(*(rs1.byte(i) for i in range(rs1.width // 8)))


@_instruction("clzw rd rs1 31..20=0x600 14..12=1 6..2=0x06 1..0=3", xlens=(64,))
def clzw(rs1: Bits) -> Bits:
    """Count leading zeros of a word."""
    return clz(rs1.slice(0, 32)).zext(64)


@_instruction("ctzw rd rs1 31..20=0x601 14..12=1 6..2=0x06 1..0=3", xlens=(64,))
def ctzw(rs1: Bits) -> Bits:
    """Count trailing zeros of a word."""
    return ctz(rs1.slice(0, 32)).zext(64)


@_instruction("cpopw rd rs1 31..20=0x602 14..12=1 6..2=0x06 1..0=3", xlens=(64,))
def cpopw(rs1: Bits) -> Bits:
    """Count ones of a word."""
    return cpop(rs1.slice(0, 32)).zext(64)


@_instruction("rolw rd rs1 rs2 31..25=0x30 14..12=1 6..2=0x0E 1..0=3", xlens=(64,))
def rolw(rs1: Bits, rs2: Bits) -> Bits:
    """Rotate a word left."""
    return on_words(rol, rs1, rs2)


@_instruction("rorw rd rs1 rs2 31..25=0x30 14..12=5 6..2=0x0E 1..0=3", xlens=(64,))
def rorw(rs1: Bits, rs2: Bits) -> Bits:
    """Rotate a word right."""
    return on_words(ror, rs1, rs2)


@_instruction("roriw rd rs1 31..25=0x30 shamtw 14..12=5 6..2=0x06 1..0=3", xlens=(64,))
def roriw(rs1: Bits, shamtw: Bits) -> Bits:
    """Rotate a word right by immediate."""
    return rori(rs1.slice(0, 32), shamtw).sext(64)

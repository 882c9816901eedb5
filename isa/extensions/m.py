"""M: multiplication and division.

Division is written as restoring long division, the most significant bit first. Its latency may
depend on the operands; that of multiplication may not (Zkt).
"""

from __future__ import annotations

from isa.bits import Bits, concat, const, mux
from isa.extensions.rv64i import on_words
from isa.instruction import Extension

EXTENSION = Extension("m", source="RISC-V Unprivileged ISA 20240411, chapter 13 (M 2.0)")
_instruction = EXTENSION.instruction


@_instruction("mul rd rs1 rs2 31..25=1 14..12=0 6..2=0x0C 1..0=3")
def mul(rs1: Bits, rs2: Bits) -> Bits:
    """Low half of the product."""
    return rs1 * rs2


def _masked(condition: Bits, x: Bits) -> Bits:
    """The value where the one-bit condition is 1, else 0."""
    return condition.sext(x.width) & x


@_instruction("mulh rd rs1 rs2 31..25=1 14..12=1 6..2=0x0C 1..0=3")
def mulh(rs1: Bits, rs2: Bits) -> Bits:
    """High half of the signed product."""
    return mulhsu(rs1, rs2) - _masked(rs2.bit(rs2.width - 1), rs1)


@_instruction("mulhsu rd rs1 rs2 31..25=1 14..12=2 6..2=0x0C 1..0=3")
def mulhsu(rs1: Bits, rs2: Bits) -> Bits:
    """High half of the product of signed rs1 and unsigned rs2."""
    return mulhu(rs1, rs2) - _masked(rs1.bit(rs1.width - 1), rs2)


@_instruction("mulhu rd rs1 rs2 31..25=1 14..12=3 6..2=0x0C 1..0=3")
def mulhu(rs1: Bits, rs2: Bits) -> Bits:
    """High half of the unsigned product."""
    return rs1.mul_wide(rs2).slice(rs1.width, rs1.width)


def _unsigned_division(a: Bits, b: Bits) -> tuple[Bits, Bits]:
    """Quotient and remainder; by zero they are all ones and the dividend, as the manual wants."""
    width = a.width
    remainder = const(0, width)
    quotient = []
    for i in reversed(range(width)):
        shifted = concat(remainder, a.bit(i))
        difference = shifted - b.zext(width + 1)
        fits = ~difference.bit(width)
        remainder = mux(fits, difference, shifted).slice(0, width)
        quotient.append(fits)
    return concat(*quotient), remainder


def _magnitude(x: Bits) -> tuple[Bits, Bits]:
    """Sign bit and absolute value."""
    sign = x.bit(x.width - 1)
    return sign, mux(sign, const(0, x.width) - x, x)


@_instruction("div rd rs1 rs2 31..25=1 14..12=4 6..2=0x0C 1..0=3", data_independent=False)
def div(rs1: Bits, rs2: Bits) -> Bits:
    """Signed quotient, rounded towards zero; -1 by zero."""
    (sign1, a), (sign2, b) = _magnitude(rs1), _magnitude(rs2)
    quotient, _ = _unsigned_division(a, b)
    negative = (sign1 ^ sign2) & ~rs2.eq(0)
    return mux(negative, const(0, rs1.width) - quotient, quotient)


@_instruction("divu rd rs1 rs2 31..25=1 14..12=5 6..2=0x0C 1..0=3", data_independent=False)
def divu(rs1: Bits, rs2: Bits) -> Bits:
    """Unsigned quotient; all ones by zero."""
    return _unsigned_division(rs1, rs2)[0]


@_instruction("rem rd rs1 rs2 31..25=1 14..12=6 6..2=0x0C 1..0=3", data_independent=False)
def rem(rs1: Bits, rs2: Bits) -> Bits:
    """Signed remainder, with the sign of the dividend; the dividend by zero."""
    (sign1, a), (_, b) = _magnitude(rs1), _magnitude(rs2)
    remainder = _unsigned_division(a, b)[1]
    return mux(sign1, const(0, rs1.width) - remainder, remainder)


@_instruction("remu rd rs1 rs2 31..25=1 14..12=7 6..2=0x0C 1..0=3", data_independent=False)
def remu(rs1: Bits, rs2: Bits) -> Bits:
    """Unsigned remainder; the dividend by zero."""
    return _unsigned_division(rs1, rs2)[1]


@_instruction("mulw rd rs1 rs2 31..25=1 14..12=0 6..2=0x0E 1..0=3", xlens=(64,))
def mulw(rs1: Bits, rs2: Bits) -> Bits:
    """Low half of the product of words."""
    return on_words(mul, rs1, rs2)


@_instruction(
    "divw rd rs1 rs2 31..25=1 14..12=4 6..2=0x0E 1..0=3", xlens=(64,), data_independent=False
)
def divw(rs1: Bits, rs2: Bits) -> Bits:
    """Signed quotient of words."""
    return on_words(div, rs1, rs2)


@_instruction(
    "divuw rd rs1 rs2 31..25=1 14..12=5 6..2=0x0E 1..0=3", xlens=(64,), data_independent=False
)
def divuw(rs1: Bits, rs2: Bits) -> Bits:
    """Unsigned quotient of words."""
    return on_words(divu, rs1, rs2)


@_instruction(
    "remw rd rs1 rs2 31..25=1 14..12=6 6..2=0x0E 1..0=3", xlens=(64,), data_independent=False
)
def remw(rs1: Bits, rs2: Bits) -> Bits:
    """Signed remainder of words."""
    return on_words(rem, rs1, rs2)


@_instruction(
    "remuw rd rs1 rs2 31..25=1 14..12=7 6..2=0x0E 1..0=3", xlens=(64,), data_independent=False
)
def remuw(rs1: Bits, rs2: Bits) -> Bits:
    """Unsigned remainder of words."""
    return on_words(remu, rs1, rs2)

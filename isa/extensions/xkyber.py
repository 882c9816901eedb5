"""Xkyber of the RS5 core: arithmetic of ML-KEM modulo 3329.

Coefficients are the least non-negative residues, 0 to 3328; other operands are not what the RTL
accepts. Its decoder reads no funct3, which is 0 here.
"""

from __future__ import annotations

from collections.abc import Callable

from isa.bits import Bits, concat, const, mux
from isa.instruction import Extension

EXTENSION = Extension(
    "xkyber",
    source="gaph-pucrs/RS5@3a6dd41 (2026) rtl/xkyber.sv, rtl/execute.sv and rtl/decode.sv",
    xlens=(32,),
)
_instruction = EXTENSION.instruction

Q = 3329
RECIPROCAL = 2**24 // Q
FRACTION = (2**24 * 2**16) // Q % 2**16 & ~0xF
"""2^24 / q less its integer part, in units of 2^-16; 12 bits of it are kept."""
WIDTHS = (1, 4, 5, 10, 11)
"""Widths in bits to which FIPS 203 compresses; others are reserved."""


def _halves(function: Callable[..., Bits], *words: Bits) -> Bits:
    """Apply to the coefficients of 12 bits at bits 27..16 and at bits 11..0."""
    return concat(
        *(function(*(w.slice(low, 12) for w in words)).zext(16) for low in (16, 0)),
    )


def _less_q(x: Bits) -> Bits:
    return mux(x.ult(Q), x, x - Q)


@_instruction("kyberadd rd rs1 rs2 31..25=0 14..12=0 6..0=0x2B")
def kyberadd(rs1: Bits, rs2: Bits) -> Bits:
    """Sum of two pairs of coefficients."""
    return _halves(lambda a, b: _less_q(a.zext(13) + b.zext(13)).slice(0, 12), rs1, rs2)


@_instruction("kybersub rd rs1 rs2 31..25=1 14..12=0 6..0=0x2B")
def kybersub(rs1: Bits, rs2: Bits) -> Bits:
    """Difference of two pairs of coefficients."""

    def difference(a: Bits, b: Bits) -> Bits:
        d = a.zext(13) - b.zext(13)
        return mux(d.bit(12), d + Q, d).slice(0, 12)

    return _halves(difference, rs1, rs2)


@_instruction("kybermul rd rs1 rs2 31..25=2 14..12=0 6..0=0x2B")
def kybermul(rs1: Bits, rs2: Bits) -> Bits:
    """Product of the coefficients in the low halves, by Barrett's reduction."""
    product = rs1.slice(0, 16).zext(32) * rs2.slice(0, 16).zext(32)
    quotient = product.mul_wide(const(RECIPROCAL << 8, 32)).slice(32, 32)
    return _less_q(product - quotient * Q)


@_instruction("kybercompress rd rs1 rs2 31..25=3 14..12=0 6..0=0x2B")
def kybercompress(rs1: Bits, rs2: Bits) -> Bits:
    """The coefficient in rs1 compressed to d bits, d in the low 4 bits of rs2: FIPS 203 (4.7)."""
    x = rs1.slice(0, 12).zext(28)
    scaled = x * RECIPROCAL + ((x * FRACTION) >> 16)  # x 2^24 / q
    rounded = {d: (((scaled >> (23 - d)) + 1) >> 1).slice(0, d).zext(32) for d in WIDTHS}
    result = rounded[1]
    for d in WIDTHS[1:]:
        result = mux(rs2.slice(0, 4).eq(d), rounded[d], result)
    return result


def _sampled(bits: Bits) -> Bits:
    """How many of the low half of the bits are set, less those of the high half."""
    half = bits.width // 2
    ones = [bits.bit(i).zext(12) for i in range(bits.width)]
    a, b = (sum(ones[i + 1 : i + half], ones[i]) for i in (0, half))
    d = a - b
    return mux(d.bit(11), d + Q, d)


@_instruction("kybercbd2 rd rs1 31..25=4 24..20=2 14..12=0 6..0=0x2B")
def kybercbd2(rs1: Bits) -> Bits:
    """Two coefficients of the centred binomial distribution with eta = 2, of 4 bits each."""
    return concat(*(_sampled(rs1.slice(low, 4)).zext(16) for low in (4, 0)))


@_instruction("kybercbd3 rd rs1 31..25=4 24..20=3 14..12=0 6..0=0x2B")
def kybercbd3(rs1: Bits) -> Bits:
    """Two coefficients of the centred binomial distribution with eta = 3, of 6 bits each."""
    return concat(*(_sampled(rs1.slice(low, 6)).zext(16) for low in (6, 0)))

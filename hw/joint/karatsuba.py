"""Karatsuba: carry-less products from three half as wide, again and again."""

from __future__ import annotations

from collections.abc import Mapping

from hw.joint import Joint, Wanted, register
from hw.merge import merge
from isa.bits import Bits, arg, concat

_SMALLEST = 8
"""Width at which the rows are added up instead: three products of half the width save nothing."""


def _product(a: Bits, b: Bits) -> Bits:
    """(a1 x^h + a0)(b1 x^h + b0), the middle being (a1 + a0)(b1 + b0) - a1 b1 - a0 b0."""
    if a.width <= _SMALLEST:
        return a.clmul(b)
    half = a.width // 2
    (a0, a1), (b0, b1) = ((x.slice(0, half), x.slice(half, half)) for x in (a, b))
    low, high = _product(a0, b0), _product(a1, b1)
    middle = _product(a0 ^ a1, b0 ^ b1) ^ low ^ high
    return concat(high, low) ^ (middle.zext(2 * a.width) << half)


def _carryless(wanted: Mapping[str, Wanted], xlen: int) -> Bits:
    product = _product(arg("rs1", xlen), arg("rs2", xlen))
    lowest = {"clmul": 0, "clmulr": xlen - 1, "clmulh": xlen}
    return merge([(product.slice(lowest[n], xlen), w.select) for n, w in wanted.items()], xlen)


register(
    Joint(
        "karatsuba",
        "clmul",
        ("clmul", "clmulr", "clmulh"),
        _carryless,
        "A. Karatsuba, Y. Ofman, Multiplication of many-digital numbers, Doklady 145, 1962",
        is_slower=True,
    )
)

"""Thermometer: a count as ones from its place on."""

from __future__ import annotations

from isa.bits import Bits, concat, const

__all__ = ["thermometer"]


def thermometer(count: Bits, width: int) -> Bits:
    """Return a 1 in each of `width` bits from bit `count` on; two gates a bit.

    `width` is at most 2^w for a count of w bits.
    """
    ones = const(1, 1)
    for k in range(count.width):
        # The bits for the lower bits of the count become twice as many for one bit more.
        bit = count.bit(k).sext(ones.width)
        ones = concat(ones | ~bit, ones & ~bit)
    return ones.slice(0, width)

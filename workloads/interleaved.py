"""Interleaved: a 64-bit value on RV32 as a word of even bits and a word of odd bits.

Rotations by any amount are then rotations of the two words (Bertoni et al., Keccak implementation
overview 3.2, section 2.1).
"""

from __future__ import annotations

from isa.bits import Bits, concat
from workloads.long import Long


class Interleaved(Long):
    """A 64-bit value on RV32 as its even bits and its odd bits."""

    def rotr(self, amount: int) -> Interleaved:
        """Rotation right by a static amount."""
        half, odd = divmod(-amount % 64, 2)
        even_bits, odd_bits = self.parts
        if odd:
            return Interleaved((odd_bits.rotl(half + 1), even_bits.rotl(half)))
        return Interleaved((even_bits.rotl(half), odd_bits.rotl(half)))


_STAGES = ((1, 0x22222222), (2, 0x0C0C0C0C), (4, 0x00F000F0), (8, 0x0000FF00))
"""Exchanges that gather even bits in the low half of a word: distance and mask."""


def _exchanged(x: Bits, distance: int, mask: int) -> Bits:
    t = (x ^ (x >> distance)) & mask
    return x ^ t ^ (t << distance)


def gathered(x: Bits) -> Bits:
    """Even bits in the low half, odd bits in the high half, as `unzip` gives them."""
    for distance, mask in _STAGES:
        x = _exchanged(x, distance, mask)
    return x


def scattered(x: Bits) -> Bits:
    """Undo `gathered`, as `zip` does."""
    for distance, mask in reversed(_STAGES):
        x = _exchanged(x, distance, mask)
    return x


def interleave(lane: Long) -> Interleaved:
    """Split a value of RV32 into even and odd bits."""
    low, high = (gathered(p) for p in lane.parts)
    return Interleaved(
        (
            concat(high.slice(0, 16), low.slice(0, 16)),
            concat(high.slice(16, 16), low.slice(16, 16)),
        )
    )


def deinterleave(lane: Long) -> Long:
    """Undo `interleave`."""
    even, odd = lane.parts
    return Long(
        (
            scattered(concat(odd.slice(0, 16), even.slice(0, 16))),
            scattered(concat(odd.slice(16, 16), even.slice(16, 16))),
        )
    )


def interleaved_constant(x: int) -> int:
    """A constant of 64 bits: even bits in the low half, odd bits in the high half."""
    even = sum((x >> 2 * i & 1) << i for i in range(32))
    odd = sum((x >> 2 * i + 1 & 1) << i for i in range(32))
    return odd << 32 | even

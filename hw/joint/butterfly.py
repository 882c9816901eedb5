"""Butterfly: gathering, scattering and reversing bits by networks of exchanges.

A butterfly exchanges bits half a word apart, then a quarter, and so on; where each of two bits has
to go follows from how many ones of the mask lie below the middle of their block. Backwards it
gathers what it scatters; with one control for a whole stage it reverses.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from hw.joint import Joint, Wanted, register
from hw.merge import any_of, merge
from hw.thermometer import thermometer
from isa.bits import Bits, arg, concat, const

_REVERSALS = ("grev", "gorc", "grevi", "gorci")


class _Counts:
    """How many ones a mask has below a place, modulo a power of two."""

    def __init__(self, mask: Bits) -> None:
        self.mask = mask
        self._blocks: dict[tuple[int, int, int], Bits] = {}

    def below(self, place: int, bits: int) -> Bits:
        """Return the low `bits` bits of the number of ones in bits 0 to `place` - 1.

        The ones of the aligned blocks that the binary digits of `place` stand for.
        """
        parts, start = [], 0
        for k in reversed(range(self.mask.width.bit_length())):
            if place >> k & 1:
                parts.append(self._block(start, k, bits))
                start += 1 << k
        return reduce(lambda a, b: a + b, parts)

    def _block(self, start: int, k: int, bits: int) -> Bits:
        """Return the ones of the 2^k bits from `start`, as `bits` bits."""
        found = self._blocks.get((start, k, bits))
        if found is None:
            if k == 0:
                found = self.mask.bit(start).zext(bits)
            elif bits > k + 1:
                found = self._block(start, k, k + 1).zext(bits)
            else:
                half = 1 << (k - 1)
                found = self._block(start, k - 1, bits) + self._block(start + half, k - 1, bits)
            self._blocks[start, k, bits] = found
        return found


def _exchanges(mask: Bits) -> list[list[Bits]]:
    """Return for stage k, distance 2^k, whether bit i and i + 2^k are exchanged, by i.

    Scattering, the bits of a block are taken from it in turn: the one at place j of 2m belongs in
    the lower half if its number is one of the m before c, the number of ones below the middle. For
    j below m that is j < c mod 2m if that is less than m, and j >= c mod m otherwise.
    """
    counts = _Counts(mask)
    stages: list[list[Bits]] = []
    for k in range(mask.width.bit_length() - 1):
        m = 1 << k
        stage = [const(0, 1)] * mask.width
        for block in range(0, mask.width, 2 * m):
            c = counts.below(block + m, k + 1)
            after = thermometer(c.slice(0, k), m) if k else const(1, 1)
            for j in range(m):
                stage[block + j] = after.bit(j) ^ c.bit(k)
        stages.append(stage)
    return stages


def _stage(x: Bits, k: int, taken: list[Bits], kept: list[Bits]) -> Bits:
    """Exchange bits 2^k apart: each is its partner if `taken`, or itself if `kept`, or both."""
    low = [i for i in range(x.width) if not i >> k & 1]
    place = {i: i for i in low} | {i + (1 << k): i for i in low}
    bits = [x.bit(i ^ 1 << k) & taken[place[i]] | x.bit(i) & kept[place[i]] for i in range(x.width)]
    return concat(*reversed(bits))


def _network(wanted: Mapping[str, Wanted], width: int) -> Bits:
    rs1, rs2 = arg("rs1", width), arg("rs2", width)
    levels = width.bit_length() - 1

    def chosen(*names: str) -> Bits:
        return any_of(wanted[n].select for n in names if n in wanted)

    stages = _exchanges(rs2)
    reversing, combining = chosen(*_REVERSALS), chosen("gorc", "gorci")
    amounts = [
        (
            w.immediate.slice(0, levels) if w.immediate is not None else rs2.slice(0, levels),
            w.select,
        )
        for name, w in wanted.items()
        if name in _REVERSALS
    ]
    amount = merge(amounts, levels) if amounts else const(0, levels)
    forward = rs1
    for k in reversed(range(levels)):
        stage = stages[k]
        if amounts:
            whole = amount.bit(k) & reversing
            stage = [c & ~reversing | whole for c in stage]
        forward = _stage(forward, k, stage, [~c | combining for c in stage])
    scattering = chosen("bdecompress")
    results = [(forward & (rs2 | (~scattering).sext(width)), reversing | scattering)]
    if "bcompress" in wanted:
        back = rs1 & rs2
        for k in range(levels):
            back = _stage(back, k, stages[k], [~c for c in stages[k]])
        results.append((back, chosen("bcompress")))
    return merge(results, width)


BUTTERFLY = register(
    Joint(
        "butterfly",
        "bit_gather",
        ("bcompress", "bdecompress", *_REVERSALS),
        _network,
        "Y. Hilewitz, R. B. Lee, Fast bit gather, bit scatter and bit permutation instructions for "
        "commodity microprocessors, J. Signal Processing Systems 53 (2008)",
    )
)

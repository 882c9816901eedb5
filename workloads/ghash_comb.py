"""Products in GHASH's field by a table of the sixteen multiples of the key, four bits at a time.

The table holds c H for every polynomial c of degree below 4, the coefficient of x^0 in bit 3 of the
index, as in Shoup's method (SP 800-38D section 6.5; McGrew and Viega, section 4.1). The blocks are
combed (Lim and Lee): the nibbles at one place of all registers are done before all are shifted,
and one reduction at the end serves them all. Entries are integers of 16 bytes, little-endian.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from isa.bits import Bits, const
from isa.kernel import Builder, Index, Pointer
from workloads.words import Words

TABLE_BYTES = 256
_TAPS = (1, 2, 7)
"""x^128 = 1 + x + x^2 + x^7 (SP 800-38D section 6.3)."""


def times_x(v: Sequence[Bits]) -> Words:
    """Right by one bit, reduced without a branch; registers of a block, lowest first."""
    width = v[0].width
    out = [(low >> 1) | (high << width - 1) for low, high in pairwise(v)]
    dropped = const(0, width) - (v[0] & 1)
    return [*out, (v[-1] >> 1) ^ (dropped & 0xE1 << width - 8)]


def times_x4(v: Sequence[Bits]) -> Words:
    """Right by four bits, reduced; registers of a block, lowest first."""
    *words, top = _right(v)
    dropped = v[0] << v[0].width - 4
    for tap in (0, *_TAPS):
        top = top ^ (dropped >> tap)
    return [*words, top]


def fill(k: Builder, table: Pointer, h: Sequence[Bits]) -> None:
    """Write the sixteen multiples of H, given as registers of a block, lowest first."""
    entries: dict[int, Sequence[Bits]] = {0: [const(0, k.xlen)] * len(h), 8: h}
    for n in (4, 2, 1):
        entries[n] = times_x(entries[2 * n])
    for n in range(16):
        if n not in entries:
            low = n & -n
            parts = zip(entries[low], entries[n - low], strict=True)
            entries[n] = [a ^ b for a, b in parts]
        for i, word in enumerate(entries[n]):
            k.store(table, 16 * n + i * k.xlen // 8, word)


def product(k: Builder, x: Sequence[Bits], table: Pointer) -> Words:
    """A block times H."""
    count, width = len(x), k.xlen

    def step(_: Index, *carried: Bits) -> Words:
        x, total = list(carried[:count]), _right(carried[count:])
        for i, word in enumerate(x):
            index = (word & 15) << 4
            for j in range(count):
                entry = k.load(table, j * width // 8, width, index=index)
                total[i + j + 1] = total[i + j + 1] ^ entry
        return [*(word >> 4 for word in x), *total]

    zero = [const(0, width)] * (2 * count)
    return _reduced(k.loop(width // 4, step, *x, *zero)[count:])


def _right(total: Sequence[Bits]) -> Words:
    """A double block, lowest register first, times x^4."""
    width = total[0].width
    out = [(low >> 4) | (high << width - 4) for low, high in pairwise(total)]
    return [*out, total[-1] >> 4]


def _reduced(total: Sequence[Bits]) -> Words:
    """Fold the lower half, which holds x^128 and up, into the upper half, lowest word first."""
    total = list(total)
    width, count = total[0].width, len(total) // 2
    for i in range(count):
        for tap in _TAPS:
            total[i + count - 1] = total[i + count - 1] ^ (total[i] << width - tap)
        folded = total[i]
        for tap in _TAPS:
            folded = folded ^ (total[i] >> tap)
        total[i + count] = total[i + count] ^ folded
    return total[count:]

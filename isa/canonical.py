"""Canonical labels: equal functions of one word get the same object, however they are spelled.

A label is a sum over GF(2) of a constant, a linear map given by its bit matrix, and cones:
functions of at most 8 bits given by their truth table. Shifts, rotates, byte selects, sign
extensions, byte permutations and sigma functions are linear maps; an S-box on a selected byte, a
T-table, and an S-box whose result is multiplied and placed are cones. Labels are compared, never
used as rewrites.

Normal form: a cone is 0 at 0, is not linear, and no linear part acts on its bits; overlapping
cones are merged where their union has at most 8 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

CONE_BITS = 8
"""Most bits that a truth table may range over: a byte, the grain of every S-box in use."""


@dataclass(frozen=True)
class Cone:
    """A function of a few bits of a word.

    Attributes:
        support: Mask of the bits it reads.
        table: Value for each assignment of those bits, the lowest bit counting least; entry 0 is 0.
    """

    support: int
    table: tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Label:
    """A function of one word; equal functions in normal form are the same object.

    Attributes:
        constant: Value at 0.
        linear: Bit matrix; lane i (width bits from bit width * i) is the image of bit i.
        cones: Sorted by support.
        support: Mask of all bits it reads.
    """

    constant: int
    linear: int
    cones: tuple[Cone, ...]
    support: int


class Labels:
    """The algebra of labels of one word width."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.mask = (1 << width) - 1
        self._ones = sum(1 << width * i for i in range(width))
        self._interned: dict[tuple[int, int, tuple[Cone, ...]], Label] = {}
        self._memo: dict[tuple[object, ...], Label | None] = {}
        self._masks: dict[int, int] = {}
        self.identity = self.of_mask(self.mask)

    def _intern(self, constant: int, linear: int, cones: tuple[Cone, ...]) -> Label:
        key = (constant, linear, cones)
        found = self._interned.get(key)
        if found is None:
            support, rest = 0, linear
            while rest:
                lane = ((rest & -rest).bit_length() - 1) // self.width
                support |= 1 << lane
                rest = rest >> self.width * (lane + 1) << self.width * (lane + 1)
            for cone in cones:
                support |= cone.support
            found = self._interned[key] = Label(constant, linear, cones, support)
        return found

    def constant(self, value: int) -> Label:
        """The function that is `value` everywhere."""
        return self._intern(value & self.mask, 0, ())

    def of_mask(self, mask: int) -> Label:
        """And with a constant: x & mask."""
        w = self.width
        return self._intern(0, sum(1 << (w + 1) * i for i in range(w) if mask >> i & 1), ())

    def apply(self, label: Label, value: int) -> int:
        """Value of the function at `value`."""
        result = label.constant
        rest = value & label.support
        while rest:
            low = rest & -rest
            result ^= label.linear >> self.width * (low.bit_length() - 1) & self.mask
            rest ^= low
        for cone in label.cones:
            result ^= cone.table[compress(value, cone.support)]
        return result

    def values(self, label: Label, support: int) -> list[int]:
        """Values of the function over all assignments of the bits of `support`, others 0."""
        result = [label.constant]
        for bit in _positions(support):
            column = label.linear >> self.width * bit & self.mask
            result += [v ^ column for v in result] if column else result
        for cone in label.cones:
            if cone.support == support:
                result = [v ^ t for v, t in zip(result, cone.table, strict=True)]
            else:
                result = [
                    v ^ cone.table[compress(expand(i, support), cone.support)]
                    for i, v in enumerate(result)
                ]
        return result

    # Linear operators on the value of a label.

    def _map(
        self,
        key: tuple[object, ...],
        label: Label,
        on_word: Callable[[int], int],
        on_lanes: Callable[[int], int],
    ) -> Label:
        memo = (*key, label)
        found = self._memo.get(memo)
        if found is None:
            cones = [Cone(c.support, tuple(map(on_word, c.table))) for c in label.cones]
            found = self._normal(on_word(label.constant), on_lanes(label.linear), cones)
            self._memo[memo] = found
        return found

    def move(self, label: Label, low: int, length: int, position: int) -> Label:
        """The field of `length` bits at `low`, placed at `position`, all else 0."""
        field = (1 << length) - 1
        lanes = self._ones * field
        return self._map(
            ("move", low, length, position),
            label,
            lambda v: (v >> low & field) << position,
            lambda v: (v >> low & lanes) << position,
        )

    def masked(self, label: Label, mask: int) -> Label:
        """Bitwise and with a constant."""
        lanes = self._ones * mask
        return self._map(("mask", mask), label, lambda v: v & mask, lambda v: v & lanes)

    def rotr(self, label: Label, amount: int) -> Label:
        """Rotation right."""
        up = self.width - amount
        low = self._ones * ((1 << up) - 1)
        high = self._ones * (self.mask ^ ((1 << up) - 1))
        return self._map(
            ("rotr", amount),
            label,
            lambda v: (v >> amount | v << up) & self.mask,
            lambda v: v >> amount & low | v << up & high,
        )

    def sar(self, label: Label, amount: int) -> Label:
        """Arithmetic shift right: copies of the top bit come in, which is linear."""
        top = self.width - 1
        low = self._ones * (self.mask >> amount)
        fill = self.mask ^ self.mask >> amount
        return self._map(
            ("sar", amount),
            label,
            lambda v: v >> amount | (v >> top) * fill,
            lambda v: v >> amount & low | (v >> top & self._ones) * fill,
        )

    def xor(self, a: Label, b: Label) -> Label:
        """Sum over GF(2)."""
        memo = ("xor", a, b)
        found = self._memo.get(memo)
        if found is None:
            found = self._memo[memo] = self._normal(
                a.constant ^ b.constant, a.linear ^ b.linear, [*a.cones, *b.cones]
            )
        return found

    def restrict(self, label: Label, ones: int, sign: int | None = None) -> Label:
        """The same function of a word of which less is possible.

        Args:
            label: A function of any word.
            ones: Mask of the bits that can be 1.
            sign: Low bits of which the word is the sign extension, if it is one.
        """
        sign = sign or self.width
        high = self.mask >> sign << sign
        if not label.support & (~ones | high):
            return label
        memo = ("restrict", label, ones, sign)
        found = self._memo.get(memo)
        if found is None:
            top = sign - 1
            linear, copies = label.linear & self._lanes(ones & (1 << top) - 1), 0
            for i in _positions(ones >> top):  # all equal to the sign
                copies ^= label.linear >> self.width * (top + i) & self.mask
            linear |= copies << self.width * top
            cones = [c if not c.support & ~ones else _restricted(c, ones) for c in label.cones]
            found = self._normal(label.constant, linear, cones)
            self._memo[memo] = found
        return found

    def _lanes(self, mask: int) -> int:
        """All bits of the lanes of the bits of a mask."""
        found = self._masks.get(mask)
        if found is None:
            found = sum(1 << self.width * i for i in _positions(mask)) * self.mask
            self._masks[mask] = found
        return found

    def permutation(self, label: Label) -> tuple[int, ...] | None:
        """Where each bit goes, if the function permutes the bits of a word."""
        if label.constant or label.cones:
            return None
        columns = [label.linear >> self.width * i & self.mask for i in range(self.width)]
        if any(c.bit_count() != 1 for c in columns) or len(set(columns)) < self.width:
            return None
        return tuple(c.bit_length() - 1 for c in columns)

    def after(self, label: Label, places: tuple[int, ...]) -> Label:
        """The function that gives `label` when it follows the permutation `places`."""
        memo = ("after", label, places)
        found = self._memo.get(memo)
        if found is None:
            linear = 0
            for i, place in enumerate(places):
                linear |= (label.linear >> self.width * i & self.mask) << self.width * place
            found = self._memo[memo] = self._intern(label.constant, linear, ())
        return found

    def through(self, linear: Label, label: Label) -> Label:
        """The linear function `linear` of the value of `label`."""
        lanes = range(0, self.width * self.width, self.width)

        def on_lanes(columns: int) -> int:
            return sum(self.apply(linear, columns >> i & self.mask) << i for i in lanes)

        return self._map(("through", linear), label, lambda v: self.apply(linear, v), on_lanes)

    def tabulate(
        self, key: tuple[object, ...], labels: Sequence[Label], function: Callable[..., int]
    ) -> Label | None:
        """Label of `function(values of labels)`; None where it reads more than 8 bits.

        `key` names the function for the memo.
        """
        memo = (*key, *labels)
        if memo in self._memo:
            return self._memo[memo]
        support = 0
        for label in labels:
            support |= label.support
        found = None
        if support.bit_count() <= CONE_BITS:
            columns = [self.values(label, support) for label in labels]
            values = [function(*row) & self.mask for row in zip(*columns, strict=True)]
            cone = Cone(support, tuple(v ^ values[0] for v in values))
            found = self._normal(values[0], 0, [cone])
        self._memo[memo] = found
        return found

    def _normal(self, constant: int, linear: int, cones: list[Cone]) -> Label:
        """Bring a sum into normal form; every step is an identity over GF(2)."""
        if not cones:
            return self._intern(constant, linear, ())
        merged: list[Cone] = []
        for cone in sorted(cones, key=lambda c: (c.support, c.table)):
            for i, other in enumerate(merged):
                union = cone.support | other.support
                if cone.support & other.support and union.bit_count() <= CONE_BITS:
                    merged[i] = _sum(cone, other, union)
                    break
            else:
                merged.append(cone)
        kept: list[Cone] = []
        for cone in merged:
            constant ^= cone.table[0]
            table = tuple(v ^ cone.table[0] for v in cone.table) if cone.table[0] else cone.table
            if _is_linear(table):
                for k, bit in enumerate(_positions(cone.support)):
                    linear ^= table[1 << k] << self.width * bit
            else:
                kept.append(Cone(cone.support, table))
        final: list[Cone] = []
        for cone in kept:
            columns = []
            for bit in _positions(cone.support):
                lane = linear >> self.width * bit & self.mask
                linear ^= lane << self.width * bit
                columns.append(lane)
            if any(columns):
                table = tuple(v ^ _combine(columns, i) for i, v in enumerate(cone.table))
                cone = Cone(cone.support, table)
            final.append(_drop_unread(cone))
        final.sort(key=lambda c: (c.support, c.table))
        return self._intern(constant, linear, tuple(final))


@cache
def labels(width: int) -> Labels:
    """The algebra of one width; shared, so that labels can be compared by identity."""
    return Labels(width)


def compress(value: int, support: int) -> int:
    """Gather the bits of `value` under `support`, the lowest first."""
    lowest = (support & -support).bit_length() - 1 if support else 0
    if support >> lowest & (support >> lowest) + 1 == 0:  # a contiguous field
        return (value & support) >> lowest
    result = 0
    for k, bit in enumerate(_positions(support)):
        result |= (value >> bit & 1) << k
    return result


def expand(index: int, support: int) -> int:
    """Scatter the low bits of `index` to the places of `support`."""
    lowest = (support & -support).bit_length() - 1 if support else 0
    if support >> lowest & (support >> lowest) + 1 == 0:
        return index << lowest
    return sum(1 << bit for k, bit in enumerate(_positions(support)) if index >> k & 1)


def cone_of(support: int, function: Callable[[int], int]) -> Cone:
    """Tabulate `function` over the bits of `support`; entry 0 need not be 0."""
    return Cone(
        support, tuple(function(expand(i, support)) for i in range(1 << support.bit_count()))
    )


@cache
def _positions(mask: int) -> tuple[int, ...]:
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)


def _combine(columns: Sequence[int], index: int) -> int:
    total = 0
    for k, column in enumerate(columns):
        if index >> k & 1:
            total ^= column
    return total


def _is_linear(table: tuple[int, ...]) -> bool:
    """Whether table[i ^ j] = table[i] ^ table[j] for all i, j."""
    for i in range(1, len(table)):
        low = i & -i
        if i != low and table[i] != table[i ^ low] ^ table[low]:
            return False
    return True


def _sum(a: Cone, b: Cone, union: int) -> Cone:
    return cone_of(
        union, lambda v: a.table[compress(v, a.support)] ^ b.table[compress(v, b.support)]
    )


def _restricted(cone: Cone, ones: int) -> Cone:
    """The cone of a word whose other bits are 0."""
    return cone_of(cone.support & ones, lambda v: cone.table[compress(v, cone.support)])


def _drop_unread(cone: Cone) -> Cone:
    """Drop support bits on which the table does not depend."""
    positions = _positions(cone.support)
    read = 0
    for k, bit in enumerate(positions):
        step = 1 << k
        if any(cone.table[i] != cone.table[i ^ step] for i in range(len(cone.table))):
            read |= 1 << bit
    if read == cone.support:
        return cone
    return cone_of(read, lambda v: cone.table[compress(v, cone.support)])

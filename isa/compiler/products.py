"""Products: multiplication as masks, shifts and sums, for sets that have no instruction for it.

One operand, the multiplier, is read bit by bit: where a bit is 1, the multiplicand is added. Every
step is taken whatever the bit is, so that time depends on no operand.
"""

from __future__ import annotations

from isa.compiler.words import Word, Words

LEAST_HEADROOM = 3
"""Bits that a multiplicand must leave free for the product to be made without a carry."""


class Products:
    """Writes products of words in other words."""

    def __init__(self, words: Words) -> None:
        self._words = words

    def low(self, a: Word, b: Word) -> Word:
        """The product modulo 2^width; the operand of fewer bits is the multiplier."""
        if self._length(a) < self._length(b):
            a, b = b, a
        return self._times(a, b, 0, self._length(b), signed=b.ones.bit_length() > self._length(b))

    def both(self, a: Word, b: Word) -> tuple[Word, Word]:
        """The low and the high word of the product of unsigned operands."""
        w, width = self._words, self._words.width
        if self._effort(b, a) < self._effort(a, b):
            a, b = b, a
        length, step = b.ones.bit_length(), width - a.ones.bit_length()
        if step < LEAST_HEADROOM:
            return self._halved(a, b)
        total = done = w.zero
        for place in range(0, length, step):
            if place:  # the low bits are final, the rest makes room
                settled = w.move(total, 0, step, place - step)
                done = w.xor(done, settled)
                total = w.move(total, step, width - step, 0)
            total = w.add(total, self._times(a, b, place, min(step, length - place)))
        place = (length - 1) // step * step
        low = w.xor(done, w.move(total, 0, width - place, place))
        return low, w.move(total, width - place, place, 0)

    def _halved(self, a: Word, b: Word) -> tuple[Word, Word]:
        """The same with the multiplicand in two parts, as it fills a word."""
        w, width = self._words, self._words.width
        half = width // 2
        low, high = self.both(w.move(a, 0, half, 0), b)
        shifted, top = self.both(w.move(a, half, half, 0), b)
        total = w.add(low, w.move(shifted, 0, half, half))
        carry = w.ult(total, low)
        upper = w.xor(w.move(shifted, half, half, 0), w.move(top, 0, half, half))
        return total, w.add(w.add(high, upper), carry)

    def _length(self, x: Word) -> int:
        """Bits of a multiplier, its sign included where it may be negative."""
        return min(x.ones.bit_length(), x.sign)

    def _effort(self, a: Word, b: Word) -> float:
        """Steps of `both` with multiplicand a, those that make room at the price of one."""
        step = self._words.width - a.ones.bit_length()
        bits = b.ones.bit_count() if b.op == "const" else b.ones.bit_length()
        return bits * (2.0 if step < LEAST_HEADROOM else 1 + 1 / step)

    def _times(self, a: Word, b: Word, place: int, count: int, *, signed: bool = False) -> Word:
        """The sum of a 2^j over the bits 1 at place + j in `count` bits of b, two bits a step."""
        w = self._words
        twice = w.move(a, 0, w.width - 1, 1)
        total = w.zero
        for j in reversed(range(0, count, 2)):
            total = w.move(total, 0, w.width - 2, 2)
            for i, multiple in ((j + 1, twice), (j, a)):
                if i < count:
                    term = w.and_(multiple, self._mask(b, place + i))
                    negative = signed and i == count - 1
                    total = w.sub(total, term) if negative else w.add(total, term)
        return total

    def _mask(self, x: Word, bit: int) -> Word:
        """All ones where a bit is 1, else 0."""
        w, top = self._words, self._words.width - 1
        return w.sar(w.move(x, 0, bit + 1, top - bit), top)

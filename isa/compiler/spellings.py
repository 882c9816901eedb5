"""Spellings: equal words made of shifts, masks and sums, which every instruction set has."""

from __future__ import annotations

from collections.abc import Iterable

from isa.compiler.products import Products
from isa.compiler.words import Word, Words, shift_of

DEEPEST = 2
"""Spellings of spellings are pursued so far; a bit that wanders through a long sum would have as
many of them as it takes steps."""


class Spellings:
    """Other ways to write a word; nothing is merged back into the word they stand for."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._products = Products(words)
        self._depth: dict[Word, int] = {}  # of words first written as part of a spelling

    def moved(self, word: Word, low: int, length: int, position: int) -> Word:
        """A move that is not merged with its operand."""
        ones = (word.ones >> low & (1 << length) - 1) << position
        if not low and not position:  # the operand itself, or its low bits
            return word if ones == word.ones else self.masked(word, ones)
        return self._words.intern("move", (word,), (low, length, position), ones)

    def masked(self, word: Word, mask: int) -> Word:
        """An and with a constant that is not turned into a move."""
        return self._words.intern("mask", (word,), mask, word.ones & mask)

    def of(self, word: Word) -> list[Word]:
        """Words equal to `word`."""
        depth = self._depth.get(word, 0)
        if depth == DEEPEST:
            return []
        first = self._words.count
        found = list(self._of(word))
        stack = list(found)
        while stack:
            w = stack.pop()
            if w.serial >= first and w not in self._depth:
                self._depth[w] = depth + 1
                stack += w.args
        return found

    def product(self, word: Word) -> Word:
        """A product, or its high word, without multiplication."""
        a, b = word.args
        if word.op == "mul_high":
            return self._products.both(a, b)[1]
        if self._words.holds("mul_high", word.args):  # share what it takes
            return self._products.both(a, b)[0]
        return self._products.low(a, b)

    def _of(self, word: Word) -> Iterable[Word]:
        w, size = self._words, self._words.width
        match word.op:
            case "move":
                yield from self._move_spellings(word)
            case "mask":
                yield from self._mask_spellings(word)
            case "rotr":
                x, k = word.args[0], word.attr
                assert isinstance(k, int)
                yield w.intern(
                    "xor",
                    (w.move(x, k, size - k, 0), w.move(x, 0, k, size - k)),
                    None,
                    word.ones,
                )
            case "rotr_var":
                x, amount = word.args
                left = w.binary("shl_var", x, w.sub(w.zero, amount))
                yield w.or_(w.binary("shr_var", x, amount), left)
            case "mux":
                c, a, b = word.args
                mask = w.sub(w.zero, c)
                if b is w.zero:
                    yield w.and_(a, mask)
                elif a is w.zero:
                    yield w.and_(b, w.sub(c, w.one))
                else:
                    yield w.xor(b, w.and_(w.xor(a, b), mask))
            case "mul" if word.args[1].op == "const" or word.args[0].op == "const":
                yield self._shifted_sum(word)
            case "xor":
                grouped = self._group_moves(word)
                if grouped is not None:
                    yield grouped

    def _mask_spellings(self, word: Word) -> Iterable[Word]:
        size, x = self._words.width, word.args[0]
        m = mask_of(word)
        if m & m + 1 == 0:  # a low field: up and down again
            up = size - m.bit_length()
            yield self.moved(self.moved(x, 0, size - up, up), up, size - up, 0)
        elif m | (m & -m) - 1 == self._words.mask:  # a high field: down and up again
            low = (m & -m).bit_length() - 1
            yield self.moved(self.moved(x, low, size - low, 0), 0, size - low, low)

    def _move_spellings(self, word: Word) -> Iterable[Word]:
        size = self._words.width
        x = word.args[0]
        low, length, position = word.field
        mask = (1 << length) - 1
        if x.op == "rotr":  # where the field does not wrap, it stands elsewhere in the operand
            start = (low + shift_of(x)) % size
            if start + length <= size:
                yield self._words.move(x.args[0], start, length, position)
        elif x.op == "xor":  # where the field reads one term, the others do not matter
            read = [t for t in x.args if t.ones & mask << low]
            if len(read) == 1:
                yield self._words.move(read[0], low, length, position)
        shift = position - low
        whole = (0, size - shift, shift) if shift > 0 else (-shift, size + shift, 0)
        if (low, length, position) == whole:
            return  # a plain shift
        if shift == 0:
            yield self.masked(x, mask << low)
            return
        yield self.masked(self.moved(x, *whole), mask << position)
        yield self.moved(self.masked(x, mask << low), *whole)
        if low and position:
            yield self.moved(self._words.move(x, low, length, 0), 0, size - position, position)
        top = size - low - length
        if top and (position == 0 or x.ones & ((1 << low) - 1) == 0):  # up to the top, then down
            down = size - length - position
            yield self.moved(self.moved(x, 0, size - top, top), down, size - down, 0)

    def _shifted_sum(self, word: Word) -> Word:
        """A product with a constant as sum and difference of shifts (non-adjacent form)."""
        w, size = self._words, self._words.width
        x, factor = word.args if word.args[1].op == "const" else word.args[::-1]
        rest, total, shift = factor.value, w.zero, 0
        while rest and shift < size:
            if rest & 1:
                digit = 2 - (rest & 3)
                rest -= digit
                term = w.move(x, 0, size - shift, shift)
                total = w.add(total, term) if digit > 0 else w.sub(total, term)
            rest >>= 1
            shift += 1
        return total

    def _group_moves(self, word: Word) -> Word | None:
        """Fields of one word that move by the same distance, taken together under one mask."""
        groups: dict[tuple[Word, int], int] = {}
        rest = []
        for term in word.args:
            if term.op == "move":
                low, length, position = term.field
                key = (term.args[0], position - low)
                groups[key] = groups.get(key, 0) | ((1 << length) - 1) << low
            else:
                rest.append(term)
        if len(groups) + len(rest) == len(word.args):
            return None
        terms = []
        for (x, shift), mask in groups.items():
            masked = self._words.masked(x, mask)
            if shift >= 0:
                terms.append(self._words.move(masked, 0, self._words.width - shift, shift))
            else:
                terms.append(self._words.move(masked, -shift, self._words.width + shift, 0))
        return self._words.intern("xor", tuple(terms + rest), None, word.ones)


def mask_of(word: Word) -> int:
    """Mask of a `mask` word."""
    assert isinstance(word.attr, int)
    return word.attr

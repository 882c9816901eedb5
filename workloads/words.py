"""Words: values of 32 bits in memory and in registers, as kernels of every xlen read them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

from isa.bits import Bits, concat
from isa.kernel import Builder, Index, Pointer
from isa.table import Table

Words = list[Bits]


def load_word(k: Builder, pointer: Pointer, offset: Index | int = 0) -> Bits:
    """Read 32 bits, little-endian; the value is 32 bits wide on any xlen."""
    return k.load(pointer, offset).slice(0, 32)


def load_words(k: Builder, pointer: Pointer, count: int, offset: Index | int = 0) -> Words:
    """Read `count` words in a row; offset in bytes."""
    return [load_word(k, pointer, offset + 4 * i) for i in range(count)]


def store_words(
    k: Builder, pointer: Pointer, words: Sequence[Bits], offset: Index | int = 0
) -> None:
    """Write words in a row; offset in bytes."""
    for i, word in enumerate(words):
        k.store(pointer, offset + 4 * i, word)


def swapped(x: Bits) -> Bits:
    """The bytes of a value in reverse order, as `rev8` gives them."""
    return concat(*(x.byte(i) for i in range(x.width // 8)))


def total(*terms: Bits) -> Bits:
    """Sum over GF(2) of one or more values."""
    result = terms[0]
    for term in terms[1:]:
        result = result ^ term
    return result


def equal(a: Sequence[Bits], b: Sequence[Bits]) -> Bits:
    """1 where two lists of words are the same, else 0, in 32 bits and without a branch."""
    different = [x ^ y for x, y in zip(a, b, strict=True)]
    return reduce(or_, different).eq(0).zext(32)


def swap_move(a: Bits, b: Bits, mask: int, shift: int) -> tuple[Bits, Bits]:
    """Swap the bits of `b` under `mask` with those of `a` that stand `shift` higher."""
    t = ((a >> shift) ^ b) & mask
    return a ^ (t << shift), b ^ t


def constant_words(name: str, width: int, values: Sequence[int]) -> Table:
    """An array of constants to be read by address; zeros fill it up to a power of two."""
    size = 1 << max(len(values) - 1, 1).bit_length()
    return Table(name, width, (*values, *[0] * (size - len(values))))

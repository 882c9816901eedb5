"""Wiring: words of engines put together, taken apart and selected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import pyrtl

from hw.rom import read_table
from isa.table import Table

__all__ = [
    "Wire",
    "any_of",
    "at_top",
    "byte_swapped",
    "carry_save",
    "chosen",
    "equals",
    "incremented",
    "item",
    "rotl",
    "rotr",
    "split",
    "table_entry",
    "total",
]

Wire: TypeAlias = pyrtl.WireVector


def byte_swapped(word: Wire) -> Wire:
    """Return a word with its bytes in the opposite order."""
    return pyrtl.concat(*split(word, 8))


def split(word: Wire, bits: int) -> list[Wire]:
    """Return the parts of a word, lowest first."""
    return [word[i : i + bits] for i in range(0, len(word), bits)]


def at_top(word: Wire, width: int) -> Wire:
    """Return a word at the upper end of one of `width` bits, zeros below it."""
    return word if len(word) == width else pyrtl.concat(word, pyrtl.Const(0, width - len(word)))


def rotr(word: Wire, amount: int) -> Wire:
    """Return a word rotated right."""
    amount %= len(word)
    return pyrtl.concat(word[:amount], word[amount:]) if amount else word


def rotl(word: Wire, amount: int) -> Wire:
    """Return a word rotated left."""
    return rotr(word, -amount)


def carry_save(*words: Wire) -> tuple[Wire, Wire]:
    """Return two words with the sum of two or more of one width, modulo 2 to it.

    Words given first may pass through more adders, so the latest should be last.
    """
    queue = list(words)
    while len(queue) > 2:
        a, b, c, *queue = queue
        half = a ^ b
        carries = (a & b) | (half & c)
        queue += [half ^ c, pyrtl.concat(carries[:-1], pyrtl.Const(0, 1))]
    return queue[0], queue[1]


def total(*words: Wire) -> Wire:
    """Return the sum of two or more words of one width, modulo 2 to it; see `carry_save`."""
    a, b = carry_save(*words)
    return (a + b)[: len(a)]


def incremented(word: Wire) -> Wire:
    """Return a word plus 1, as wide as it."""
    return (word + 1)[: len(word)]


def any_of(*wires: Wire) -> Wire:
    """Return whether one of some bits is 1; 0 without any."""
    result: Wire = pyrtl.Const(0, 1)
    for wire in dict.fromkeys(wires):
        result = wire if isinstance(result, pyrtl.Const) else result | wire
    return result


def equals(word: Wire, value: int) -> Wire:
    """Return whether a word has a value; 0 where it cannot."""
    return word == value if value < 1 << len(word) else pyrtl.Const(0, 1)


def chosen(values: Mapping[str, Wire], selected: Mapping[str, Wire]) -> Wire:
    """Return the value whose name is selected, which exactly one is; equal wires once."""
    wires: list[Wire] = []
    names: list[list[str]] = []
    for name, wire in values.items():
        same = next((i for i, w in enumerate(wires) if w is wire), None)
        if same is None:
            wires.append(wire)
            names.append([name])
        else:
            names[same].append(name)
    result = wires[0]
    for wire, those in zip(wires[1:], names[1:], strict=True):
        result = pyrtl.select(any_of(*(selected[n] for n in those)), wire, result)
    return result


def item(words: Sequence[Wire], number: Wire) -> Wire:
    """Return the word of that number; past the last any of them."""
    level = list(words)
    for bit in number:
        pairs = range(0, len(level) - 1, 2)
        chosen_pairs = [pyrtl.select(bit, level[i + 1], level[i]) for i in pairs]
        level = chosen_pairs + (level[-1:] if len(level) % 2 else [])
    return level[0]


def table_entry(values: Sequence[int], number: Wire, width: int) -> Wire:
    """Return the value of that number, `width` bits; past the last any of them.

    `number` has just the bits to count them. Values past the last repeat those half the table
    before, which takes no gates.
    """
    size = 1 << len(number)
    entries = list(values)
    while len(entries) < size:
        entries.append(entries[len(entries) - size // 2])
    return read_table(Table("constants", width, tuple(entries)), number)

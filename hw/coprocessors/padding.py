"""Padding: what an engine sees of a message: its bytes, the padding of its end, its length."""

from __future__ import annotations

from dataclasses import dataclass

import pyrtl

from hw.coprocessors import engines
from hw.coprocessors.engines.engine import Padding
from hw.coprocessors.layout import Layout
from hw.coprocessors.settings import Settings
from hw.coprocessors.wires import Wire, any_of, by_algorithm

__all__ = ["CUT_BITS", "Cut", "build_padder"]

CUT_BITS = 8
"""Bits of a number of bytes in a block, of which there are at most 255."""


@dataclass(frozen=True)
class Cut:
    """Where the message ends in the block that is being pulled.

    Attributes:
        full: 1 bit, not in this block.
        at: Else the bytes that belong to the message, `CUT_BITS` wide.
        mark: 1 bit, the byte behind them is the first of the padding.
        last: 1 bit, the padding ends with this block.
    """

    full: Wire
    at: Wire
    mark: Wire
    last: Wire


def build_padder(layout: Layout, settings: Settings, cut: Cut, index: Wire, raw: Wire) -> Wire:
    """Return the word that the engine gets for a word of the buffer, in the same cycle.

    Args:
        layout: Sizes.
        settings: The algorithm and the length of the message.
        cut: Where the message ends.
        index: Number of the word in its block.
        raw: The word in the buffer, its first byte in bits 7..0.
    """
    size = layout.word_bytes
    shift = (size - 1).bit_length()
    bits = max(len(index), CUT_BITS - shift)
    number, word = cut.at[shift:].zero_extended(bits), index.zero_extended(bits)
    inside = cut.full | (word < number)
    border = ~cut.full & (word == number)
    first = settings.constant(lambda name: _padding(name).first, 8)
    content = []
    for i in range(size):
        byte = raw[8 * i : 8 * i + 8]
        kept = inside | (border & (cut.at[:shift] > i))
        marked = border & (cut.at[:shift] == i) & cut.mark
        content.append((byte & kept.sign_extended(8)) | (first & marked.sign_extended(8)))
    padded = pyrtl.concat_list(content)
    for value in (_last_byte(layout, settings, cut, word), *_lengths(layout, settings, cut, word)):
        padded = padded | value
    return padded


def _padding(name: str) -> Padding:
    return engines.algorithm(name).padding or Padding(0)


def _words(layout: Layout, name: str) -> int:
    return engines.algorithm(name).block_bytes // layout.word_bytes


def _last_byte(layout: Layout, settings: Settings, cut: Cut, word: Wire) -> Wire:
    """The value to be ORed into the last byte of the last block."""
    value = settings.constant(lambda name: _padding(name).last, 8)
    here = cut.last & (word == settings.constant(lambda n: _words(layout, n) - 1, len(word)))
    return pyrtl.concat(value & here.sign_extended(8), pyrtl.Const(0, 8 * (layout.word_bytes - 1)))


def _lengths(layout: Layout, settings: Settings, cut: Cut, word: Wire) -> list[Wire]:
    """The words at the end of the last block that hold the length in bits, big-endian."""
    with_length = {n: w for n, w in settings.selected.items() if _padding(n).length_bytes}
    if not with_length:
        return []
    chosen = any_of(list(with_length.values()))
    total = pyrtl.concat(settings.length, pyrtl.Const(0, 3)).zero_extended(64)
    # From the last word backwards.
    parts = [total] if layout.p.width == 64 else [total[:32], total[32:]]
    ends = [by_algorithm(with_length, lambda n: _words(layout, n) - 1, len(word))]
    if len(parts) == 2:
        ends.append(by_algorithm(with_length, lambda n: _words(layout, n) - 2, len(word)))
    found = []
    for part, end in zip(parts, ends, strict=True):
        here = cut.last & chosen & (word == end)
        swapped = pyrtl.concat_list([part[i : i + 8] for i in range(len(part) - 8, -1, -8)])
        found.append(swapped & here.sign_extended(len(part)))
    return found

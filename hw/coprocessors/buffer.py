"""Buffer: a ring of words between the port and the engine, and the account of what is in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyrtl

from hw.coprocessors.layout import Layout
from hw.coprocessors.wires import Wire, add, subtract

__all__ = [
    "Account",
    "MemoryBuilder",
    "build_account",
    "build_buffer",
    "build_memory",
    "build_phase",
    "build_place",
]


MemoryBuilder = Callable[[Layout, Sequence[Wire], Wire, Wire, Wire], Wire]
"""Makes the memory in the working block. It is given the layout, a write enable for each part of
the row that is a transfer, the number of the row written, the transfer, and the number of the row
read, which is a register; it returns the row in the same cycle."""


def build_memory(
    layout: Layout, enables: Sequence[Wire], write_row: Wire, data: Wire, read_row: Wire
) -> Wire:
    """Build the memory: one for each transfer of a row, so that one can be written alone."""
    parts = []
    for i, enable in enumerate(enables):
        part = pyrtl.MemBlock(len(data), len(read_row), f"buffer_{i}", max_read_ports=1)
        part[write_row] <<= pyrtl.MemBlock.EnabledWrite(data, enable=enable)
        parts.append(part[read_row])
    return pyrtl.concat_list(parts)


def build_buffer(
    layout: Layout,
    *,
    restart: Wire,
    write: Wire,
    data: Wire,
    index: Wire,
    build: MemoryBuilder = build_memory,
) -> Wire:
    """Build the buffer: transfers are written in order, and words read in any.

    Args:
        layout: Sizes.
        restart: 1 bit, the next transfer goes to the beginning.
        write: 1 bit, there is a transfer.
        data: The transfer.
        index: Word to be read, counted from the beginning of the ring, modulo its size.
        build: Makes the memory.

    Returns:
        The word, one cycle after its index.
    """
    row_bits = (layout.rows - 1).bit_length()
    parts = layout.row_bits // len(data)
    part_bits = (parts - 1).bit_length()
    at = pyrtl.Register(row_bits + part_bits, "buffer_write_at")
    following = pyrtl.select(write, add(at, 1), at)
    at.next <<= pyrtl.select(restart, pyrtl.Const(0, len(at)), following)
    enables = [write & (at[:part_bits] == i) if part_bits else write for i in range(parts)]
    held = pyrtl.Register(len(index), "buffer_read_at")
    held.next <<= index
    word_bits = len(index) - row_bits
    row = build(layout, enables, at[part_bits:], data, held[word_bits:])
    words = [row[i : i + layout.p.width] for i in range(0, len(row), layout.p.width)]
    return pyrtl.mux(held[:word_bits], *words) if word_bits else words[0]


@dataclass(frozen=True)
class Account:
    """How full the buffer is.

    Attributes:
        level: Units that are in it and belong to no block that has begun.
        space: Units that nothing has been promised.
    """

    level: Wire
    space: Wire


def build_account(
    layout: Layout, *, restart: Wire, promised: Wire, arrived: Wire, begun: Wire, freed: Wire
) -> Account:
    """Build the two counters.

    Arguments but `restart` are the units that change them in this cycle, 0 if none.

    Args:
        layout: Sizes.
        restart: 1 bit, the buffer is empty from the next cycle on.
        promised: Space given to transfers.
        arrived: Written.
        begun: Of the block that begins.
        freed: Of the block that ends.
    """
    bits = layout.capacity.bit_length()

    def counter(name: str, first: int, plus: Wire, minus: Wire) -> pyrtl.Register:
        found = pyrtl.Register(bits, name)
        following = subtract(add(found, plus), minus)
        found.next <<= pyrtl.select(restart, pyrtl.Const(first, bits), following)
        return found

    return Account(
        counter("buffer_level", 0, arrived, begun),
        counter("buffer_space", layout.capacity, freed, promised),
    )


def build_phase(*, restart: Wire, close: Wire, opens: Wire) -> Wire:
    """Build the phase of a single buffer, 1 bit: it is filled, and else emptied.

    Args:
        restart: 1 bit, it is filled from the next cycle on.
        close: 1 bit, there is no more to be filled in.
        opens: 1 bit, there is no more to be emptied.
    """
    filling = pyrtl.Register(1, "buffer_filling")
    filling.next <<= restart | pyrtl.select(filling, ~close, opens)
    return filling


def build_place(*, restart: Wire, run: Wire, words: Wire, take: Wire, bits: int) -> Wire:
    """Build the index of the word that the engine takes, modulo 2 to the power of `bits`.

    Args:
        restart: 1 bit, the next block begins at 0.
        run: 1 bit, a block begins.
        words: Words of the block that begins.
        take: Number of the word in its block; 0 in the cycle of `run`.
        bits: Bits of the index.
    """
    following, base = pyrtl.Register(bits, "block_next"), pyrtl.Register(bits, "block_base")
    behind = pyrtl.select(
        run, add(following, words.zero_extended(max(bits, len(words)))[:bits]), following
    )
    following.next <<= pyrtl.select(restart, pyrtl.Const(0, bits), behind)
    base.next <<= pyrtl.select(run, following, base)
    return add(pyrtl.select(run, following, base), take.zero_extended(max(bits, len(take)))[:bits])

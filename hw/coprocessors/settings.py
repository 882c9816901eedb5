"""Settings: the registers that `set` changes, and which algorithm they select."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyrtl

from hw.coprocessors.layout import Layout
from hw.coprocessors.wires import Wire, any_of, by_algorithm
from isa import coprocessor

__all__ = ["CODE_BITS", "LENGTH_BITS", "Settings", "build_settings"]

LENGTH_BITS = 32
"""Bits of lengths and addresses, whatever xlen is."""
CODE_BITS = (len(coprocessor.ALGORITHMS) - 1).bit_length()
"""Bits of an algorithm code."""


@dataclass(frozen=True)
class Settings:
    """What is set.

    Attributes:
        selected: For each algorithm held, by name, whether it is set, 1 bit.
        length: Bytes of the message.
        output_length: Bytes of output; 0 wide algorithms without it do not look at it.
        source: Address of the message; likewise `destination` and `key`, which only DMA reads.
    """

    selected: Mapping[str, Wire]
    length: Wire
    output_length: Wire
    source: Wire
    destination: Wire
    key: Wire

    @property
    def known(self) -> Wire:
        """1 bit, an algorithm that is held is set."""
        return any_of(list(self.selected.values()))

    def constant(self, value: Callable[[str], int], bits: int = 1) -> Wire:
        """The number that belongs to the algorithm set; see `by_algorithm`."""
        return by_algorithm(self.selected, value, bits)


def build_settings(layout: Layout, write: Wire, number: Wire, value: Wire) -> Settings:
    """Build the registers.

    There is one for each algorithm held instead of one for its code, since much waits for them.

    Args:
        layout: Sizes.
        write: 1 bit, a setting changes.
        number: Which, one of those of `isa.coprocessor`.
        value: To what, xlen bits.
    """

    def register(name: str, setting: int, bits: int = LENGTH_BITS) -> pyrtl.Register:
        found = pyrtl.Register(bits, f"set_{name}")
        found.next <<= pyrtl.select(write & (number == setting), value[:bits], found)
        return found

    def selected(name: str) -> Wire:
        code = coprocessor.ALGORITHMS.index(name)
        found = pyrtl.Register(1, f"set_{name}")
        is_other = value[:CODE_BITS] != code
        differs = is_other if code == 0 else ~is_other  # from code 0, which is set at power-on
        chosen = write & (number == coprocessor.ALGORITHM)
        found.next <<= pyrtl.select(chosen, differs, found)
        return ~found if code == 0 else found

    return Settings(
        {name: selected(name) for name in layout.p.algorithms},
        register("length", coprocessor.LENGTH),
        register("output_length", coprocessor.OUTPUT_LENGTH),
        register("source", coprocessor.SOURCE),
        register("destination", coprocessor.DESTINATION),
        register("key", coprocessor.KEY),
    )

"""Wires: arithmetic and selection that the parts of the frame share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import pyrtl

__all__ = ["Wire", "add", "any_of", "by_algorithm", "decrement", "picked", "subtract"]

Wire: TypeAlias = pyrtl.WireVector


def add(a: Wire, b: Wire | int) -> Wire:
    """Sum, as wide as a."""
    other = pyrtl.Const(b, len(a)) if isinstance(b, int) else b.zero_extended(len(a))
    total = Wire(bitwidth=len(a) + 1)
    total <<= a + other
    return total[: len(a)]


def subtract(a: Wire, b: Wire | int) -> Wire:
    """Difference, as wide as a."""
    other = pyrtl.Const(b, len(a)) if isinstance(b, int) else b.zero_extended(len(a))
    total = Wire(bitwidth=len(a) + 1)
    total <<= a - other
    return total[: len(a)]


def decrement(a: Wire) -> Wire:
    """One less, as wide as a."""
    return subtract(a, 1)


def any_of(wires: Sequence[Wire]) -> Wire:
    """OR of one or more wires."""
    return pyrtl.corecircuits.or_all_bits(pyrtl.concat_list(list(wires)))


def picked(choices: Sequence[tuple[Wire, Wire]]) -> Wire:
    """The value whose 1-bit condition holds, which exactly one does."""
    if len(choices) == 1:
        return choices[0][1]
    bits = max(len(value) for _, value in choices)
    total: Wire = pyrtl.Const(0, bits)
    for condition, value in choices:
        total = total | (condition.sign_extended(bits) & value.zero_extended(bits))
    return total


def by_algorithm(selected: Mapping[str, Wire], value: Callable[[str], int], bits: int = 1) -> Wire:
    """The number that belongs to the selected algorithm, at least `bits` wide.

    Args:
        selected: Whether each algorithm is selected, which exactly one is.
        value: Number of an algorithm, not negative.
        bits: Least width.
    """
    values = {name: value(name) for name in sorted(selected)}
    bits = max(bits, *(v.bit_length() for v in values.values()))
    return picked(
        [
            (any_of([selected[n] for n, v in values.items() if v == v0]), pyrtl.Const(v0, bits))
            for v0 in sorted(set(values.values()))
        ]
    )

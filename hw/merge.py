"""Merge: one datapath for several meanings of which one is selected at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from isa.bits import Bits, const, node
from isa.ops import OPS

__all__ = ["any_of", "merge"]

Choice = tuple[Bits, Bits]
"""A value and the one-bit select under which it is wanted."""

_NOT_MERGED = frozenset({"arg", "const", "slice"})
"""A leaf has nothing to share; what a slice selects from is wider than what it yields."""


def any_of(selects: Iterable[Bits]) -> Bits:
    """Return the OR of one-bit values; 0 if there is none."""
    return reduce(lambda a, b: a | b, selects, const(0, 1))


def merge(choices: Sequence[Choice], width: int) -> Bits:
    """Return a value that equals each choice where its select, and no other, is 1.

    Where no select is 1 the value has no meaning. Two choices that apply one operator to operands
    of which all but one are the same become that operator on a selected operand, f(a, c) and
    f(b, c) being f(a or b, c); so a rotator, adder or S-box is built once, and no multiplexer more
    is needed than one at the end would be. What remains is an AND-OR of the selects.
    """
    selects: dict[Bits, list[Bits]] = {}
    for value, select in choices:
        selects.setdefault(value, []).append(select)
    remaining = [(value, any_of(those)) for value, those in selects.items()]
    while len(remaining) > 1:
        found = _largest_family([value for value, _ in remaining])
        if found is None:
            break
        members, positions = found
        first = remaining[members[0]][0]
        operand = merge(
            [
                (remaining[m][0].args[p], remaining[m][1])
                for m, p in zip(members, positions, strict=True)
            ],
            first.args[positions[0]].width,
        )
        args = list(first.args)
        args[positions[0]] = operand
        merged = node(first.op, *args, attr=first.attr, width=first.width)
        select = any_of(remaining[m][1] for m in members)
        remaining[members[0]] = (merged, select)
        for m in reversed(members[1:]):
            del remaining[m]
    if len(remaining) == 1:
        return remaining[0][0]
    gated = [value & select.sext(width) for value, select in remaining]
    return reduce(lambda a, b: a | b, gated, const(0, width))


def _largest_family(values: Sequence[Bits]) -> tuple[list[int], list[int]] | None:
    """Return the most values that differ in one operand, and where that operand is in each.

    Ties go to the family that is met first. None if no two values belong together.
    """
    families: dict[tuple[object, ...], dict[int, int]] = {}
    for i, value in enumerate(values):
        if value.op in _NOT_MERGED:
            continue
        for position, operand in enumerate(value.args):
            others = [id(a) for p, a in enumerate(value.args) if p != position]
            place = None if OPS[value.op].commutative else position
            key = (value.op, value.width, value.attr, operand.width, place, *others)
            families.setdefault(key, {}).setdefault(i, position)
    best = max(families.values(), key=len, default={})
    return (list(best), list(best.values())) if len(best) > 1 else None

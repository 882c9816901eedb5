"""Expander: compressed instructions to the 32-bit ones they stand for, as logic.

Made from the records of `isa.compressed`: every bit of an expansion is a bit of the halfword or a
constant, so the expander only selects.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TypeAlias

import pyrtl

from hw.decoder import any_wire
from isa.compressed import SCALES, Compressed, Offset
from isa.encoding import REGISTERS, Encoding, Immediate
from isa.instruction_set import InstructionSet

Wire: TypeAlias = pyrtl.WireVector

ZERO, ONE = -1, -2
"""Constant bits of a route; others are bit numbers of the halfword."""

_FIELDS = ((0, 2), (2, 5), (5, 7), (7, 10), (10, 12), (12, 13), (13, 16))
"""Parts of a halfword, so that comparisons of equal parts are one comparator."""


def routes(compressed: Compressed, encoding: Encoding) -> tuple[int, ...]:
    """Where each of the 32 bits of an expansion comes from, lowest first.

    Args:
        compressed: What is expanded.
        encoding: That of its expansion.
    """
    bits = [ONE if encoding.match >> i & 1 else ZERO for i in range(32)]
    given = dict(compressed.forms[0].given)
    fields = {operand: r for r in compressed.registers for operand in r.operands}
    for operand in encoding.registers:
        source = given.get(operand, operand if operand in fields else 0)
        if isinstance(source, int):
            number = [ONE if source >> i & 1 else ZERO for i in range(5)]
        else:
            field = fields[source]
            number = [field.low + i for i in range(field.width)]
            number += [ONE, ZERO] if field.width == 3 else []
        bits[REGISTERS[operand] : REGISTERS[operand] + 5] = number
    for immediate in encoding.immediates:
        if compressed.offset is not None and immediate.name not in given:
            for position, route in _immediate(compressed.offset, immediate):
                bits[position] = route
    return tuple(bits)


def _immediate(offset: Offset, immediate: Immediate) -> list[tuple[int, int]]:
    """(bit of the expansion, route) of each bit of an immediate."""
    value = [ZERO] * 32
    for position, low, length in offset.bits.pieces:
        value[low : low + length] = range(position, position + length)
    if offset.signed:
        width = offset.bits.width
        value[width:] = [value[width - 1]] * (32 - width)
    scale = SCALES.get(immediate.name, 0)
    return [
        (position + i, value[scale + low + i])
        for position, low, length in immediate.pieces
        for i in range(length)
    ]


def expanded(halfword: Wire, instructions: InstructionSet) -> Wire:
    """Build the expander of 16 bits to 32; what it makes of reserved ones has no meaning."""
    known = [c for c in instructions.compressed if c.expansion in instructions]
    selected = _selected(halfword, known)
    taken: list[dict[int, list[Wire]]] = [{} for _ in range(32)]
    for c, wire in zip(known, selected, strict=True):
        encoding = instructions.by_name[c.expansion].encoding
        for sources, route in zip(taken, routes(c, encoding), strict=True):
            sources.setdefault(route, []).append(wire)
    bits = []
    for sources in taken:
        terms = []
        for route, wires in sources.items():
            if route != ZERO:
                asked = any_wire(wires)
                terms.append(asked if route == ONE else asked & halfword[route])
        bits.append(any_wire(terms) if terms else pyrtl.Const(0, 1))
    bits[:2] = [pyrtl.Const(1, 1)] * 2  # of every instruction of 32 bits
    return pyrtl.concat_list(bits)


def _selected(halfword: Wire, known: Sequence[Compressed]) -> list[Wire]:
    """For each compressed instruction, whether it is the one; special ones go before others."""
    comparators: dict[tuple[int, int], Wire] = {}

    def compare(mask: int, match: int) -> Wire:
        if (mask, match) not in comparators:
            positions = [i for i in range(16) if mask >> i & 1]
            value = sum((match >> p & 1) << i for i, p in enumerate(positions))
            bits = pyrtl.concat_list([halfword[p] for p in positions])
            comparators[mask, match] = bits == pyrtl.Const(value, len(positions))
        return comparators[mask, match]

    matched = []
    for c in known:
        parts = [((1 << high) - (1 << low)) & c.mask for low, high in _FIELDS]
        found = [compare(part, c.match & part) for part in parts if part]
        matched.append(reduce(lambda a, b: a & b, found))
    selected = []
    for c, wire in zip(known, matched, strict=True):
        for other, special in zip(known, matched, strict=True):
            if other.mask & c.mask == c.mask != other.mask and other.match & c.mask == c.match:
                wire = wire & ~special
        selected.append(wire)
    return selected

"""Boxes: expressions with their tables written as linear maps of named S-boxes."""

from __future__ import annotations

from isa.bits import Bits, fold, lookup, node, topological
from isa.substitution import BYTE_VALUES, factor, named_boxes
from isa.table import Table


def with_named_boxes(root: Bits) -> Bits:
    """The same function with each table of 256 entries as a linear map of a named S-box."""
    replacement: dict[Bits, Bits] = {}
    for n in topological([root]):
        table = n.attr
        if isinstance(table, Table) and len(table.entries) == BYTE_VALUES:
            if table in named_boxes():
                continue
            found = factor(table.entries, table.width)
            if found is not None:
                replacement[n] = found.build(n.args[0])
    if not replacement:
        return root

    def visit(n: Bits, xs: list[Bits]) -> Bits:
        if n in replacement:
            table = n.attr
            assert isinstance(table, Table)
            found = factor(table.entries, table.width)
            assert found is not None
            return found.build(xs[0])
        return node(n.op, *xs, attr=n.attr, width=n.width) if n.args else n

    return fold([root], visit)[0]


def byte_value(values: tuple[int, ...], index: Bits, text: str, xlen: int) -> tuple[Bits, str]:
    """A function of a byte as an expression of xlen bits and for people.

    Args:
        values: One for each value of the byte.
        index: The byte.
        text: The byte, for people.
        xlen: Width of the result.
    """
    found = factor(values, xlen)
    if found is not None:
        return found.build(index), found.formula(text)
    table = Table("box", xlen, values)
    return lookup(table, index), f"box[{text}]"


def rotl(value: int, amount: int, width: int) -> int:
    """Rotation left."""
    return (value << amount | value >> (width - amount)) & ((1 << width) - 1)

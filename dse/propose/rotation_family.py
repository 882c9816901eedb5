"""Rotation family: meanings that differ in the amount of their one rotation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

from dse.propose.boxes import with_named_boxes
from dse.propose.formula import formula
from dse.propose.graph import ASSOCIATIVE
from dse.propose.group import Group
from dse.propose.idea import Family, Idea
from dse.propose.meaning import in_canonical_order, registers
from isa.bits import Bits, arg, fold, node, substitute, topological
from isa.text import to_text


def rotation_families(groups: Mapping[bytes, Group], xlen: int) -> Iterable[Family]:
    """Families that differ in the amount of their one rotation."""
    families: dict[str, dict[int, tuple[Group, Bits]]] = {}
    for group in groups.values():
        for root in _operand_orders(group, xlen):
            rotations = [n for n in topological([root]) if n.op == "rotr"]
            if len(rotations) == 1:
                hole = substitute(root, {rotations[0]: _turned(rotations[0], xlen)})
                hole = _sorted(hole)
                key = to_text([hole])
                amount = rotations[0].attr
                assert isinstance(amount, int)
                families.setdefault(key, {}).setdefault(amount, (group, hole))
    used: set[int] = set()
    for members in sorted(families.values(), key=lambda m: -len(m)):
        fresh = {a: m for a, m in members.items() if id(m[0]) not in used}
        if len(fresh) < 2:
            continue
        used.update(id(group) for group, _ in fresh.values())
        amounts = sorted(fresh)
        root = fresh[amounts[0]][1]
        covered = tuple(fresh[a][0] for a in amounts)
        idea = Idea(
            with_named_boxes(root),
            covered[0].meaning.operands,
            (("amount", xlen.bit_length() - 1),),
            covered,
            tuple((a,) for a in amounts),
            formula(root),
        )
        yield idea, covered


def _turned(rotation: Bits, xlen: int) -> Bits:
    amount = arg("amount", rotation.width.bit_length() - 1)
    if rotation.width != xlen:  # an amount of another width is another family, and not kept
        return rotation
    return rotation.args[0].rotr_var(amount)


def _sorted(root: Bits) -> Bits:
    """The same function with the operands of each set joined and in the order of their text."""

    def visit(n: Bits, xs: list[Bits]) -> Bits:
        if n.op not in ASSOCIATIVE:
            return node(n.op, *xs, attr=n.attr, width=n.width) if n.args else n
        operands: list[Bits] = []
        for x in xs:
            operands += _operands(x) if x.op == n.op else [x]
        operands.sort(key=lambda x: to_text([x]))
        return reduce(lambda a, b: node(n.op, a, b), operands)

    def _operands(x: Bits) -> list[Bits]:
        found, stack = [], [x]
        while stack:
            m = stack.pop()
            if m.op == x.op:
                stack += m.args
            else:
                found.append(m)
        return found

    return fold([root], visit)[0]


def _operand_orders(group: Group, xlen: int) -> list[Bits]:
    root = in_canonical_order(group.meaning)
    names = registers(group.meaning.operands, xlen)
    if len(names) != 2:
        return [root]
    return [root, substitute(root, {names[0]: names[1], names[1]: names[0]})]

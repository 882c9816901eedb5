"""Idea: an instruction that could exist, made from one meaning or a family of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from dse.propose.formula import formula
from dse.propose.group import Group
from dse.propose.meaning import in_canonical_order, registers
from dse.propose.normal_form import NormalForm, normal_form, single_register
from dse.propose.substitution import BYTE_VALUES, factor, named_boxes
from dse.propose.work import Occurrence, disjoint
from isa.bits import Bits, arg, concat, const, fold, lookup, node, substitute, topological
from isa.canonical import labels
from isa.table import Table
from isa.text import to_text


@dataclass(frozen=True, eq=False)
class Idea:
    """A candidate instruction.

    Attributes:
        root: What it computes, over `rs1`, `rs2`.. and its immediates.
        operands: Registers it reads.
        immediates: (name, width in bits) of each immediate.
        groups: The meanings it covers.
        settings: Values of the immediates for each group.
        formula: What it does, for people.
    """

    root: Bits
    operands: int
    immediates: tuple[tuple[str, int], ...]
    groups: tuple[Group, ...]
    settings: tuple[tuple[int, ...], ...]
    formula: str

    @cached_property
    def occurrences(self) -> list[Occurrence]:
        """Where it could stand, no two in each other's way."""
        return disjoint(o for group in self.groups for o in group.occurrences)

    @cached_property
    def bound(self) -> float:
        """Instructions it might save for one execution of each workload; an estimate."""
        return sum(o.saving for o in self.occurrences)

    def specialised(self, setting: tuple[int, ...]) -> Bits:
        """What it computes with its immediates fixed."""
        return substitute(
            self.root,
            {
                arg(name, width): const(value, width)
                for (name, width), value in zip(self.immediates, setting, strict=True)
            },
        )


def ideas(groups: Mapping[bytes, Group], xlen: int) -> list[Idea]:
    """All candidate instructions: families with an immediate, and meanings on their own.

    Returns:
        Largest bound first. A meaning that a family covers is not listed again.
    """
    left = dict(groups)
    found: list[Idea] = []
    for families in (_byte_families, _rotation_families):
        for family, members in list(families(left, xlen)):
            found.append(family)
            for member in members:
                left.pop(member.meaning.fingerprint, None)
    found += [_single(group) for group in left.values()]
    return sorted(found, key=lambda idea: (-idea.bound, idea.operands, idea.formula))


def _single(group: Group) -> Idea:
    root = in_canonical_order(group.meaning)
    operands = group.meaning.operands
    return Idea(with_named_boxes(root), operands, (), (group,), ((),), formula(root))


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


@dataclass(frozen=True)
class _ByteForm:
    """The meaning accumulator ^ rotate-left(base[byte of operand], turn).

    Attributes:
        accumulates: Whether there is an accumulator; it is then rs1, and the operand rs2.
        base: Values for each value of the byte, turned to the smallest of the four placements.
        byte: Which byte, 0 lowest.
        turn: In bits, a multiple of 8.
    """

    accumulates: bool
    base: tuple[int, ...]
    byte: int
    turn: int


def _byte_form(form: NormalForm, xlen: int) -> _ByteForm | None:
    """Read a normal form as a `_ByteForm`, if it is one."""
    identity = labels(xlen).identity
    names = [name for name, label in form.functions if label is not identity]
    if len(names) != 1 or len(form.functions) > 2:
        return None
    label = form.of(names[0])
    assert label is not None
    for byte in range(xlen // 8):
        values = single_register(label, form.constant, xlen, byte)
        if values is not None:
            break
    else:
        return None
    turned = [tuple(_rotl(v, 8 * k, xlen) for v in values) for k in range(xlen // 8)]
    base = min(turned)
    turn = -8 * turned.index(base) % xlen
    return _ByteForm(len(form.functions) == 2, base, byte, turn)


def _rotl(value: int, amount: int, width: int) -> int:
    return (value << amount | value >> (width - amount)) & ((1 << width) - 1)


Family = tuple[Idea, tuple[Group, ...]]
"""An instruction, and the meanings that need not be listed beside it."""


def _byte_families(groups: Mapping[bytes, Group], xlen: int) -> Iterable[Family]:
    """Families that differ in the byte they select and in where the result is placed."""
    families: dict[tuple[bool, tuple[int, ...]], dict[tuple[int, int], Group]] = {}
    for group in groups.values():
        form = normal_form(in_canonical_order(group.meaning))
        found = _byte_form(form, xlen) if form is not None else None
        if found is not None:
            family = families.setdefault((found.accumulates, found.base), {})
            family[found.byte, found.turn] = group
    for (accumulates, base), members in families.items():
        if len(members) > 1:
            yield _byte_idea(accumulates, base, members, xlen), tuple(members.values())


def _byte_idea(
    accumulates: bool,
    base: tuple[int, ...],
    members: dict[tuple[int, int], Group],
    xlen: int,
) -> Idea:
    """One instruction for a family: `bs` alone where that saves as much, else also `place`."""
    every = _saving(members.values())
    for stride in range(0, xlen, 8):
        for start in range(0, xlen, 8):
            chosen = {p: g for p, g in members.items() if (start + stride * p[0]) % xlen == p[1]}
            if len(chosen) > 1 and _saving(chosen.values()) >= every:
                return _placed_idea(accumulates, base, chosen, start, stride, xlen)
    return _placed_idea(accumulates, base, members, 0, None, xlen)


def _saving(groups: Iterable[Group]) -> float:
    return sum(o.saving for o in disjoint(o for group in groups for o in group.occurrences))


def _placed_idea(
    accumulates: bool,
    base: tuple[int, ...],
    members: dict[tuple[int, int], Group],
    start: int,
    stride: int | None,
    xlen: int,
) -> Idea:
    """The family whose byte `bs` is turned by `start` + `stride` * bs bits, or by `place` bytes."""
    places = sorted(members)
    select = (xlen // 8).bit_length() - 1
    bs, place = arg("bs", select), arg("place", select)
    source = registers(2, xlen)[1 if accumulates else 0]
    index = source.shr_var(concat(bs, const(0, 3))).slice(0, 8)
    values = tuple(_rotl(v, start, xlen) for v in base)
    value, text = _value(values, index, f"{source.attr}.byte(bs)", xlen)
    immediates: tuple[tuple[str, int], ...] = (("bs", select),)
    settings = [(byte,) for byte, _ in places]
    if stride is None:
        value = value.rotr_var(concat(~place + 1, const(0, 3)))
        text = f"rotl({text}, 8 * place)"
        immediates += (("place", select),)
        settings = [(byte, turn // 8) for byte, turn in places]
    elif stride:
        amount = _times(bs, -stride // 8 % (xlen // 8))
        value = value.rotr_var(concat(amount, const(0, 3)))
        text = f"rotl({text}, {stride} * bs)"
    if accumulates:
        value = registers(1, xlen)[0] ^ value
        text = f"rs1 ^ {text}"
    groups = tuple(members[place] for place in places)
    return Idea(value, 1 + accumulates, immediates, groups, tuple(settings), text)


def _times(x: Bits, factor: int) -> Bits:
    """Product of an immediate with a small constant, modulo its width."""
    return ~x + 1 if factor == (1 << x.width) - 1 else x * factor


def _value(values: tuple[int, ...], index: Bits, text: str, xlen: int) -> tuple[Bits, str]:
    """A function of a byte as an expression of xlen bits and for people."""
    found = factor(values, xlen)
    if found is not None:
        return found.build(index), found.formula(text)
    table = Table("box", xlen, values)
    return lookup(table, index), f"box[{text}]"


def _rotation_families(groups: Mapping[bytes, Group], xlen: int) -> Iterable[Family]:
    """Families that differ in the amount of their one rotation."""
    families: dict[str, dict[int, tuple[Group, Bits]]] = {}
    for group in groups.values():
        for root in _operand_orders(group, xlen):
            rotations = [n for n in topological([root]) if n.op == "rotr"]
            if len(rotations) == 1:
                hole = substitute(root, {rotations[0]: _turned(rotations[0], xlen)})
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


def _operand_orders(group: Group, xlen: int) -> list[Bits]:
    root = in_canonical_order(group.meaning)
    names = registers(group.meaning.operands, xlen)
    if len(names) != 2:
        return [root]
    return [root, substitute(root, {names[0]: names[1], names[1]: names[0]})]

"""Byte family: meanings that differ in the byte they select and in where the result is placed.

They become one instruction with the byte as immediate `bs`. They are found on meanings, not on
shapes: byte 0 needs no shift, and the highest byte no mask.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dse.propose.boxes import byte_value, rotl
from dse.propose.group import Group
from dse.propose.idea import Family, Idea
from dse.propose.meaning import in_canonical_order, registers
from dse.propose.normal_form import NormalForm, normal_form, single_register
from dse.propose.work import disjoint
from isa.bits import Bits, arg, concat, const
from isa.canonical import labels


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
    turned = [tuple(rotl(v, 8 * k, xlen) for v in values) for k in range(xlen // 8)]
    base = min(turned)
    turn = -8 * turned.index(base) % xlen
    return _ByteForm(len(form.functions) == 2, base, byte, turn)


def byte_families(groups: Mapping[bytes, Group], xlen: int) -> Iterable[Family]:
    """Families that differ in the byte they select and in where the result is placed."""
    families: dict[tuple[bool, tuple[int, ...]], dict[tuple[int, int], Group]] = {}
    for group in groups.values():
        form = normal_form(in_canonical_order(group.meaning))
        found = _byte_form(form, xlen) if form is not None else None
        if found is not None:
            family = families.setdefault((found.accumulates, found.base), {})
            family[found.byte, found.turn] = group
    for (accumulates, base), members in families.items():
        every = _saving(members.values())
        if max(_saving([group]) for group in members.values()) < every:
            yield _byte_idea(accumulates, base, members, every, xlen), tuple(members.values())


def _byte_idea(
    accumulates: bool,
    base: tuple[int, ...],
    members: dict[tuple[int, int], Group],
    every: float,
    xlen: int,
) -> Idea:
    """One instruction for a family: `bs` alone where that saves as much, else also `place`."""
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
    values = tuple(rotl(v, start, xlen) for v in base)
    value, text = byte_value(values, index, f"{source.attr}.byte(bs)", xlen)
    immediates: tuple[tuple[str, int], ...] = (("bs", select),)
    settings: list[tuple[int, ...]] = [(byte,) for byte, _ in places]
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

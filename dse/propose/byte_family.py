"""Byte family: meanings that differ in the byte they select and in where the result is placed.

They become one instruction with the byte as immediate `bs`. They are found on meanings, not on
shapes: byte 0 needs no shift, and the highest byte no mask.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

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
    """The meaning rotate-right(accumulator, step) ^ rotate-left(base[byte of operand], turn).

    Attributes:
        step: In bits, a multiple of 8; None without accumulator. It is rs1, and the operand rs2.
        base: Values for each value of the byte, turned to the smallest of the four placements.
        byte: Which byte, 0 lowest.
        turn: In bits, a multiple of 8.
    """

    step: int | None
    base: tuple[int, ...]
    byte: int
    turn: int


def _byte_form(form: NormalForm, xlen: int) -> _ByteForm | None:
    """Read a normal form as a `_ByteForm`, if it is one."""
    algebra = labels(xlen)
    steps = {algebra.rotr(algebra.identity, step): step for step in range(0, xlen, 8)}
    names = [name for name, label in form.functions if label not in steps]
    if len(names) != 1 or len(form.functions) > 2:
        return None
    (step,) = [steps[x] for _, x in form.functions if x in steps] or (None,)
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
    return _ByteForm(step, base, byte, turn)


def byte_families(groups: Mapping[bytes, Group], xlen: int) -> Iterable[Family]:
    """Families that differ in the byte they select and in where the result is placed."""
    families: dict[tuple[int | None, tuple[int, ...]], dict[tuple[int, int], Group]] = {}
    for group in groups.values():
        form = normal_form(in_canonical_order(group.meaning))
        found = _byte_form(form, xlen) if form is not None else None
        if found is not None:
            family = families.setdefault((found.step, found.base), {})
            family[found.byte, found.turn] = group
    for (step, base), members in families.items():
        alone = max(_saving([group]) for group in members.values())
        for idea, saving in _byte_ideas(step, base, members, xlen):
            if alone < saving:
                yield idea, tuple(members.values())


def _byte_ideas(
    step: int | None, base: tuple[int, ...], members: dict[tuple[int, int], Group], xlen: int
) -> Iterator[tuple[Idea, float]]:
    """Instructions with `bs` alone, best first, and what each saves; one with `place`, if more.

    Several, as kernels in different views place their bytes differently. All members together may
    save less than some of them, where they are in each other's way.
    """
    lines: list[tuple[float, int, int, dict[tuple[int, int], Group]]] = []
    for stride, start in product(range(0, xlen, 8), repeat=2):
        chosen = {p: g for p, g in members.items() if (start + stride * p[0]) % xlen == p[1]}
        if len(chosen) > 1:
            lines.append((_saving(chosen.values()), start, stride, chosen))
    lines.sort(key=lambda line: -line[0])
    seen: set[tuple[int, int]] = set()
    for saving, start, stride, chosen in lines:
        if len(chosen.keys() - seen) > 1:
            seen |= chosen.keys()
            yield _placed_idea(step, base, chosen, start, stride, xlen), saving
    every = _saving(members.values())
    if not lines or every > lines[0][0]:
        yield _placed_idea(step, base, members, 0, None, xlen), every


def _saving(groups: Iterable[Group]) -> float:
    return sum(o.saving for o in disjoint(o for group in groups for o in group.occurrences))


def _placed_idea(
    step: int | None,
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
    source = registers(2, xlen)[step is not None]
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
    if step is not None:
        value = registers(1, xlen)[0].rotr(step) ^ value
        text = f"rotr(rs1, {step}) ^ {text}" if step else f"rs1 ^ {text}"
    groups = tuple(members[place] for place in places)
    return Idea(value, 1 + (step is not None), immediates, groups, tuple(settings), text)


def _times(x: Bits, factor: int) -> Bits:
    """Product of an immediate with a small constant, modulo its width."""
    return ~x + 1 if factor == (1 << x.width) - 1 else x * factor

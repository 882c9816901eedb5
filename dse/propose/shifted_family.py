"""Shifted family: sums over bytes of several registers that differ in one common byte shift.

`T0(rs1.byte(0)) ^ T1(rs2.byte(1))` and the same two bytes further, turned by two bytes, are one
instruction whose immediate `bs` shifts all its byte selects and turns its result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dse.propose.boxes import byte_value, rotl
from dse.propose.group import Group
from dse.propose.idea import Family, Idea
from dse.propose.meaning import in_canonical_order, registers
from dse.propose.normal_form import NormalForm, normal_form, single_register
from isa.bits import Bits, arg, concat, const
from isa.canonical import labels
from isa.substitution import factor

Parts = tuple[tuple[int, tuple[int, ...]], ...]
"""(byte, value for each value of it, 0 for 0) of each register, sorted."""


@dataclass(frozen=True)
class _Form:
    """accumulators ^ constant ^ the sum of a function of one byte of each other register."""

    accumulators: int
    constant: int
    parts: Parts

    def shifted(self, by: int, xlen: int) -> _Form:
        """Every byte select `by` bytes higher, the result turned left as much."""
        count = xlen // 8
        parts = sorted(
            ((byte + by) % count, tuple(rotl(v, 8 * by % xlen, xlen) for v in values))
            for byte, values in self.parts
        )
        return _Form(self.accumulators, rotl(self.constant, 8 * by % xlen, xlen), tuple(parts))


def shifted_families(groups: Mapping[bytes, Group], xlen: int) -> Iterable[Family]:
    """The families among meanings that read bytes of two or more registers."""
    families: dict[_Form, dict[int, Group]] = {}
    for group in groups.values():
        if group.meaning.operands < 2:
            continue
        found = normal_form(in_canonical_order(group.meaning))
        form = _form(found, xlen) if found is not None else None
        if form is not None:
            first, by = _canonical(form, xlen)
            families.setdefault(first, {})[by] = group
    for form, members in families.items():
        if len(members) > 1:
            yield _idea(form, members, xlen), tuple(members.values())


def _form(found: NormalForm, xlen: int) -> _Form | None:
    identity = labels(xlen).identity
    accumulators = 0
    parts = []
    for _, label in found.functions:
        if label is identity:
            accumulators += 1
            continue
        for byte in range(xlen // 8):
            values = single_register(label, 0, xlen, byte)
            if values is not None:
                parts.append((byte, values))
                break
        else:
            return None
    if len(parts) < 2:
        return None
    return _Form(accumulators, found.constant, tuple(sorted(parts)))


def _canonical(form: _Form, xlen: int) -> tuple[_Form, int]:
    """The least of the shifted forms that select byte 0, and by how much `form` lies above it."""
    shifts = sorted({byte for byte, _ in form.parts})
    choices = [(form.shifted(-by, xlen), by) for by in shifts]
    return min(choices, key=lambda c: (c[0].parts, c[0].constant, c[1]))


def _idea(form: _Form, members: Mapping[int, Group], xlen: int) -> Idea:
    count = xlen // 8
    select = count.bit_length() - 1
    bs = arg("bs", select)
    turn = concat(~bs + 1, const(0, 3))
    names = registers(form.accumulators + len(form.parts), xlen)
    total: Bits | None = None
    constant = form.constant
    texts = []
    for source, (byte, values) in zip(names[form.accumulators :], form.parts, strict=True):
        place = bs + byte if byte else bs
        index = source.shr_var(concat(place, const(0, 3))).slice(0, 8)
        text = f"{source.attr}.byte(bs{f' + {byte}' if byte else ''})"
        found = factor(values, xlen)
        if found is not None:  # a table such as L(S(x)) is written without its value at 0
            constant ^= found.constant
            values = tuple(v ^ found.constant for v in values)
        value, shown = byte_value(values, index, text, xlen)
        value = value.rotr_var(turn)  # each term by itself, so that compilers match a sum of terms
        total = value if total is None else total ^ value
        texts.append(f"({shown})")
    assert total is not None
    if constant:
        total = total ^ const(constant, xlen).rotr_var(turn)
        texts.append(hex(constant))
    text = f"rotl({' ^ '.join(texts)}, 8 * bs)"
    for accumulator in names[: form.accumulators]:
        total = accumulator ^ total
        text = f"{accumulator.attr} ^ {text}"
    shifts = sorted(members)
    return Idea(
        total,
        len(names),
        (("bs", select),),
        tuple(members[by] for by in shifts),
        tuple((by,) for by in shifts),
        text,
    )

"""Funnel family: words cut from two registers side by side, which differ in where they are cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from dse.propose.group import Group
from dse.propose.idea import Family, Idea
from dse.propose.meaning import in_canonical_order, registers
from dse.propose.normal_form import NormalForm, normal_form
from isa.bits import arg, concat
from isa.canonical import Label, labels


def funnel_families(groups: Mapping[bytes, Group], xlen: int) -> Iterable[Family]:
    """The one family there can be: rs1 above rs2, shifted right by an immediate."""
    members: dict[int, Group] = {}
    for group in groups.values():
        if group.meaning.operands == 2:
            form = normal_form(in_canonical_order(group.meaning))
            amount = _amount(form, xlen) if form is not None else None
            if amount is not None:
                members[amount] = group
    if len(members) < 2:
        return
    high, low = registers(2, xlen)
    width = xlen.bit_length() - 1
    amount_field = arg("amount", width)
    root = concat(high, low).shr_var(amount_field.zext(width + 1)).slice(0, xlen)
    amounts = sorted(members)
    covered = tuple(members[a] for a in amounts)
    idea = Idea(
        root,
        2,
        (("amount", width),),
        covered,
        tuple((a,) for a in amounts),
        f"{{rs1, rs2}} >> amount, low {xlen} bits",
    )
    yield idea, covered


def _amount(form: NormalForm, xlen: int) -> int | None:
    """By how much two registers side by side are shifted; None where it is no such function."""
    if form.constant or len(form.functions) != 2:
        return None
    first, second = (label for _, label in form.functions)
    for low, high in ((first, second), (second, first)):
        amount = _shifted_down(xlen).get(low)
        if amount is not None and _shifted_up(xlen).get(high) == xlen - amount:
            return amount
    return None


@cache
def _shifted_down(xlen: int) -> dict[Label, int]:
    algebra = labels(xlen)
    return {algebra.move(algebra.identity, k, xlen - k, 0): k for k in range(1, xlen)}


@cache
def _shifted_up(xlen: int) -> dict[Label, int]:
    algebra = labels(xlen)
    return {algebra.move(algebra.identity, 0, xlen - k, k): k for k in range(1, xlen)}

"""Collection: all ideas that a set of meanings gives, families first."""

from __future__ import annotations

from collections.abc import Mapping

from dse.propose.boxes import with_named_boxes
from dse.propose.byte_family import byte_families
from dse.propose.formula import formula
from dse.propose.funnel_family import funnel_families
from dse.propose.group import Group
from dse.propose.idea import Idea
from dse.propose.meaning import all_in_canonical_order
from dse.propose.rotation_family import rotation_families
from dse.propose.shifted_family import shifted_families

_FAMILIES = (byte_families, shifted_families, rotation_families, funnel_families)


def ideas(groups: Mapping[bytes, Group], xlen: int, *, with_members: bool = False) -> list[Idea]:
    """All candidate instructions: families with an immediate, and meanings on their own.

    Args:
        groups: The meanings.
        xlen: Register width.
        with_members: List a meaning that a family covers on its own too: for one amount, a
            rotation costs no gates.

    Returns:
        Largest bound first.
    """
    pairs = [group for group in groups.values() if len(group.meaning.roots) > 1]
    groups = {key: group for key, group in groups.items() if len(group.meaning.roots) == 1}
    left = dict(groups)
    found: list[Idea] = []
    for families in _FAMILIES:
        for family, members in list(families(left, xlen)):
            found.append(family)
            for member in members:
                left.pop(member.meaning.fingerprint, None)
    found += [_single(group) for group in (*(groups if with_members else left).values(), *pairs)]
    return sorted(found, key=lambda idea: (-idea.bound, idea.operands, idea.formula))


def _single(group: Group) -> Idea:
    roots = all_in_canonical_order(group.meaning)
    text = "; ".join(formula(root) for root in roots)
    return Idea(
        with_named_boxes(roots[0]),
        group.meaning.operands,
        (),
        (group,),
        ((),),
        text,
        *(with_named_boxes(root) for root in roots[1:]),
    )

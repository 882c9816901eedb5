"""Nearest known instruction of ideas made by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dse.propose.idea import Idea
from dse.propose.nearest import Neighbourhood
from isa.bits import Bits, arg, arguments, concat, const, substitute
from isa.instruction_set import InstructionSet

KNOWN = InstructionSet.of(32, "rv32i", "zkne", "zksed", "zbkb", "zknh").by_name
R1, R2 = arg("rs1", 32), arg("rs2", 32)


def meaning(name: str) -> Bits:
    root = KNOWN[name].effects(32).rd
    assert root is not None
    return root


def reversed_bytes(word: Bits) -> Bits:
    return concat(*(word.byte(i) for i in range(4)))


def mirrored(root: Bits) -> Bits:
    """The function where every register holds its bytes in the other order."""
    registers = {a: reversed_bytes(a) for a in arguments([root]) if a.width == 32}
    return reversed_bytes(substitute(root, registers))


def nearest(
    root: Bits, operands: int, immediates: Sequence[tuple[str, int]] = (), settings=((),)
) -> str:  # type: ignore[no-untyped-def]
    idea = Idea(root, operands, tuple(immediates), (), tuple(settings), "")
    return str(Neighbourhood({}, KNOWN, 32).nearest(idea))


BS = [("bs", 2)]
EVERY = [(0,), (1,), (2,), (3,)]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (nearest(meaning("aes32esmi"), 2, BS, EVERY), "equals aes32esmi"),
        (nearest(meaning("aes32esmi"), 2, BS, [(1,)]), "equals aes32esmi"),
        (nearest(meaning("sha256sum1"), 1), "equals sha256sum1"),
        (nearest(R2 & ~R1, 2), "equals andn"),
        (nearest(R1.rotr(7), 1), "equals rori shamtw=7"),
        (nearest(mirrored(meaning("sm4ed")), 2, BS, EVERY), "mirrors sm4ed"),
        (nearest((R1 >> 1) ^ (R1 << 9), 1), "is a setting of nmu"),
        (nearest(R1 + R1.rotr(3), 1), "new"),
        (nearest(meaning("aes32esmi") ^ const(1, 32), 2, BS, EVERY), "new"),
    ],
)
def test_nearest(found: str, expected: str) -> None:
    assert found == expected


def test_only_the_values_in_use_may_agree() -> None:
    amount = arg("amount", 5)
    root = R1.rotr_var(amount & 0b11110)  # a rotation by even amounts only
    assert nearest(root, 1, [("amount", 5)], [(2,), (8,)]) == "is part of rori"

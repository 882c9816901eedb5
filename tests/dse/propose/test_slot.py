"""Slots: encodings in custom space that overlap nothing."""

from __future__ import annotations

import pytest

from dse.propose.slot import NoRoom, allocate, encodings_in_use
from isa.encoding import Encoding
from isa.proposal import CUSTOM_OPCODES

SHAPES = [
    (1, ()),
    (1, (("amount", 5),)),
    (2, ()),
    (2, (("bs", 2),)),
    (2, (("bs", 2), ("place", 2))),
    (2, (("amount", 5),)),
    (3, ()),
    (3, (("bs", 2),)),
]


def overlap(a: Encoding, b: Encoding) -> bool:
    common = a.mask & b.mask
    return a.match & common == b.match & common


def test_slots_overlap_nothing() -> None:
    taken = encodings_in_use()
    for i in range(80):
        operands, immediates = SHAPES[i % len(SHAPES)]
        slot = allocate(f"x{i}", operands, immediates, taken)
        assert slot.encoding.mask & 0x7F == 0x7F
        assert slot.encoding.match & 0x7F in CUSTOM_OPCODES
        assert not any(overlap(slot.encoding, other) for other in taken)
        assert len(slot.encoding.registers) == operands + 1
        assert [(m.name, m.width) for m in slot.encoding.immediates] == list(immediates)
        taken.append(slot.encoding)


def test_byte_select_stands_where_the_ratified_one_does() -> None:
    slot = allocate("x", 2, (("bs", 2),), [])
    assert slot.fields == {}
    assert slot.encoding.immediates[0].insert(3) == 3 << 30


@pytest.mark.parametrize(
    ("operands", "immediates", "message"),
    [
        (4, (), "x: must read 1 to 3 registers, not 4"),
        (3, (("amount", 5),), "x: immediates must fit 2 bits beside 3 registers, not 5"),
        (2, (("bs", 2), ("amount", 6)), "x: immediates must fit 7 bits beside 2 registers, not 8"),
    ],
)
def test_what_has_no_room(
    operands: int, immediates: tuple[tuple[str, int], ...], message: str
) -> None:
    with pytest.raises(NoRoom, match=f"^{message}$"):
        allocate("x", operands, immediates, [])


def test_full_space_says_so() -> None:
    taken = [Encoding.parse(f"y{i} rd 6..0={opcode}") for i, opcode in enumerate(CUSTOM_OPCODES)]
    with pytest.raises(
        NoRoom, match=r"^x: no custom encoding is free; propose fewer instructions$"
    ):
        allocate("x", 2, (), taken)

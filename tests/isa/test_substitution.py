"""Tables as linear maps of named S-boxes; the field arithmetic here is the test's own."""

from __future__ import annotations

import pytest

from dse.propose.boxes import with_named_boxes
from isa.bits import arg, evaluate, lookup, topological
from isa.substitution import factor, named_boxes
from isa.table import Table

BOXES = {box.name: box for box in named_boxes()}


def times(a: int, b: int) -> int:
    """Russian peasant product modulo x^8 + x^4 + x^3 + x + 1 (FIPS 197 section 4.2)."""
    total = 0
    for _ in range(8):
        if b & 1:
            total ^= a
        a, b = (a << 1) ^ (0x11B if a & 0x80 else 0), b >> 1
    return total


def rotl(x: int, k: int) -> int:
    return (x << k | x >> (32 - k)) & 0xFFFFFFFF


def t_table(box: str, column: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(
        sum(times(s, f) << 8 * i for i, f in enumerate(column)) for s in BOXES[box].entries
    )


def test_the_ciphers_s_boxes_are_known() -> None:
    assert {"aes_sbox", "aes_inv_sbox", "sm4_sbox"} <= set(BOXES)


@pytest.mark.parametrize(
    ("box", "column"),
    [
        ("aes_sbox", (2, 1, 1, 3)),
        ("aes_sbox", (1, 3, 2, 1)),
        ("aes_inv_sbox", (14, 9, 13, 11)),
    ],
)
def test_t_tables_are_products_of_the_s_box(box: str, column: tuple[int, ...]) -> None:
    entries = t_table(box, column)
    found = factor(entries, 32)
    assert found is not None
    assert found.box is BOXES[box]
    assert found.factors() == column
    assert found.constant == 0
    root = found.build(arg("x", 8))
    assert [evaluate(root, {"x": x}) for x in range(256)] == list(entries)
    assert found.formula("x") == f"({', '.join(map(str, column))}) * {box}[x]"


def test_sm4_table_is_a_matrix_of_its_s_box() -> None:
    entries = tuple(
        s ^ rotl(s, 2) ^ rotl(s, 10) ^ rotl(s, 18) ^ rotl(s, 24) for s in BOXES["sm4_sbox"].entries
    )
    found = factor(tuple(e ^ 0x1234 for e in entries), 32)
    assert found is not None
    assert (found.box, found.constant) == (BOXES["sm4_sbox"], 0x1234)
    root = found.build(arg("x", 8))
    assert [evaluate(root, {"x": x}) ^ 0x1234 for x in range(256)] == list(entries)


def test_linear_tables_need_no_s_box() -> None:
    found = factor(tuple(times(x, 7) for x in range(256)), 8)
    assert found is not None
    assert found.box is None
    assert found.factors() == (7,)


def test_other_tables_are_left_alone() -> None:
    entries = list(t_table("aes_sbox", (2, 1, 1, 3)))
    entries[17] ^= 1
    assert factor(tuple(entries), 32) is None
    root = lookup(Table("t", 32, tuple(entries)), arg("rs1", 32).byte(0))
    assert with_named_boxes(root) is root


def test_named_boxes_replace_tables_throughout() -> None:
    x = arg("rs1", 32)
    table = Table("t", 32, t_table("aes_sbox", (2, 1, 1, 3)))
    written = lookup(table, x.byte(0)) ^ lookup(table, x.byte(1)).rotl(8)
    named = with_named_boxes(written)
    assert {n.attr.name for n in topological([named]) if isinstance(n.attr, Table)} == {"aes_sbox"}
    for value in (0, 0x0123_4567, 0xFFFF_FFFF):
        assert evaluate(named, {"rs1": value}) == evaluate(written, {"rs1": value})

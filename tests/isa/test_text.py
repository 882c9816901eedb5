"""The textual form reads back to the same graph and refuses what it cannot read."""

from __future__ import annotations

import pytest

from isa.bits import arg, concat, lookup, mux
from isa.instruction_set import extension_names, load_extension
from isa.table import Table
from isa.text import TextError, from_text, to_text


@pytest.mark.parametrize("name", extension_names())
def test_every_meaning_survives(name: str) -> None:
    for instruction in load_extension(name).instructions:
        values = instruction.effects(instruction.xlens[-1]).values()
        read = from_text(to_text(values))
        assert all(a is b for a, b in zip(values, read, strict=True)), instruction


def test_form() -> None:
    table = Table("t", 8, (1, 2, 3, 255))
    x = arg("x", 8)
    n = lookup(table, x.slice(2, 2)) ^ mux(x.bit(0), x << 1, concat(x.slice(0, 4), x.slice(4, 4)))
    assert to_text([n]) == (
        "(bits (table t 8 010203ff) (xor (lookup t (slice 2 2 (arg x 8)))"
        " (mux (slice 0 1 (arg x 8)) (shl 1 (arg x 8))"
        " (concat (slice 0 4 (arg x 8)) (slice 4 4 (arg x 8))))))"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(bits (xor (arg x 8)", "text must be one balanced s-expression"),
        ("(bits))", r"unbalanced '\)'"),
        ("(xor)", r"text must start with \(bits"),
        ("(bits (spam (arg x 8) 4))", "operator must be one of"),
        ("(bits (xor (arg x 8) (arg y 9)))", "xor: operands must be of equal width"),
        ("(bits (not t0))", "name must be bound before use, not 't0'"),
        ("(bits (lookup s (arg x 8)))", "table must be declared before use, not 's'"),
        ("(bits (arg x eight))", "a number must be an integer, not 'eight'"),
        ("(bits (table t 8 0102zz00) (arg x 8))", "table t: "),
    ],
)
def test_bad_text(text: str, message: str) -> None:
    with pytest.raises(TextError, match=message):
        from_text(text)

"""Evaluation in lanes agrees with evaluation of one value, for every operator."""

from __future__ import annotations

import random

import numpy as np
import pytest

from dse.propose.lanes import evaluate_lanes
from isa.bits import Bits, arg, concat, evaluate, lookup, mux, node
from isa.ops import OPS
from isa.table import Table

WIDTHS = (1, 2, 8, 16, 32, 64)
TABLE = Table("t", 12, tuple((37 * i + 5) % 4096 for i in range(16)))


def expressions(width: int) -> dict[str, Bits]:
    a, b = arg("a", width), arg("b", width)
    found = {op: node(op, a, b) for op in ("and", "or", "xor", "add", "sub", "mul")}
    found |= {op: node(op, a, b) for op in ("mul_wide", "clmul", "eq", "ult", "slt")}
    found |= {op: node(op, a, attr=width // 2) for op in ("shl", "shr", "sar", "rotr")}
    if width > 1:
        amount = b.slice(0, width.bit_length() - 1)
        found |= {f"{op}_var": node(f"{op}_var", a, amount) for op in ("shl", "shr", "sar", "rotr")}
    found |= {
        "not": ~a,
        "concat": concat(a, b, a),
        "slice": a.slice(width // 2, width - width // 2),
        "zext": a.zext(width + 3),
        "sext": a.sext(width + 3),
        "mux": mux(a.bit(0), a, b),
        "const": a ^ 1,
        "arg": a,
    }
    if width >= 4:
        found["lookup"] = lookup(TABLE, a.slice(0, 4))
    return found


def test_every_operator_is_here() -> None:
    assert set(expressions(32)) == set(OPS)


@pytest.mark.parametrize("width", WIDTHS)
def test_lanes_agree_with_single_values(width: int) -> None:
    generator = random.Random(width)
    edges = [0, 1, (1 << width) - 1, 1 << width - 1]
    pairs = [(x, y) for x in edges for y in edges]
    pairs += [(generator.getrandbits(width), generator.getrandbits(width)) for _ in range(50)]
    columns = {
        name: np.array([p[i] for p in pairs], dtype=np.uint64) for i, name in enumerate("ab")
    }
    for op, root in expressions(width).items():
        values = evaluate_lanes(root, columns)
        for value, (x, y) in zip(values, pairs, strict=True):
            assert int(value) == evaluate(root, {"a": x, "b": y}), (op, width, x, y)

from __future__ import annotations

import random

import pytest

from hw.merge import merge
from isa.aes import sbox
from isa.bits import Bits, arg, const, evaluate, lookup, topological

A, B, C = (arg(name, 32) for name in "abc")
N, M = arg("n", 5), arg("m", 5)


def selects(count: int) -> list[Bits]:
    return [arg(f"s{i}", 1) for i in range(count)]


CASES: dict[str, list[Bits]] = {
    "one": [A + B],
    "equal": [A + B, A + B],
    "adder": [A + B, A + C, C + A],
    "order matters": [A - B, A - C, B - A],
    "rotator": [A.rotr_var(N), A.rotr_var(M), A.rotr_var(~N + 1), A ^ B],
    "nested": [A ^ B.rotr_var(N), A ^ C.rotr_var(N), A ^ (B + C).rotr_var(N)],
    "lookup": [lookup(sbox(), A.byte(i)).zext(32) ^ B for i in range(4)],
    "mixed": [A & ~B, A | ~B, ~(A ^ B), A.zext(64).slice(7, 32), A.rotr(3), B.rotr(3)],
    "constants": [const(5, 32), A, const(6, 32) ^ A, B * C, C * B, A * A],
}


@pytest.mark.parametrize("case", sorted(CASES))
def test_each_choice_is_what_its_select_gives(case: str) -> None:
    values = CASES[case]
    chosen = selects(len(values))
    merged = merge(list(zip(values, chosen, strict=True)), 32)
    draw = random.Random(1)
    for _ in range(30):
        env = {name: draw.getrandbits(32) for name in "abc"}
        env |= {name: draw.getrandbits(5) for name in "nm"}
        for i, value in enumerate(values):
            one_hot = {f"s{k}": int(k == i) for k in range(len(values))}
            assert evaluate(merged, env | one_hot) == evaluate(value, env), (case, i)


@pytest.mark.parametrize(
    ("case", "op"),
    [("adder", "add"), ("rotator", "rotr_var"), ("nested", "rotr_var"), ("lookup", "lookup")],
)
def test_what_differs_in_one_operand_is_built_once(case: str, op: str) -> None:
    values = CASES[case]
    merged = merge(list(zip(values, selects(len(values)), strict=True)), 32)
    shared = [n for n in topological([merged]) if n.op == op and n is not B + C and n is not ~N + 1]
    assert len(shared) == 1


def test_nothing_to_choose_is_zero() -> None:
    assert merge([], 32) is const(0, 32)

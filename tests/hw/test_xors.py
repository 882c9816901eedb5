"""Sums over GF(2) of which one is selected: the same values, and the same gates however written."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from hw.area import estimate
from hw.extension import build_extension
from hw.technology import technology
from hw.xors import share_xors
from isa.bits import Bits, arg, evaluate, substitute, topological
from isa.instruction_set import find_instruction

A, B = arg("a", 32), arg("b", 32)
SHIFTS = {
    "sha512sig0h": (A >> 1, B << 31, A >> 8, B << 24, A >> 7),
    "sha512sig0l": (A >> 1, B << 31, A >> 8, B << 24, A >> 7, B << 25),
    "sha512sum0r": (A >> 28, B << 4, B >> 2, A << 30, B >> 7, A << 25),
    "rs1": (A,),
}
"""Operands of two that share five, of one that shares none, and no sum at all."""


def written(terms: Sequence[Bits], draw: random.Random) -> Bits:
    """A sum of the terms in some order and some bracketing."""
    values = list(terms)
    draw.shuffle(values)
    while len(values) > 1:
        i = draw.randrange(len(values) - 1)
        values[i : i + 2] = [values[i] ^ values[i + 1]]
    return values[0]


@pytest.mark.parametrize("seed", range(8))
def test_what_two_sums_have_in_common_is_built_once_and_no_value_changes(seed: int) -> None:
    draw = random.Random(seed)
    before = [(written(t, draw), arg(n, 1)) for n, t in SHIFTS.items()]
    after = share_xors(before)
    for (old, select), (new, same) in zip(before, after, strict=True):
        assert same is select
        for _ in range(10):
            env = {"a": draw.getrandbits(32), "b": draw.getrandbits(32)}
            assert evaluate(new, env) == evaluate(old, env)
    both = [value for value, _ in after[:2]]
    assert sum(n.op == "xor" for n in topological(both)) == 5
    assert after[2] == before[2]
    assert after[3] == before[3]


def test_twice_the_same_operand_is_nothing() -> None:
    long = A ^ (B ^ (A >> 1)) ^ B ^ (B >> 3) ^ A
    chosen = [(long, arg("x", 1)), ((A >> 1) ^ (B >> 3), arg("y", 1))]
    (first, _), (second, _) = share_xors(chosen)
    assert first is second


def test_the_area_of_merged_sums_does_not_depend_on_how_they_are_written() -> None:
    names = [name for name in SHIFTS if name != "rs1"]

    def area_ge(seed: int) -> float:
        draw = random.Random(seed)
        instructions = []
        for name in names:
            root = written(SHIFTS[name], draw)

            def meaning(rs1: Bits, rs2: Bits, root: Bits = root) -> Bits:
                return substitute(root, {A: rs1, B: rs2})

            instructions.append(replace(find_instruction(name, 32), meaning=meaning))
        return estimate(build_extension(instructions, 32, {}), technology("ge")).area_ge

    assert len({round(area_ge(seed), 6) for seed in range(6)}) == 1

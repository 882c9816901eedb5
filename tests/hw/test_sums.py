from __future__ import annotations

import random

import pyrtl
import pytest

from hw.area import estimate
from hw.bitblast import bitblast
from hw.sums import Sums
from hw.technology import technology
from tests.hw.test_bitblast import evaluate

GE = technology("ge")


def random_tree(rng: random.Random, inputs: list[pyrtl.WireVector], depth: int) -> pyrtl.WireVector:
    """A tree of sums, differences and products, cut and extended at random."""
    if depth == 0 or rng.random() < 0.1:
        return rng.choice(inputs)
    a, b = random_tree(rng, inputs, depth - 1), random_tree(rng, inputs, depth - 1)
    kind = rng.choice("++++--*&")
    if kind == "*":
        made = a[:4] * b[:5]
    elif kind == "&":
        made = pyrtl.concat(pyrtl.Const(0, 2), a) + pyrtl.Const(rng.getrandbits(5), 5)
    else:
        made = a + b if kind == "+" else a - b
    cut = rng.choice((None, None, len(made) - 1, max(1, len(made) - 3)))
    if cut:
        made = made[:cut]
    return made.zero_extended(len(made) + 2) if rng.random() < 0.2 else made


@pytest.mark.parametrize("seed", range(40))
def test_random_trees_of_sums_have_the_value_that_pyrtl_gives(seed: int) -> None:
    rng = random.Random(seed)
    with pyrtl.temp_working_block():
        inputs = [pyrtl.Input(rng.randint(1, 8), f"i{k}") for k in range(5)]
        output = pyrtl.Output(name="y", bitwidth=None)
        tree = random_tree(rng, inputs, 4)
        output <<= tree
        shown = ["y"]
        if seed % 2:  # What is read twice ends a sum.
            again = pyrtl.Output(3, "z")
            again <<= (tree + inputs[0])[:3]
            shown.append("z")
        block = pyrtl.working_block()
        graph = bitblast(block)
        simulation = pyrtl.FastSimulation(tracer=None, block=block)
        widths = {str(w.name): len(w) for w in inputs}
    for _ in range(60):
        values = {name: rng.getrandbits(width) for name, width in widths.items()}
        simulation.step(values)
        found = evaluate(graph, values)
        assert found == {name: simulation.inspect(name) for name in shown}, values


def terms_of(build: object) -> list[int]:
    """Numbers of terms of the long sums in a block."""
    assert callable(build)
    with pyrtl.temp_working_block():
        build()
        block = pyrtl.working_block()
        sums = Sums(block.logic)
        found = [sums.of(net) for net in block.logic_subset("+-")]
    return sorted(len(s.terms) for s in found if s is not None)


def words(count: int) -> list[pyrtl.WireVector]:
    return [pyrtl.Input(8, f"w{i}") for i in range(count)]


def test_sums_are_joined_only_where_nothing_is_lost() -> None:
    def whole() -> None:
        a, b, c = words(3)
        output = pyrtl.Output(8, "y")
        output <<= ((a + b)[:8] + c)[:8]

    def carry_lost_between() -> None:
        a, b, c = words(3)
        output = pyrtl.Output(9, "y")
        output <<= (a + b)[:8] + c

    def read_twice() -> None:
        a, b, c = words(3)
        first = (a + b)[:8]
        output, other = pyrtl.Output(8, "y"), pyrtl.Output(8, "z")
        output <<= (first + c)[:8]
        other <<= first

    def product_and_difference() -> None:
        a, b, c, d = words(4)
        output = pyrtl.Output(8, "y")
        output <<= ((a * b)[:8] + (c - d)[:8])[:8]

    def borrow_needed() -> None:
        a, b, c = words(3)
        output = pyrtl.Output(12, "y")
        output <<= (a - b).zero_extended(12) + c.zero_extended(12)

    # The inner sum of two is part of the outer one and, alone, not long.
    assert terms_of(whole) == [3]
    assert terms_of(carry_lost_between) == []
    assert terms_of(read_twice) == []
    assert terms_of(product_and_difference) == [3]
    assert terms_of(borrow_needed) == []


def test_a_sum_of_many_bits_is_a_counter_and_not_a_chain_of_adders() -> None:
    with pyrtl.temp_working_block():
        x = pyrtl.Input(32, "x")
        total = x[0].zero_extended(6)
        for i in range(1, 32):
            total = (total + x[i].zero_extended(6))[:6]
        output = pyrtl.Output(6, "ones")
        output <<= total
        cost = estimate(bitblast(pyrtl.working_block()), GE)
    # 26 full adders of 5 gates and an adder at the end; a chain would take 31 adders of 6 bits.
    assert cost.area_ge < 280
    assert cost.delay_fo4 < 30


def test_a_kept_multiplication_and_addition_is_one_tree() -> None:
    def cost(joined: bool) -> float:
        with pyrtl.temp_working_block():
            a, b, c = pyrtl.Input(16, "a"), pyrtl.Input(16, "b"), pyrtl.Input(32, "c")
            product = a * b
            if not joined:
                shown = pyrtl.Output(32, "product")
                shown <<= product
            output = pyrtl.Output(32, "y")
            output <<= (product + c)[:32]
            return estimate(bitblast(pyrtl.working_block()), GE).arrival("y")

    assert cost(joined=True) < 0.85 * cost(joined=False)

"""Logic cut into stages: the same results some cycles later, on shorter paths."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pyrtl
import pytest

from hw.area import estimate
from hw.coprocessors.engines.stages import cut
from hw.coprocessors.engines.wiring import table_entry, total
from hw.technology import technology

WIDTH = 16
SOURCES = 4


def expression(rng: random.Random, words: Sequence[Any]) -> list[Any]:
    """Some results of random logic of every kind of operator that engines use."""

    def subtracted(a: Any, b: Any) -> Any:
        return (a - b)[:WIDTH]

    operators: list[Callable[[Any, Any], Any]] = [
        lambda a, b: a ^ b,
        lambda a, b: a & ~b,
        lambda a, b: a | b,
        total,
        subtracted,
        lambda a, b: pyrtl.select(a[3], a, b),
        lambda a, b: pyrtl.concat(a[:5], b[5:]),
        lambda a, b: (a == b).sign_extended(WIDTH) ^ a,
        lambda a, b: table_entry(range(100, 116), a[4:8], WIDTH) ^ b,
        lambda a, b: ((a + b)[:WIDTH] + a)[:WIDTH],
    ]
    values = list(words)
    for _ in range(40):
        a, b = rng.choices(values[-8:], k=2)
        values.append(rng.choice(operators)(a, b))
    return [*values[-3:], values[0]]


def block_of(seed: int, stages: int) -> pyrtl.Block:
    block = pyrtl.Block()
    with pyrtl.set_working_block(block):
        sources = []
        for i in range(SOURCES):
            register = pyrtl.Register(WIDTH, f"held_{i}")
            register.next <<= pyrtl.Input(WIDTH, f"x{i}")
            sources.append(register)
        for i, wire in enumerate(cut(expression(random.Random(seed), sources), stages)):
            out = pyrtl.Output(len(wire), f"out_{i}")
            out <<= wire
    return block


def outputs(simulation: pyrtl.FastSimulation) -> list[int]:
    return [int(simulation.inspect(f"out_{i}")) for i in range(4)]


@pytest.mark.parametrize("seed", range(12))
def test_results_come_some_cycles_later_and_stay(seed: int) -> None:
    rng = random.Random(seed)
    whole = pyrtl.FastSimulation(tracer=None, block=block_of(seed, 1))
    for stages in (2, 3, 4):
        pipelined = pyrtl.FastSimulation(tracer=None, block=block_of(seed, stages))
        for _ in range(5):
            values = {f"x{i}": rng.getrandbits(WIDTH) for i in range(SOURCES)}
            for simulation in (whole, pipelined):
                simulation.step(values)
            for cycle in range(stages + 1):
                for simulation in (whole, pipelined):
                    simulation.step(values)
                if cycle >= stages - 1:
                    assert outputs(pipelined) == outputs(whole)


@pytest.mark.parametrize("seed", range(12))
def test_paths_become_shorter(seed: int) -> None:
    ge = technology("ge")
    delays = [estimate(block_of(seed, stages), ge).delay_fo4 for stages in (1, 2, 4)]
    assert delays[1] < 0.95 * delays[0]
    assert delays[2] < 0.75 * delays[0]


def test_what_is_read_directly_is_not_registered() -> None:
    """Only the sum in the middle is kept, not the registers that both stages read."""
    block = pyrtl.Block()
    with pyrtl.set_working_block(block):
        a, b = pyrtl.Register(WIDTH, "a"), pyrtl.Register(WIDTH, "b")
        for register in (a, b):
            register.next <<= pyrtl.Input(WIDTH, f"{register.name}_in")
        middle = (a + b)[:WIDTH]
        (result,) = cut([((middle ^ a) + (middle ^ b))[:WIDTH]], 2)
        out = pyrtl.Output(WIDTH, "out")
        out <<= result
    assert estimate(block, technology("ge")).ffs == 3 * WIDTH


def test_one_stage_leaves_logic_alone() -> None:
    with pyrtl.set_working_block(pyrtl.Block(), no_sanity_check=True):
        a = pyrtl.Input(WIDTH, "a")
        wires = [a ^ 1]
        assert cut(wires, 1)[0] is wires[0]

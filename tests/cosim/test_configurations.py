"""Random programs on many cores: state and the cycle of every retirement as the model says.

A failure names the core, its instructions and the seed of the program. `pytest -m full` compares a
million instructions.
"""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from functools import cache
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hw.cosim import Netlist, compare
from isa.core import (
    BRANCHES,
    DIVIDERS,
    MEMORIES,
    MULTIPLIERS,
    PREDICTIONS,
    PRODUCTS,
    Core,
)
from isa.instruction_set import InstructionSet, load_extension
from tests.cosim.random_program import random_program

LATENCIES = {"aes32esmi": 3, "aes64es": 2, "nmu": 4, "nldl": 2, "rol": 5, "cmix": 2}


@cache
def every_core() -> tuple[Core, ...]:
    """Cores that differ, with all combinations of what decides the flow of instructions."""
    found: dict[Core, None] = {}
    for xlen, pipeline, forwarding, branch, prediction, memory, latency in product(
        (32, 64), (2, 3, 5), (True, False), BRANCHES, PREDICTIONS, MEMORIES, (1, 2, 4)
    ):
        core = Core("default", xlen, pipeline, forwarding, branch, prediction, memory, latency)
        found[core.canonical()] = None
    return tuple(found)


def chosen(count: int) -> dict[str, Core]:
    """Some of them by name, with units of all kinds, the last three pipelined; always the same."""
    rng = random.Random(20240411)
    cores = rng.sample(every_core(), count)
    made = [
        replace(
            core,
            read_ports=2 + i % 2,
            multiplier=MULTIPLIERS[1 + i % 5] if i % 4 else 0,
            carryless=MULTIPLIERS[1 + i % 5],
            divider=DIVIDERS[1 + i % 3] if i % 4 else 0,
        )
        for i, core in enumerate(cores)
    ]
    for pipeline, multiplier, carryless in (
        (5, "pipelined_4", "pipelined_3"),
        (3, "pipelined_2", "pipelined_4"),
        (2, "pipelined_3", "pipelined_2"),
    ):
        core = rng.choice([c for c in every_core() if (c.xlen, c.pipeline) == (32, pipeline)])
        made.append(replace(core, multiplier=multiplier, carryless=carryless, divider=1))
    return {f"{i}-{c.pipeline}-stage-rv{c.xlen}": c for i, c in enumerate(made)}


CORES = chosen(32)


def instructions_of(core: Core, number: int) -> InstructionSet:
    """What a core executes: units, state, three operands and short encodings where it can."""
    parts = [f"rv{core.xlen}i", "zbkb", "zbc", "zkne"]
    parts += ["m"] if core.multiplier and core.divider else []
    parts += ["xzbt"] if core.read_ports == 3 else []
    if number % 2 and (core.memory, core.memory_latency) == ("separate", 1):
        return InstructionSet.of(core.xlen, *parts, "zca")
    if core.xlen == 64:
        return InstructionSet.of(64, *parts)
    variant = {"banks": 2, "push": (16, 32)[number // 2 % 2], "readback": number // 4 % 2}
    return InstructionSet.of(32, *parts, load_extension("nluv", **variant))


@cache
def netlist(name: str) -> Netlist:
    core, number = CORES[name], int(name.split("-")[0])
    instructions = instructions_of(core, number)
    latencies = {n: c for n, c in LATENCIES.items() if n in instructions and number % 4}
    return Netlist(core, instructions, latencies)


def check(on: Netlist, seed: int, length: int) -> int:
    program = random_program(on.instructions, seed, length)
    rng = random.Random(seed)
    result = compare(on, program, [rng.getrandbits(on.core.xlen) for _ in range(4)])
    names = dict.fromkeys(i.extension for i in on.instructions.instructions)
    assert result.equal, (
        f"seed {seed}, {length} words of {'_'.join(names)}, {on.core}, {on.latencies}: "
        f"{result.difference}"
    )
    return result.instructions


def test_every_value_of_every_parameter_is_among_the_cores() -> None:
    for name, values in (
        ("xlen", (32, 64)),
        ("pipeline", (2, 3, 5)),
        ("forwarding", (True, False)),
        ("branch", BRANCHES),
        ("prediction", PREDICTIONS),
        ("memory", MEMORIES),
        ("memory_latency", (1, 2, 4)),
        ("read_ports", (2, 3)),
        ("multiplier", PRODUCTS),
        ("carryless", PRODUCTS[1:]),
        ("divider", DIVIDERS),
    ):
        assert {getattr(core, name) for core in CORES.values()} == set(values)
    assert any(instructions_of(c, i).compressed for i, c in enumerate(CORES.values()))


@pytest.mark.parametrize("name", list(CORES)[:32:8])
def test_a_few_cores(name: str) -> None:
    assert check(netlist(name), 1, 150) > 50


@pytest.mark.slow
@pytest.mark.parametrize("name", CORES)
def test_cores(name: str) -> None:
    assert sum(check(netlist(name), seed, 300) for seed in range(2, 4)) > 150


@pytest.mark.slow
@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    core=st.sampled_from(every_core()),
    number=st.integers(0, 7),
    seed=st.integers(0, 2**32 - 1),
    length=st.integers(20, 200),
)
def test_any_core_and_program(core: Core, number: int, seed: int, length: int) -> None:
    """Hypothesis looks for the smallest core, instructions and program that differ."""
    check(Netlist(core, instructions_of(core, number)), seed, length)


@pytest.mark.full
@pytest.mark.parametrize("name", CORES)
def test_a_million_instructions(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    total, seed = 0, 1_000_000
    while total < 1_000_000 / len(CORES):
        total += check(netlist(name), seed, 8000)
        seed += 1
    with capsys.disabled():
        sys.stdout.write(f"\n{name}: {total} instructions, seeds 1000000 to {seed - 1}\n")

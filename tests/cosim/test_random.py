"""Random programs retire the same instructions in the same cycles on netlist and simulator."""

from __future__ import annotations

import random

import pytest

from hw.cosim import Netlist, compare
from isa.core import Core
from isa.instruction_set import InstructionSet, load_extension
from tests.cosim.random_program import random_program

CORES = {
    f"{p}-stage{'' if f else ', no forwarding'}": Core(pipeline=p, forwarding=f)
    for p, f in ((5, True), (5, False), (3, True), (3, False), (2, True))
}
LATENCIES = {"aes32esmi": 3, "xperm8": 2, "nmu": 4, "nldl": 2, "rol": 5}
BASE = InstructionSet.of(32, "rv32i")
FULL = InstructionSet.of(
    32, "rv32i", "zbkb", "zbkx", "zkne", "zknd", load_extension("nluv", banks=2)
)


def check(netlist: Netlist, seed: int, length: int) -> int:
    program = random_program(netlist.instructions, seed, length)
    rng = random.Random(seed)
    result = compare(netlist, program, [rng.getrandbits(32) for _ in range(4)])
    assert result.equal, (
        f"seed {seed}, {length} words, {netlist.core}, {netlist.latencies}: {result.difference}"
    )
    return result.instructions


@pytest.mark.parametrize("name", CORES)
def test_base_instructions(name: str) -> None:
    netlist = Netlist(CORES[name], BASE)
    assert sum(check(netlist, seed, 300) for seed in range(2)) > 400


@pytest.mark.parametrize("name", CORES)
def test_units_with_latencies(name: str) -> None:
    netlist = Netlist(CORES[name], FULL, LATENCIES)
    assert sum(check(netlist, seed, 250) for seed in range(10, 12)) > 300


@pytest.mark.parametrize("name", ["5-stage", "2-stage"])
def test_units_that_push_words_and_exchange_their_state(name: str) -> None:
    wide = load_extension("nluv", banks=2, push=32, readback=1)
    netlist = Netlist(CORES[name], BASE + wide, {"nmu": 4, "nxl": 2})
    assert sum(check(netlist, seed, 250) for seed in range(20, 22)) > 300


@pytest.mark.slow
@pytest.mark.parametrize("latencies", [{}, LATENCIES], ids=["single-cycle", "multi-cycle"])
@pytest.mark.parametrize("name", CORES)
def test_hundred_thousand_instructions(name: str, latencies: dict[str, int]) -> None:
    netlist = Netlist(CORES[name], FULL, latencies)
    total, seed = 0, 1000
    while total < 10_000:
        total += check(netlist, seed, 1000)
        seed += 1

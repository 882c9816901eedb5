"""Programs with compressed instructions on the netlist: state and cycles as the model says."""

from __future__ import annotations

import pytest

from hw.cosim import Netlist, compare
from isa.assembler import assemble
from isa.core import Core
from isa.instruction_set import InstructionSet
from tests.cosim.random_program import random_program
from tests.cosim.test_kernels import agrees, target
from tests.cosim.test_random import CORES, LATENCIES, check

BASE = InstructionSet.of(32, "rv32i", "zca")
FULL = InstructionSet.of(32, "rv32i", "zbkb", "zbkx", "zkne", "zknd", "zca")
UNITS = {name: cycles for name, cycles in LATENCIES.items() if name in FULL}


@pytest.mark.parametrize("name", CORES)
def test_base_instructions(name: str) -> None:
    netlist = Netlist(CORES[name], BASE)
    assert sum(check(netlist, seed, 300) for seed in range(3)) > 800


@pytest.mark.parametrize("name", CORES)
def test_units_with_latencies(name: str) -> None:
    netlist = Netlist(CORES[name], FULL, UNITS)
    assert sum(check(netlist, seed, 250) for seed in range(10, 12)) > 400


def test_a_kernel_with_units_of_two_cycles() -> None:
    agrees("aes128-encrypt", "ttable", target(Core(), 1, "zkne", "zca"))


@pytest.mark.slow
@pytest.mark.parametrize("latencies", [{}, UNITS], ids=["single-cycle", "multi-cycle"])
@pytest.mark.parametrize("name", CORES)
def test_fifty_thousand_instructions(name: str, latencies: dict[str, int]) -> None:
    netlist = Netlist(CORES[name], FULL, latencies)
    total, seed = 0, 1000
    while total < 5_000:
        total += check(netlist, seed, 1000)
        seed += 1


def test_random_programs_have_every_compressed_instruction() -> None:
    seen = set()
    for seed in range(20):
        code = random_program(BASE, seed, 400).code
        for i in range(0, len(code), 2):
            halfword = int.from_bytes(code[i : i + 2], "little")
            seen |= {c.name for c in BASE.compressed if halfword & c.mask == c.match}
    assert seen == {c.name for c in BASE.compressed}


NETLISTS: dict[str, Netlist] = {}


@pytest.mark.parametrize("name", CORES)
@pytest.mark.parametrize("before", range(3))
@pytest.mark.parametrize("kinds", ["llll", "cccc", "lclc", "clcl", "llcc", "cllc"])
def test_targets_in_either_half(name: str, before: int, kinds: str) -> None:
    """Sequences of long and short instructions behind a target at any place in a word."""
    made = {"l": "lui t0, 0x800", "c": "addi a0, a0, 1"}
    body = "\n".join(made[k] for k in kinds)
    shift = "\n".join(["nop"] * before)
    program = assemble(
        f"jal ra, kernel\n ebreak\nkernel: {shift}\n li a1, 3\nloop: {body}\n"
        f" addi a1, a1, -1\n lw t1, -4(sp)\n bnez a1, loop\n beqz t1, end\n {body}\nend: {body}\n"
        " ret",
        BASE,
    )
    if name not in NETLISTS:
        NETLISTS[name] = Netlist(CORES[name], BASE)
    result = compare(NETLISTS[name], program)
    assert result.equal, result.difference

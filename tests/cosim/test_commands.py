"""Programs that give commands: the netlist with a co-processor against the model of both."""

from __future__ import annotations

import random

import pytest

from hw.cosim import Netlist, compare
from isa.assembler import assemble
from isa.device import DataMemory
from isa.instruction_set import InstructionSet
from isa.program import DATA_BASE
from tests.cosim.test_random import CORES
from tests.hw.test_slot import SET, Clock


class ClockModel:
    """`Clock` of the test of the slot in plain Python, but for what `get` returns."""

    is_mapped = False

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.free = 0

    def command(
        self, now: int, name: str, a: int, b: int, memory: DataMemory | None
    ) -> tuple[int, int]:
        if name == "set":
            self.free = now + 1 + a % 16
        return {"wait": self.access(now), "get": 3}.get(name, 0), 0

    def access(self, now: int) -> int:
        return max(0, self.free - now)


CHOICES = (
    "cp.set a{i}, 0",
    "cp.wait a{j}",
    "cp.get zero",
    "cp.put a{i}, a{j}",
    "lw a{j}, {offset}(s0)",
    "sw a{i}, {offset}(s0)",
    "add a{j}, a{i}, a{k}",
    "addi a{j}, a{i}, {offset}",
    "sha256sig0 a{j}, a{i}",
)


def random_text(rng: random.Random, count: int) -> str:
    """Straight code with branches over single instructions; s0 points to data."""
    lines = [f"lui s0, {DATA_BASE >> 12}"]
    for number in range(count):
        i, j, k = (rng.randrange(6) for _ in range(3))
        if rng.random() < 0.15:
            lines.append(f"blt a{i}, a{j}, to{number}")
        lines.append(rng.choice(CHOICES).format(i=i, j=j, k=k, offset=4 * rng.randrange(16)))
        lines.append(f"to{number}:")
    return "\n".join([*lines, "ebreak"])


@pytest.mark.parametrize("name", CORES)
def test_netlist_with_a_coprocessor_is_the_model(name: str) -> None:
    netlist = Netlist(CORES[name], SET, {"sha256sig0": 3}, coprocessor=Clock())
    rng = random.Random(name)
    for _ in range(4):
        program = assemble(random_text(rng, 60), SET)
        args = [rng.randrange(64) for _ in range(6)]
        result = compare(netlist, program, args, device=ClockModel())
        assert result.equal, result.difference


def test_a_difference_is_seen() -> None:
    class Late(ClockModel):
        def access(self, now: int) -> int:
            return max(0, self.free - now - 1)

    instructions = InstructionSet.of(32, "rv32i", "xcop")
    netlist = Netlist(CORES["5-stage"], instructions, coprocessor=Clock())
    program = assemble("cp.set a0, 0\ncp.wait a1\nebreak", instructions)
    assert compare(netlist, program, [9], device=ClockModel()).equal
    found = compare(netlist, program, [9], device=Late())
    assert found.difference.startswith("retirement 1 of the netlist must be pc 0x4 (cp.wait a1)")

"""Registers live in executed blocks, counted by hand."""

from __future__ import annotations

import pytest

from isa.assembler import assemble
from isa.isa_string import instruction_set
from isa.liveness import live_registers
from isa.machine import Machine

CASES = {
    # t0 to t2 are read together; s1 is written and never read
    "straight": ("li t0, 1\nli t1, 2\nli t2, 3\nadd s1, t0, t1\nadd a0, s1, t2\nebreak", [3]),
    # around the loop t0 counts and t1 adds up, which nobody reads in the end
    "loop": (
        "li t0, 3\nli t1, 0\nloop: add t1, t1, t0\naddi t0, t0, -1\nbnez t0, loop\nebreak",
        [2, 2, 0],
    ),
    # what a taken branch jumps over reads a1; it was not executed
    "not executed": ("li a1, 1\nbeqz zero, end\nadd a0, a1, a1\nend: ebreak", [0, 0]),
    # s0 stays live across the call, which reads a0 and ra
    "call": (
        "li s0, 5\nli a0, 1\njal ra, twice\nadd a0, a0, s0\nebreak\ntwice: add a0, a0, a0\nret",
        [3, 2, 3],
    ),
    # a host call reads a0, a1, a2 and a7
    "exit": ("li a7, 93\necall\nebreak", [4]),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_most_live_by_block(name: str) -> None:
    text, expected = CASES[name]
    instructions = instruction_set("rv32i")
    run = Machine(instructions, assemble(text, instructions)).run()
    live = live_registers(run, 32)
    assert [live[pc] for pc in sorted(live)] == expected

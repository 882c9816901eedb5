"""Listings: Python files that declare the very same instruction."""

from __future__ import annotations

import pytest

from dse.propose.listing import listing
from isa.instruction import Extension, Instruction
from isa.instruction_set import InstructionSet

SETS = InstructionSet.of(32, "rv32i", "zkne", "zknd", "zbkb", "zbkx", "zknh", "zksed", "zksh", "m")
PURE = [
    i
    for i in SETS.instructions
    if i.effects(32).rd is not None
    and not (i.effects(32).load or i.effects(32).next_pc)
    and "pc" not in i.parameters
]


@pytest.mark.parametrize("instruction", PURE, ids=lambda i: i.name)
def test_executed_it_declares_the_same(instruction: Instruction) -> None:
    renamed = Extension(f"x{instruction.name}", source="a test", xlens=(32,))
    line = " ".join([f"x{instruction.name}", *instruction.line.split()[1:]])
    renamed.declare(line, instruction.meaning, instruction.parameters)
    text = listing(renamed.instructions[0], 32, {}, "what it does, " * 12)
    assert max(map(len, text.splitlines())) <= 100
    scope: dict[str, Extension] = {}
    exec(compile(text, "listing", "exec"), scope)  # our own text
    (again,) = scope["EXTENSION"].instructions
    assert again.effects(32).rd is instruction.effects(32).rd
    assert (again.line, again.source) == (line, "a test")

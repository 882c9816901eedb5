"""Commands and accesses that a co-processor holds in EX, on every pipeline."""

from __future__ import annotations

from itertools import pairwise

import pyrtl
import pytest

from hw.core import build_core, core_block
from hw.slot import Access, Answer, Command, DataPort
from isa.assembler import assemble
from isa.core import Core
from isa.instruction_set import InstructionSet
from isa.program import DATA_BASE
from tests.cosim.test_random import CORES

SET = InstructionSet.of(32, "rv32i", "zknh", "xcop")


class Clock:
    """Is busy for as many cycles as `set` says, behind which `wait` and memory wait.

    `get` counts the words that were read before, and takes 4 cycles.
    """

    def command(self, command: Command) -> Answer:
        self.left = pyrtl.Register(4, "left")
        self.reads, gets = pyrtl.Register(8, "reads"), pyrtl.Register(2, "gets")
        is_set, is_wait, is_get = (command.code == code for code in (0, 3, 4))
        fewer = pyrtl.select(self.left == 0, self.left, (self.left - 1)[:4])
        self.left.next <<= pyrtl.select(command.commit & is_set, command.a[:4], fewer)
        gets.next <<= pyrtl.select(command.valid & is_get, (gets + 1)[:2], pyrtl.Const(0, 2))
        hold = is_wait & (self.left != 0) | is_get & (gets != 3)
        value = pyrtl.select(is_get, self.reads.zero_extended(32), pyrtl.Const(0, 32))
        return Answer(value, hold)

    def access(self, access: Access, memory: DataPort) -> Answer:
        self.reads.next <<= pyrtl.select(access.read, (self.reads + 1)[:8], self.reads)
        answer = memory(access)
        return Answer(answer.value, self.left != 0)


def run(core: Core, body: str) -> tuple[list[int], dict[int, int]]:
    """Cycles between retirements up to that of a closing ebreak, and registers."""
    words = assemble(f"{body}\nebreak", SET).words
    built = build_core(core, SET, {"sha256sig0": 3}, coprocessor=Clock())
    simulation = pyrtl.FastSimulation(
        memory_value_map={
            built.instruction_memory: dict(enumerate(words)),
            built.register_file: {10: 9, 11: 2, 12: DATA_BASE},
            built.data_lanes[0]: {DATA_BASE >> 2: 7},
        },
        tracer=None,
        block=built.block,
    )
    retired: list[int] = []
    for cycle in range(200):
        simulation.step({})
        if simulation.inspect("retire_valid"):
            retired.append(cycle)
            if simulation.inspect("retire_pc") == 4 * len(words) - 4:
                break
    found: dict[int, int] = simulation.inspect_mem(built.register_file)
    return [b - a for a, b in pairwise(retired)], found


@pytest.mark.parametrize("name", CORES)
def test_commands_are_held(name: str) -> None:
    body = "nop\n cp.set a0, 0\n cp.wait a1\n nop\n cp.wait a2\n cp.get a3\n nop"
    cycles, registers = run(CORES[name], body)
    assert cycles == [1, 10, 1, 1, 4, 1, 1]
    assert (registers[11], registers[12], registers[13]) == (0, 0, 0)


@pytest.mark.parametrize("name", CORES)
def test_accesses_are_held_before_their_own_cycles(name: str) -> None:
    load = 2 if CORES[name].pipeline == 2 else 1
    body = "nop\n cp.set a0, 0\n lw a3, 0(a2)\n nop\n nop\n cp.set a0, 0\n sw a0, 4(a2)\n cp.get a4"
    cycles, registers = run(CORES[name], body)
    assert cycles == [1, 9 + load, 1, 1, 1, 10, 4, 1]
    assert (registers[13], registers[14]) == (7, 1)


@pytest.mark.parametrize("name", CORES)
def test_held_and_staying_instructions_alternate(name: str) -> None:
    waits = 1 if CORES[name].pipeline == 3 else 0  # a staying one takes no forwarded operand
    waits = waits if CORES[name].forwarding else (1 if CORES[name].pipeline == 3 else 2)
    body = "nop\n cp.get a3\n sha256sig0 a4, a3\n cp.set a0, 0\n cp.wait zero\n sha256sig0 a5, a0"
    cycles, registers = run(CORES[name], body)
    assert cycles == [4, 3 + waits, 1, 10, 3, 1]
    assert registers[15] == 0x12024001


@pytest.mark.parametrize("name", CORES)
def test_command_on_the_wrong_path_is_not_seen(name: str) -> None:
    body = "beq zero, zero, over\n cp.set a0, 0\n lw a3, 0(a2)\nover: cp.wait a1\n cp.get a3"
    cycles, registers = run(CORES[name], body)
    assert cycles[1:] == [4, 1]
    assert (registers[11], registers[13]) == (0, 0)


def names(block: pyrtl.Block, kind: type) -> set[str]:
    return {w.name for w in block.wirevector_subset(kind)}


def test_area_view_shows_the_port_of_commands() -> None:
    plain = InstructionSet.of(32, "rv32i", "zknh")
    for core in CORES.values():
        without, shown = core_block(core, plain), core_block(core, SET, held=True)
        outputs = names(shown, pyrtl.Output) - names(without, pyrtl.Output)
        assert outputs == {
            *("command_valid", "command_commit", "command_code", "command_a", "command_b"),
            *("dmem_valid", "dmem_read"),
        }
        inputs = names(shown, pyrtl.Input) - names(without, pyrtl.Input)
        assert inputs == {"command_hold", "command_result", "dmem_hold"}


def test_commands_need_a_coprocessor() -> None:
    with pytest.raises(
        ValueError, match=r"with commands must have a co-processor, not none for cp"
    ):
        build_core(Core(), SET)

"""Simulation against PyRTL's own simulator, on random blocks of every operator."""

from __future__ import annotations

import random
from collections.abc import Callable

import pyrtl
import pytest

from hw.cosim import Netlist
from hw.simulation import Simulation
from isa.core import Core
from isa.instruction_set import InstructionSet
from tests.cosim.random_program import random_program

Wire = pyrtl.WireVector
OPERATIONS: list[Callable[[Wire, Wire, Wire], Wire] | str] = [
    "memory",
    "rom",
    "bits",
    "slice",
    "parity",
    lambda a, b, c: a & b,
    lambda a, b, c: a | b,
    lambda a, b, c: a ^ b,
    lambda a, b, c: ~a,
    lambda a, b, c: a.nand(b),
    lambda a, b, c: a + b,
    lambda a, b, c: a - b,
    lambda a, b, c: a * b,
    lambda a, b, c: a < b,
    lambda a, b, c: a > b,
    lambda a, b, c: a == b,
    lambda a, b, c: pyrtl.select(c, a, b),
    lambda a, b, c: pyrtl.concat(a, b, c, c),
    lambda a, b, c: a & c.sign_extended(len(a)),
    lambda a, b, c: c.sign_extended(5),
    lambda a, b, c: pyrtl.xor_all_bits(b),
]


def random_block(seed: int) -> tuple[pyrtl.Block, pyrtl.MemBlock]:
    rng = random.Random(seed)
    with pyrtl.temp_working_block():
        registers = [pyrtl.Register(rng.choice((1, 4, 7, 32)), f"r{i}") for i in range(6)]
        memory = pyrtl.MemBlock(8, 3, "memory", asynchronous=True, max_read_ports=None)
        rom = pyrtl.RomBlock(
            5,
            3,
            romdata=[rng.getrandbits(5) for _ in range(8)],
            name="rom",
            max_read_ports=None,
            asynchronous=True,
        )
        wires: list[pyrtl.WireVector] = [*registers, pyrtl.Const(rng.getrandbits(4), 4)]

        def pick(width: int) -> pyrtl.WireVector:
            wire = rng.choice(wires)
            return wire[:width] if len(wire) >= width else wire.zero_extended(width)

        for _ in range(60):
            width = rng.choice((1, 4, 8))
            a, b, c = pick(width), pick(width), pick(1)
            low = rng.randrange(width)
            bits = [rng.choice(list(a)) for _ in range(rng.randrange(1, 9))]
            operation = rng.choice(OPERATIONS)
            if operation == "memory":
                made = memory[pick(3)]
            elif operation == "rom":
                made = rom[pick(3)]
            elif operation == "bits":
                made = pyrtl.concat_list(bits)
            elif operation == "slice":
                made = a[low:]
            elif operation == "parity":
                made = fold(pick(8))
            else:
                made = operation(a, b, c)
            wires.append(pyrtl.as_wires(made))
        for register in registers:
            wide = pyrtl.concat(rng.choice(wires), rng.choice(wires), pick(8), pick(8), pick(8))
            mixed = wide if len(wide) >= len(register) else wide.zero_extended(len(register))
            register.next <<= mixed[: len(register)] + 1
        memory[pick(3)] <<= pyrtl.MemBlock.EnabledWrite(pick(8), enable=pick(1))
        for name, width in (("bit", 1), ("value", 8)):
            output = pyrtl.Output(width, name)
            output <<= pick(width)
        return pyrtl.working_block(), memory


def fold(x: pyrtl.WireVector) -> pyrtl.WireVector:
    """Parity by folding in halves, as units write it."""
    while len(x) > 1:
        half = len(x) // 2
        x = x[:half] ^ x[half:]
    return x


@pytest.mark.parametrize("seed", range(25))
def test_equals_pyrtl(seed: int) -> None:
    block, memory = random_block(seed)
    contents = {memory: {i: 17 * i % 256 for i in range(8)}}
    reference = pyrtl.FastSimulation(memory_value_map=contents, tracer=None, block=block)
    events = []
    for cycle in range(50):
        reference.step({})
        if reference.inspect("bit"):
            events.append((cycle, reference.inspect("value")))
    trace = Simulation(block, "bit", "value").run(50, [], contents)
    assert trace.events == tuple(events)
    assert trace.registers == {
        r.name: reference.regs[r.name] for r in block.wirevector_subset(pyrtl.Register)
    }
    words = reference.inspect_mem(memory)
    assert list(trace.memories[memory]) == [words.get(i, 0) for i in range(8)]


def test_ends_after_the_cycle_of_a_stop_value() -> None:
    with pyrtl.temp_working_block():
        count = pyrtl.Register(8, "count")
        count.next <<= (count + 3)[:8]
        bit, value = pyrtl.Output(1, "bit"), pyrtl.Output(8, "value")
        bit <<= pyrtl.Const(1, 1)
        value <<= count
        simulation = Simulation(pyrtl.working_block(), "bit", "value")
    trace = simulation.run(100, {6}, {})
    assert trace.events == ((0, 0), (1, 3), (2, 6))
    assert trace.registers == {"count": 9}


def test_block_with_inputs_is_refused() -> None:
    with pyrtl.temp_working_block():
        out = pyrtl.Output(1, "bit")
        out <<= pyrtl.Input(1, "button")
        with pytest.raises(ValueError, match="block must have no inputs, not button"):
            Simulation(pyrtl.working_block(), "bit", "bit")


def test_core_runs_the_same_on_pyrtls_simulator() -> None:
    instructions = InstructionSet.of(32, "rv32i", "nluv")
    netlist = Netlist(Core(), instructions, {"nmu": 2})
    program = random_program(instructions, 5, 200)
    mine = netlist.run(program, [7, 8])
    built = netlist.built
    data = {lane: {} for lane in built.data_lanes}
    for i, byte in enumerate(program.data):
        data[built.data_lanes[i % 4]][0x4000 + i // 4] = byte
    reference = pyrtl.FastSimulation(
        memory_value_map={
            built.instruction_memory: dict(enumerate(program.words)),
            built.register_file: {2: 0x3_0000, 10: 7, 11: 8},
            **data,
        },
        tracer=None,
        block=built.block,
    )
    retired = []
    for cycle in range(mine.retirements[-1][0] + 1):
        reference.step({})
        if reference.inspect("retire_valid"):
            retired.append((cycle, reference.inspect("retire_pc")))
    assert tuple(retired) == mine.retirements
    assert mine.state == {name: reference.regs[r.name] for name, r in built.state.items()}

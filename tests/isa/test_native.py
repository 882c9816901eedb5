from __future__ import annotations

import random

import pytest

from isa.assembler import assemble
from isa.core import PRESETS, Core
from isa.instruction_set import InstructionSet, load_extension
from isa.isa_string import instruction_set
from isa.machine import Machine, SimulationError
from isa.native import NativeMachine
from isa.program import Program
from isa.timing import automaton, clock, price
from tests.cosim.random_program import random_program
from tests.isa.test_machine import BASE, FULL, FULL64, STUB

pytest.importorskip("llvmlite", reason="llvmlite is absent")

SETS = {
    "rv32": FULL,
    "rv64": FULL64,
    "rv32c": instruction_set("rv32imc_zbb_zbc"),
    "rv64c": instruction_set("rv64imc_zbb"),
    "nluv": InstructionSet.of(32, "rv32i", load_extension("nluv", banks=2)),
}
CORES = {"5": Core(), "3": Core(pipeline=3), "2": Core(pipeline=2), "icicle": PRESETS["icicle"]}


def native(body: str, instructions: InstructionSet = BASE) -> NativeMachine:
    return NativeMachine(instructions, assemble(f"{STUB}{body}\n", instructions))


def check(instructions: InstructionSet, seed: int, length: int, core: Core) -> None:
    """Both tiers agree in everything that a run says, and in its cycles."""
    program = random_program(instructions, seed, length)
    args = [random.Random(seed).getrandbits(64) for _ in range(4)]
    slow = Machine(instructions, program).run(args)
    fast = NativeMachine(instructions, program, automaton(core)).run(args)
    assert fast.registers == slow.registers
    assert fast.state == slow.state
    assert fast.memory == slow.memory
    assert fast.instructions == slow.instructions
    assert fast.kernel_instructions == slow.kernel_instructions
    assert fast.counts == slow.counts
    assert fast.executions == slow.executions
    assert fast.cycles == price(slow.blocks, slow.trace, core)
    assert fast.kernel_cycles == price(slow.blocks, slow.trace, core, entry=program.entry)


PAIRS = [(s, c) for s in SETS for c in CORES if not (c == "icicle" and s.endswith("c"))]


@pytest.mark.parametrize(("name", "core"), PAIRS)
def test_native_code_does_what_translated_python_does(name: str, core: str) -> None:
    check(SETS[name], list(CORES).index(core), 150, CORES[core])


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("seed", range(100, 104))
def test_many_programs_agree(name: str, seed: int) -> None:
    check(SETS[name], seed, 150 if name == "nluv" else 500, list(CORES.values())[seed % 3])


@pytest.mark.parametrize(
    ("body", "address", "pc"),
    [
        ("lw t0, 0(a0)", 0x1_0002, 8),
        ("lh t0, 1(a0)", 0x1_0002, 8),
        ("lw t0, 4(a0)\n lw t1, 6(a0)", 0x1_0000, 12),
        ("lw t0, 0(a0)\n lw t1, 4(a0)", 0x2_FFFC, 12),
        ("lw t1, 4(a0)\n lw t0, 0(a0)\n lw t0, 0(sp)", 0x2_FFFC, 8),
        ("lb t0, 0(a0)\n lw t0, 1(a0)\n lw t0, 0(sp)", 0x1_0003, 16),
        ("lh t0, 3(a0)\n lw t0, 0(a0)", 0x1_0000, 8),
        ("lw t0, 0(a0)\n addi a0, a0, 4\n sw t0, 0(a0)", 0x2_FFFC, 16),
        ("sw a0, -4(sp)\n lw t0, -4(sp)\n lw t1, 0(t0)\n lw t2, 0(sp)", 0x1_0001, 16),
        ("sb t0, 0(a0)", 0xFFFF, 8),
        ("sw t0, 0(a0)", 0x3_0000, 8),
        ("lw t0, -4(a0)", 0, 8),
        ("lbu t0, 0(zero)", 0, 8),
        ("jalr zero, 2(a0)", 0x100, 0x102),
        ("nop\n nop", 0, 0x10),
        (".word 0xffffffff", 0, 8),
        ("beq a0, a0, skip\n nop\nskip: .word 0", 0, 16),
    ],
)
def test_faults_are_those_of_the_machine(body: str, address: int, pc: int) -> None:
    m = native(body)
    with pytest.raises(SimulationError, match="must") as expected:
        m.machine.run([address])
    with pytest.raises(SimulationError, match="must") as caught:
        m.run([address])
    assert str(caught.value) == str(expected.value)
    assert caught.value.pc == expected.value.pc == pc


def test_endless_loops_end_at_the_limit() -> None:
    with pytest.raises(SimulationError, match="run must end within 5000 instructions, not go on"):
        native("j kernel").run(limit=5000)
    with pytest.raises(SimulationError, match="run must end within 9000 instructions, not go on"):
        native("auipc t0, 0\n jalr zero, 0(t0)").run(limit=9000)
    m = native("nop\n nop\n ret")
    assert m.run(limit=5).instructions == 5
    with pytest.raises(SimulationError, match="run must end within 4 instructions, not go on at"):
        m.run(limit=4)


def test_runs_start_from_the_same_memory() -> None:
    m = native("lw t0, 0(a0)\n addi t0, t0, 1\n sw t0, 0(a0)\n mv a0, t0\n ret")
    assert [m.run([0x1_0000]).registers[10] for _ in range(2)] == [1, 1]
    assert m.run([0x1_0000], {0x1_0000: b"\x08"}).read(0x1_0000, 4) == b"\x09\0\0\0"


def test_computed_jumps_to_new_addresses_are_translated_on_the_way() -> None:
    body = "auipc t0, 0\n jalr t1, 16(t0)\n .word 0\n .word 0\n addi a0, t1, 1\n ret"
    run = native(body).run()
    assert run.registers[10] == 17
    assert run.counts == {"addi": 1, "auipc": 1, "ebreak": 1, "jal": 1, "jalr": 2}


def test_host_calls_and_counters() -> None:
    write = "li a7, 64\n mv a2, a1\n mv a1, a0\n ecall\n li a7, 93\n li a0, 7\n ecall"
    run = native(write).run([0x1_0000, 5], {0x1_0000: b"hello"})
    assert (run.output, run.exit_code, run.instructions) == (b"hello", 7, 8)
    csr = InstructionSet.of(32, "rv32i", "zicsr")
    text = f"{STUB}nop\n .word 0xc0202573\n .word 0xc00025f3\n ret"  # rdinstret, rdcycle
    program = assemble(text, csr)
    expected = Machine(csr, program).run(clock=clock(Core())).registers[10:12]
    timed = NativeMachine(csr, program, automaton(Core())).run()
    assert timed.registers[10:12] == expected == (2, 6)
    with pytest.raises(SimulationError, match="cycle must be read in a run with a clock"):
        NativeMachine(csr, program).run()


def test_a_program_may_stand_anywhere() -> None:
    base = assemble("sw a0, -4(sp)\n lw a1, -4(sp)\n auipc a2, 0\n ebreak", BASE)
    moved = Program(
        base.words,
        text_base=0x8000_0000,
        start=0x8000_0000,
        data_base=0xFFFF_0000,
        memory_bytes=0x1_0000,
    )
    for machine in (Machine(BASE, moved), NativeMachine(BASE, moved)):
        run = machine.run([5])
        assert run.registers[11:13] == (5, 0x8000_0008)
        assert run.read(0xFFFF_FFFC, 4) == b"\5\0\0\0"

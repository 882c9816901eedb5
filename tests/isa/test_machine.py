from __future__ import annotations

import random

import pytest

from isa.assembler import assemble
from isa.instruction_set import InstructionSet, load_extension
from isa.machine import Machine, SimulationError
from isa.program import Program
from isa.timing import Core, clock
from tests.cosim.random_program import random_program
from tests.isa.reference import Reference

BASE = InstructionSet.of(32, "rv32i")
FULL = InstructionSet.of(
    32, "rv32i", "m", "zbb", "zbs", "zbkb", "zbkx", "zkne", "zknd", "zknh", "zksed",
    load_extension("nluv", banks=4),
)  # fmt: skip
FULL64 = InstructionSet.of(
    64, "rv64i", "m", "zba", "zbb", "zbc", "zbs", "zbkb", "zbkx", "zkne", "zknd", "zknh"
)
STUB = "_start: jal ra, kernel\n ebreak\nkernel:\n"


def machine(body: str, instructions: InstructionSet = BASE) -> Machine:
    return Machine(instructions, assemble(f"{STUB}{body}\n", instructions))


@pytest.mark.parametrize("instructions", [FULL, FULL64], ids=["rv32", "rv64"])
@pytest.mark.parametrize("seed", range(4))
def test_translated_blocks_do_what_the_meanings_say(
    seed: int, instructions: InstructionSet
) -> None:
    program = random_program(instructions, seed, 400)
    args = [random.Random(seed).getrandbits(64) for _ in range(4)]
    run = Machine(instructions, program).run(args)
    reference = Reference(instructions, program).run(args)
    assert run.registers == tuple(reference.registers)
    assert run.state == reference.state
    assert run.memory == bytes(reference.memory)
    assert run.instructions == reference.executed


@pytest.mark.slow
@pytest.mark.parametrize("instructions", [FULL, FULL64], ids=["rv32", "rv64"])
@pytest.mark.parametrize("seed", range(100, 120))
def test_many_programs_do_what_the_meanings_say(seed: int, instructions: InstructionSet) -> None:
    test_translated_blocks_do_what_the_meanings_say(seed, instructions)


def test_every_state_element_starts_as_given() -> None:
    nluv = InstructionSet.of(32, "rv32i", "nluv")
    run = machine("nmu a0, a1\n ret", nluv).run([0, 1], state={"lrg0": 1 << 31 | 1 << 1023})
    assert run.registers[10] == 0
    run = machine("nmu a0, a1\n ret", nluv).run([0, 1], state={"lrg0": 1 << 992})
    assert run.registers[10] == 0x8000_0000


def test_counts_from_entry_to_return_inclusive() -> None:
    run = machine("li t0, 3\nloop: addi t0, t0, -1\n bnez t0, loop\n ret").run()
    assert run.kernel_instructions == 8
    assert run.instructions == 10
    assert run.counts == {"addi": 4, "bne": 3, "ebreak": 1, "jal": 1, "jalr": 1}
    assert run.executions[12] == 3


def test_runs_start_from_the_same_memory() -> None:
    m = machine("lw t0, 0(a0)\n addi t0, t0, 1\n sw t0, 0(a0)\n mv a0, t0\n ret")
    assert [m.run([0x1_0000]).registers[10] for _ in range(2)] == [1, 1]
    assert m.run([0x1_0000], {0x1_0000: b"\x08"}).read(0x1_0000, 4) == b"\x09\0\0\0"


@pytest.mark.parametrize(
    ("body", "address", "message"),
    [
        ("lw t0, 0(a0)", 0x1_0002, "address must be a multiple of 4, not 0x10002, at pc 0x8: lw"),
        ("lh t0, 1(a0)", 0x1_0002, "address must be a multiple of 2, not 0x10003, at pc 0x8: lh"),
        ("lw t0, 4(a0)\n lw t1, 6(a0)", 0x1_0000, "multiple of 4, not 0x10006, at pc 0xc: lw t1"),
        ("sb t0, 0(a0)", 0xFFFF, "address must lie in data memory, 0x10000 to 0x2ffff, not 0xffff"),
        ("sw t0, 0(a0)", 0x3_0000, "data memory, 0x10000 to 0x2fffc, not 0x30000, at pc 0x8: sw"),
        ("lw t0, -4(a0)", 0, "0x10000 to 0x2fffc, not 0xfffffffc, at pc 0x8: lw t0, -4"),
        ("lbu t0, 0(zero)", 0, "0x10000 to 0x2ffff, not 0x0, at pc 0x8: lbu t0, 0"),
        ("jalr zero, 2(a0)", 0x100, "pc must be a multiple of 4 in 0x0 to 0x8, not 0x102"),
        ("nop\n nop", 0, "pc must be a multiple of 4 in 0x0 to 0xc, not 0x10"),
        (".word 0xffffffff", 0, "word at pc 0x8 must be an instruction of the set, not 0xffffffff"),
        ("j kernel", 0, "run must end within 5000 instructions, not go on at pc 0x8: jal"),
    ],
)
def test_faults_name_pc_and_instruction(body: str, address: int, message: str) -> None:
    m = machine(body)
    with pytest.raises(SimulationError, match=message) as caught:
        m.run([address], limit=5000)
    with pytest.raises(SimulationError, match=message):
        m.run_tracked([address], limit=5000)
    assert caught.value.pc in (8, 12, 0x10, 0x102)


def test_limit_is_exact() -> None:
    m = machine("nop\n nop\n ret")
    assert m.run(limit=5).instructions == 5
    with pytest.raises(SimulationError, match="run must end within 4 instructions, not go on at"):
        m.run(limit=4)


def test_code_that_is_not_reached_may_be_anything() -> None:
    assert machine("beq zero, zero, over\n .word 0\nover: ret").run().instructions == 4


def test_computed_jumps_translate_their_targets() -> None:
    run = machine("auipc t0, 0\n jalr t1, 16(t0)\n .word 0\n .word 0\n mv a0, t1\n ret").run()
    assert run.registers[10] == 16


def test_host_calls() -> None:
    write = "li a7, 64\n mv a2, a1\n mv a1, a0\n ecall\n li a7, 93\n li a0, 7\n ecall"
    run = machine(write).run([0x1_0000, 5], {0x1_0000: b"hello"})
    assert (run.output, run.exit_code) == (b"hello", 7)
    with pytest.raises(SimulationError, match=r"a7 of an ecall must be 93 \(exit\) or 64"):
        machine("ecall").run()
    with pytest.raises(SimulationError, match="must lie in data memory, not at 0x0, at pc 0xc: ec"):
        machine("li a7, 64\n ecall").run()


def test_counters() -> None:
    csr = InstructionSet.of(32, "rv32i", "zicsr")
    m = machine("nop\n .word 0xc0202573\n .word 0xc00025f3\n ret", csr)  # rdinstret, rdcycle
    assert m.run(clock=clock(Core())).registers[10:12] == (2, 6)
    with pytest.raises(SimulationError, match="cycle must be read in a run with a clock"):
        m.run()
    with pytest.raises(SimulationError, match="a counter must be read, not written, at pc 0x8"):
        machine(".word 0xc0201573\n ret", csr).run()


def test_code_must_not_change() -> None:
    words = assemble("sw a0, 0(zero)\n ebreak", BASE).words
    code = b"".join(w.to_bytes(4, "little") for w in words)
    m = Machine(BASE, Program(words, code, data_base=0))
    assert m.run([words[0]]).registers[10] == words[0]
    with pytest.raises(SimulationError, match="code must stay as it is, not change at 0x0: sw a0"):
        m.run([5])


def test_bad_buffers_are_refused() -> None:
    m = machine("ret")
    with pytest.raises(ValueError, match="buffer must lie in data memory, 0x10000 to 0x30000"):
        m.run([], {0x2_FFFF: b"ab"})
    with pytest.raises(ValueError, match="arguments must be at most 8, not 9"):
        m.run([0] * 9)
    with pytest.raises(ValueError, match="data of the program must fit 131072 bytes"):
        Machine(BASE, Program((0x100073,), bytes(0x20001)))
    with pytest.raises(ValueError, match="address must lie in 0x10000 to 0x2fffc, not 0x0"):
        m.run().read(0, 4)

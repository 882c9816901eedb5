"""Constants, layout of tables, waits of cores, stack slots and the rest around the passes."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from isa.bits import Bits, concat, const, evaluate, lookup
from isa.compiler import compile_kernel
from isa.compiler.allocate import Line, _share_slots
from isa.compiler.compile import repertoire_of
from isa.compiler.constants import Constants, Step
from isa.compiler.layout import Layout
from isa.compiler.operations import Loop, Region
from isa.compiler.repertoire import Repertoire
from isa.compiler.waits import Waits
from isa.core import Core
from isa.instruction import Extension
from isa.instruction_set import InstructionSet
from isa.kernel import Builder, Index, KernelError, UnsupportedKernel
from isa.machine import DATA_END, Machine
from isa.program import DATA_BASE
from isa.table import Table
from isa.timing import automaton
from isa.translate import Placed
from tests.isa.compiler import kernels
from tests.isa.compiler.interpreter import Interpreter

RV32I = InstructionSet.of(32, "rv32i")
ROOT = Path(__file__).parents[3]


EDGES = [0x7FF, 0x800, 0xFFFFF800, 0xFFFFF7FF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x12345800]


@pytest.mark.parametrize(("xlen", "most"), [(32, 2), (64, 8)])
def test_every_constant_is_made_in_few_steps(xlen, most):
    instructions = InstructionSet.of(xlen, f"rv{xlen}i")
    constants = Constants(repertoire_of(instructions), {})
    rng = random.Random(1)
    values = EDGES + [rng.getrandbits(rng.randrange(1, xlen + 1)) for _ in range(300)]
    values += [1 << i for i in range(xlen)] + [(1 << xlen) - (1 << i) for i in range(xlen)]
    for value in values:
        steps = constants.steps(value)
        assert steps is not None
        assert 1 <= len(steps) <= most
        register = 0
        for step in steps:
            register = executed(step, register, xlen)
        assert register == value


def executed(step: Step, register: int, xlen: int) -> int:
    instruction = step.pattern.instruction
    widths = {i.name: i.width for i in instruction.encoding.immediates}
    environment = dict(step.pattern.fixed)
    if step.field is not None:
        assert step.pattern.immediate is not None
        environment[step.pattern.immediate.name] = step.field
    assert all(0 <= environment[n] < 1 << w for n, w in widths.items())
    environment |= {n: register if n == step.source else 0 for n in instruction.sources}
    rd = instruction.effects(xlen).rd
    assert rd is not None
    return evaluate(rd, environment)


def table(name: str, width: int, size: int) -> Table:
    return Table(name, width, tuple(range(size)))


def test_tables_in_reach_share_a_base():
    tables = [table("a", 32, 256), table("b", 8, 256), table("c", 32, 256), table("d", 32, 256)]
    layout = Layout([*tables, table("e", 32, 1024), table("f", 16, 4)])
    for t in (*tables, table("f", 16, 4)):
        layout.use(t)
    image, places, bases = layout.place()
    assert len({layout.anchors[t.name] for t in tables}) == 1
    assert len(image) == 3 * 1024 + 256 + 8
    for t in tables:
        assert -2048 <= places[t.name] - bases[layout.anchors[t.name]] < 2048
        start = places[t.name] - DATA_BASE
        size = t.width // 8
        for i in (0, 1, 200):
            entry = image[start + size * i : start + size * (i + 1)]
            assert int.from_bytes(entry, "little") == t.entries[i]


def test_nothing_used_is_nothing_placed():
    assert Layout([table("a", 32, 256)]).place()[0] == b""


def test_what_would_not_be_reached_gets_another_base():
    tables = [table("a", 32, 1024), table("b", 32, 1024), table("c", 32, 1024)]
    layout = Layout(tables)
    for t in tables:
        layout.use(t)
    _, places, bases = layout.place()
    for t in tables:
        assert -2048 <= places[t.name] - bases[layout.anchors[t.name]] < 2048


@pytest.mark.parametrize("pipeline", [2, 3, 5])
@pytest.mark.parametrize("forwarding", [True, False])
def test_waits_are_those_of_the_timing_model(pipeline, forwarding):
    core = Core(pipeline=pipeline, forwarding=forwarding).canonical()
    by_name = RV32I.by_name
    rules = automaton(core, {})

    def cycles(producer: str, between: int, *, dependent: bool) -> int:
        reads = 5 if dependent else 6
        words = [by_name[producer].encode(rd=5, rs1=10, imm12=0)]
        words += [by_name["addi"].encode(rd=7, rs1=0, imm12=1)] * between
        words += [by_name["addi"].encode(rd=8, rs1=reads, imm12=1)]
        state, total = rules.start, 0
        for i, word in enumerate(words):
            decoded = RV32I.decode(word)
            assert decoded is not None
            instruction, fields = decoded
            reads = tuple(fields[r] for r in instruction.sources)
            placed = Placed(4 * i, instruction, fields, reads, fields["rd"])
            took, state = rules.step(state, placed, taken=False)
            total += took
        return total

    def wait(producer: str) -> int:
        return next(
            n
            for n in range(5)
            if cycles(producer, n, dependent=True) == cycles(producer, n, dependent=False)
        )

    assert Waits.of(core) == Waits(wait("lw"), wait("addi"))


def test_slots_never_in_use_at_once_share_a_place():
    loop = Loop("i", 2, Region(1, 2.0), 0)
    lines = [
        Line("spill", slot=0),
        Line("reload", slot=0),
        Line("spill", slot=1),  # read in the loop: in use to its end
        Line("label", loop=loop),
        Line("spill", slot=2),
        Line("reload", slot=1),
        Line("reload", slot=2),
        Line("spill", slot=3),
        Line("reload", slot=3),
        Line("branch", loop=loop),
        Line("spill", slot=4),
    ]
    assert _share_slots(lines) == 2
    assert [line.slot for line in lines] == [0, 0, 0, -1, 1, 0, 1, 1, 1, -1, 0]


def test_programs_do_not_depend_on_the_hash_seed():
    code = (
        "from isa.compiler import compile_kernel;"
        "from isa.instruction_set import InstructionSet;"
        "from tests.isa.compiler import kernels, test_random_kernels as t;"
        "s = InstructionSet.of(32, 'rv32i', 'zbkb');"
        "r = [t.RandomKernel(i, 9, 20) for i in (1, 2)];"
        "k = [kernels.aes_bytes, kernels.aes_t_tables, *r];"
        "print([compile_kernel(b, s, unroll=u).digest for b in k for u in (1, 2)])"
    )
    found = set()
    for seed in ("0", "1", "77"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, env=environment, check=True, cwd=ROOT
        )
        found.add(run.stdout)
    assert len(found) == 1


def test_a_loop_too_long_for_a_branch_is_closed_by_a_jump():
    def build(k: Builder) -> None:
        a = k.pointer("a")

        def body(i: Index, x: Bits) -> Bits:
            for step in range(1100):
                x = (x ^ step) + k.load(a, 4 * i)
            return x

        k.store(a, 0, k.loop(3, body, k.load(a))[0])

    program = compile_kernel(build, RV32I)
    run = Interpreter(program, RV32I)
    words = [random.Random(1).getrandbits(32) for _ in range(3)]
    run.write(0x20000, b"".join(w.to_bytes(4, "little") for w in words))
    run.run([0x20000])
    x = words[0]
    for w in words:
        for step in range(1100):
            x = (x ^ step) + w & 0xFFFFFFFF
    assert int.from_bytes(run.read(0x20000, 4), "little") == x
    assert run.mnemonics.count("bne") == 0
    assert run.mnemonics.count("beq") == 3


def test_offsets_beyond_the_immediate_get_a_base_of_their_own():
    def build(k: Builder) -> None:
        a = k.pointer("a")
        total = const(0, 32)
        for offset in (0, 2044, 2048, 4000, 9000):
            total = total + k.load(a, offset)
        k.store(a, 12000, total)

    run = Interpreter(compile_kernel(build, RV32I), RV32I)
    run.write(0x20000, bytes(16384))
    for offset in (0, 2044, 2048, 4000, 9000):
        run.write(0x20000 + offset, offset.to_bytes(4, "little"))
    run.run([0x20000])
    assert int.from_bytes(run.read(0x20000 + 12000, 4), "little") == 2044 + 2048 + 4000 + 9000


def test_values_of_two_registers_are_carried_and_added():
    """Fibonacci numbers beyond 32 bits."""

    def build(k: Builder) -> None:
        a = k.pointer("a")
        _, y = k.loop(80, lambda i, x, y: (y, x + y), const(0, 64), const(1, 64))
        k.store(a, 0, y.slice(0, 32))
        k.store(a, 4, y.slice(32, 32))

    x, y = 0, 1
    for _ in range(80):
        x, y = y, x + y
    for unroll in (1, 2, "full"):
        run = Interpreter(compile_kernel(build, RV32I, unroll=unroll), RV32I)
        run.write(0x20000, bytes(8))
        run.run([0x20000])
        assert int.from_bytes(run.read(0x20000, 8), "little") == y


def test_a_table_of_64_bit_entries_is_read_in_two_loads():
    wide = Table("wide", 64, tuple(0x0123456789ABCDEF * (i + 1) % 2**64 for i in range(16)))

    def build(k: Builder) -> None:
        a = k.pointer("a")
        entry = lookup(wide, k.load(a).slice(4, 4))
        k.store(a, 0, entry.slice(0, 32))
        k.store(a, 4, entry.slice(32, 32))

    run = Interpreter(compile_kernel(build, RV32I), RV32I)
    run.write(0x20000, bytes([0xB7, 0, 0, 0, 0, 0, 0, 0]))
    run.run([0x20000])
    assert int.from_bytes(run.read(0x20000, 8), "little") == wide.entries[11]


def test_loops_cost_two_instructions_an_iteration():
    def build(k: Builder) -> None:
        a = k.pointer("a")
        k.loop(10, lambda i: k.store(a, 4 * i, const(0, 32)))

    run = Interpreter(compile_kernel(build, RV32I), RV32I)
    assert run.run([0x20000]) == 1 + 10 * 3 + 1  # end address, store and step and branch, return


def test_the_report_tells_spills_and_stack():
    def build(k: Builder) -> None:
        a = k.pointer("a")
        values = [k.load(a, 4 * i) for i in range(40)]
        total = const(0, 32)
        for i, v in enumerate(values):
            total = (total ^ v).rotr(1) + i
        for i, v in enumerate(reversed(values)):
            k.store(a, 4 * i, (v ^ total).rotr(3) + total)

    program = compile_kernel(build, RV32I)
    assert program.report["spills"] > 0
    assert program.report["pressure"] > 28
    assert program.report["saved_registers"] == 13
    assert program.stack_bytes == program.report["stack_bytes"] >= 4 * 13
    run = Interpreter(program, RV32I)
    data = random.Random(4).randbytes(160)
    run.write(0x20000, data)
    run.run([0x20000])
    words = [int.from_bytes(data[i : i + 4], "little") for i in range(0, 160, 4)]
    total = 0
    for i, v in enumerate(words):
        x = total ^ v
        total = ((x >> 1 | x << 31) + i) & 0xFFFFFFFF
    for i, v in enumerate(reversed(words)):
        x = v ^ total
        expected = ((x >> 3 | x << 29) + total) & 0xFFFFFFFF
        assert int.from_bytes(run.read(0x20000 + 4 * i, 4), "little") == expected


def test_comments_and_symbols_explain_the_code():
    program = compile_kernel(kernels.aes_t_tables, RV32I)
    assert program.symbols["kernel"] == 8
    assert program.symbols["loop0"] > 8
    texts = " ".join(program.comments.values())
    assert "round_keys[16 i" in texts
    assert "T0[" in texts


def without(*names: str) -> InstructionSet:
    kept = [i for i in RV32I.instructions if i.name not in names]
    return InstructionSet.of(32, *kept)


def counted(k: Builder) -> None:
    a = k.pointer("a")
    k.loop(3, lambda i: k.store(a, 4 * i, const(1, 32)))


@pytest.mark.parametrize(
    ("build", "missing", "message"),
    [
        (counted, ("bne",), r"^the instruction set must have a branch if not equal"),
        (counted, ("sw",), r"^the instruction set must have a store of 32 bits"),
        (kernels.aes_t_tables, ("lw",), r"^the instruction set must have a load of 32 bits"),
        (kernels.aes_t_tables, ("lbu", "lb"), r"^kernel needs lookup in aes_sbox of 32 bits"),
        (counted, ("jalr",), r"^the instruction set must have a jump to a register"),
        (counted, ("ebreak",), r"^the instruction set must have a call and a stop"),
    ],
)
def test_sets_that_lack_what_every_kernel_needs(build, missing, message):
    with pytest.raises(UnsupportedKernel, match=message):
        compile_kernel(build, without(*missing))


def test_a_frame_beyond_the_reach_of_offsets_is_addressed():
    """Buffers near sp and far from it, at constant places and by counters, all distinct."""

    def build(k: Builder) -> None:
        a, near = k.pointer("a"), k.scratch("near", 8)
        far = [k.scratch("far", 4096), k.scratch("farther", 8192)]
        k.store(near, 4, k.load(a, 0))
        for number, buffer in enumerate(far):
            k.store(buffer, 4092, k.load(a, 4) + number)
            k.loop(4, lambda i, b=buffer: (k.store(b, 2000 + 4 * i, k.load(a, 4 * i)), ())[1])
        k.store(a, 16, k.load(near, 4))
        for number, buffer in enumerate(far):
            k.store(a, 20 + 4 * number, k.load(buffer, 4092))
            k.store(a, 28 + 4 * number, k.load(buffer, 2012))

    program = compile_kernel(build, RV32I)
    assert program.stack_bytes == 8 + 4096 + 8192 + 8
    words = [3, 50, 700, 9000]
    memory = {DATA_BASE: b"".join(w.to_bytes(4, "little") for w in words)}
    run = Machine(RV32I, program).run([DATA_BASE], memory)
    found = run.read(DATA_BASE + 16, 20)
    assert [int.from_bytes(found[i : i + 4], "little") for i in range(0, 20, 4)] == [
        *(3, 50, 51, 9000, 9000),
    ]
    assert run.registers[2] == DATA_END


def test_a_value_of_a_loop_used_outside_is_refused():
    def build(k: Builder) -> None:
        leaked: list[Bits] = []
        k.loop(3, lambda i, x: (leaked.append(x + 1), x)[1:], k.word("x"))
        k.store(k.pointer("a"), 0, leaked[0])

    with pytest.raises(
        KernelError, match=r"^carried\.\d+ \+ 0x1 must be used inside the loop that"
    ):
        compile_kernel(build, RV32I)


def test_patterns_of_an_instruction_are_derived_without_its_name():
    renamed = Extension("renamed", source="this test", xlens=(32,))
    for i in RV32I.instructions:
        line = i.line.replace(i.name, f"x{i.name}", 1)
        renamed.declare(line, i.meaning, i.parameters)
    instructions = InstructionSet.of(32, renamed)
    assert Repertoire(instructions).branch_different is not None
    program = compile_kernel(kernels.aes_t_tables, instructions)
    assert program.words == compile_kernel(kernels.aes_t_tables, RV32I).words


def test_kernel_words_may_be_narrow():
    def build(k: Builder) -> None:
        a = k.pointer("a")
        x = k.load(a, 0, 8).slice(0, 8)
        y = k.load(a, 1, 8, signed=True)
        k.store(a, 2, concat(x.slice(0, 4), x.slice(4, 4)))
        k.store(a, 4, y + 1)

    run = Interpreter(compile_kernel(build, RV32I), RV32I)
    run.write(0x20000, bytes([0xA7, 0xFE, 0, 0, 0, 0, 0, 0]))
    run.run([0x20000])
    assert run.read(0x20000, 8) == bytes([0xA7, 0xFE, 0x7A, 0, 0xFF, 0xFF, 0xFF, 0xFF])

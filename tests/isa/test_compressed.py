"""Programs with compressed instructions: assembled, read back, executed, timed."""

from __future__ import annotations

import random

import pytest

from isa.assembler import AssemblyError, assemble
from isa.bits import arguments, evaluate
from isa.compressed import Compressed
from isa.disassembler import disassemble
from isa.encoding import EncodingError
from isa.instruction import Extension
from isa.instruction_set import InstructionSet, load_extension
from isa.isa_string import parse
from isa.machine import Machine, SimulationError
from isa.program import Program, walk
from isa.timing import PRESETS, Core, price
from tests.cosim.random_program import random_program
from tests.isa.reference import Reference

SET = InstructionSet.of(32, "rv32i", "zca")
SETS = {32: SET, 64: InstructionSet.of(64, "rv64i", "zca")}
STUB = "_start: jal ra, kernel\n ebreak\nkernel:\n"
CORES = {
    "5": Core(),
    "5n": Core(forwarding=False),
    "3": Core(pipeline=3),
    "3n": Core(pipeline=3, forwarding=False),
    "2": Core(pipeline=2),
}


def sizes(program: Program, instructions: InstructionSet = SET) -> list[int]:
    return [instructions.size(word) for _, word in walk(program, instructions)]


@pytest.mark.parametrize("xlen", [32, 64])
def test_forms_of_one_encoding_do_the_same(xlen: int) -> None:
    named = SETS[xlen].by_name
    rng = random.Random(xlen)
    for c in load_extension("zca").compressed:
        for form in c.forms[1:] if xlen in c.xlens else ():
            for _ in range(200):
                registers = [0, *(rng.getrandbits(xlen) for _ in range(31))]
                numbers = {"rs1": rng.randrange(32), "rs2": rng.randrange(32)}
                results = []
                for f in (c.forms[0], form):
                    given = {k: v for k, v in f.given if isinstance(v, str)}
                    own = {o for r in c.registers for o in r.operands}
                    operands = dict.fromkeys(("imm12", "imm20", "bimm12", "pc"), 0)
                    for r in named[f.name].sources:
                        source = given.get(r, r if r in own and r not in dict(f.given) else None)
                        operands[r] = registers[numbers[source]] if source else 0
                    effects = named[f.name].effects(xlen)
                    found = effects.rd if effects.rd is not None else effects.next_pc.condition
                    results.append(evaluate(found, operands))
                assert results[0] == results[1], (c.name, form)


@pytest.mark.parametrize("xlen", [32, 64])
def test_what_writes_a_register_reads_pc_to_link_alone(xlen: int) -> None:
    """So that `Placed.body_pc` may stand for the address after the instruction."""
    for c in SETS[xlen].compressed:
        effects = SETS[xlen].by_name[c.expansion].effects(xlen)
        read = [v for v in effects.values() if any(a.attr == "pc" for a in arguments([v]))]
        if effects.next_pc is None:
            assert read == [], c.name
        elif effects.rd is not None:
            rd = effects.rd
            assert [evaluate(rd, {"pc": pc}) for pc in (0, 6)] == [4, 10], c.name


def test_assembler_compresses_what_fits() -> None:
    program = assemble("mv a0, s11\n xor a0, a0, a1\n xor a0, a1, a0\n xor t0, t0, a1\n ret", SET)
    assert sizes(program) == [2, 2, 2, 4, 2]
    assert (program.code_bytes, program.padding_bytes, len(program.words)) == (12, 0, 3)
    assert assemble("nop\n lui a0, 1\n nop", SET).padding_bytes == 2
    assert Program.from_json(assemble("nop", SET).to_json()) == assemble("nop", SET)


def test_sets_without_zca_are_as_before() -> None:
    base = InstructionSet.of(32, "rv32i")
    assert assemble("nop\n .word 1\n mv a0, a1", base).words == (0x13, 1, 0x58513)


def test_option_keeps_instructions_long() -> None:
    program = assemble(".option norvc\n nop\n .option rvc\n nop\n .half 1\n .word 1", SET)
    assert program.code.hex() == "130000000100010001000000"


@pytest.mark.parametrize("distance", range(246, 262, 2))
def test_branches_grow_where_they_must(distance: int) -> None:
    """c.beqz reaches -256 to 254, c.j -2048 to 2046 bytes (the manual, section 27.4)."""
    count = distance // 2
    body = "\n".join(["nop"] * count)
    ahead = assemble(f"beqz a0, end\n{body}\nend: nop", SET)
    assert sizes(ahead)[0] == (2 if distance + 2 <= 254 else 4)
    back = assemble(f"top: {body}\n beqz a0, top", SET)
    assert sizes(back)[-1] == (2 if distance <= 256 else 4)
    for program in (ahead, back):
        assert assemble(disassemble(program, SET), SET).words == program.words
    far = "\n".join(["nop"] * (count + 896))
    assert sizes(assemble(f"j end\n{far}\nend: nop", SET))[0] == (2 if distance <= 252 else 4)


def test_growing_one_may_grow_another() -> None:
    middle = "\n".join(["nop"] * 125)
    program = assemble(f"beqz a0, a\n beqz a1, b\n{middle}\na: nop\n nop\nb: nop", SET)
    found = sizes(program)
    assert found[:2] == [4, 4]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (".half", "4:2: .half: takes one integer"),
        (".option push", "4:2: .option: option must be rvc or norvc, not push"),
        ("beqz a0, nowhere", "4:2: beq: label must be defined, not 'nowhere'"),
    ],
)
def test_bad_assembly_is_refused(body: str, message: str) -> None:
    with pytest.raises(AssemblyError, match=f"^{message}"):
        assemble(f"{STUB} {body}", SET)


def test_directives_of_compressed_code_need_it() -> None:
    base = InstructionSet.of(32, "rv32i")
    with pytest.raises(AssemblyError, match=r"^1:1: \.option: rvc needs a set with compressed"):
        assemble(".option rvc", base)
    with pytest.raises(AssemblyError, match=r"^1:1: \.half: mnemonic must belong to the"):
        assemble(".half 1", base)


def test_links_are_the_address_behind() -> None:
    body = "mv s0, ra\n jal ra, d\nd: mv a0, ra\n auipc a1, 0\n addi a1, a1, 8\n jalr ra, 0(a1)"
    program = assemble(f"{STUB}{body}\n mv a1, ra\n jalr zero, 0(s0)", SET)
    run = Machine(SET, program).run()
    d = program.symbols["d"]
    assert run.registers[10:12] == (d, d + 10)
    assert run.kernel_instructions == 8
    tracked = Machine(SET, program).run_tracked()
    assert tracked == []


@pytest.mark.parametrize(
    ("body", "address", "message"),
    [
        ("jalr zero, 1(a0)", 0x101, "pc must be a multiple of 2 in 0x0 to 0x6, not 0x102"),
        (".half 0", 0, "word at pc 0x4 must be an instruction of the set, not 0x00000000"),
        (".half 0x8002", 0, "word at pc 0x4 must be an instruction of the set, not 0x00008002"),
        ("nop\n nop", 0, "pc must be a multiple of 2 in 0x0 to 0x6, not 0x8"),
        ("nop\n .half 3", 0, "pc must be a multiple of 2 in 0x0 to 0x6, not 0x6"),
        ("lw a1, 2(a0)", 0x1_0000, "multiple of 4, not 0x10002, at pc 0x4: lw a1, 2"),
    ],
)
def test_faults_name_pc_and_instruction(body: str, address: int, message: str) -> None:
    with pytest.raises(SimulationError, match=message):
        Machine(SET, assemble(f"{STUB}{body}\n", SET)).run([address])


def test_host_calls_go_on_behind() -> None:
    run = Machine(SET, assemble("li a7, 93\n li a0, 7\n ecall", SET)).run()
    assert run.exit_code == 7
    assert Machine(SET, assemble("nop\n ebreak", SET)).run().instructions == 2


@pytest.mark.parametrize("xlen", [32, 64])
@pytest.mark.parametrize("seed", range(4))
def test_translated_blocks_do_what_the_meanings_say(seed: int, xlen: int) -> None:
    program = random_program(SETS[xlen], seed, 400)
    args = [random.Random(seed).getrandbits(64) for _ in range(4)]
    run = Machine(SETS[xlen], program).run(args)
    reference = Reference(SETS[xlen], program).run(args)
    assert run.registers == tuple(reference.registers)
    assert run.memory == bytes(reference.memory)
    assert run.instructions == reference.executed


def test_a_core_without_compressed_instructions_refuses_them() -> None:
    program = assemble(f"{STUB} nop\n ret", SET)
    run = Machine(SET, program).run()
    with pytest.raises(ValueError, match=r"^instructions of core icicle must have 32 bits"):
        price(run.blocks, run.trace, PRESETS["icicle"], entry=program.entry)


# Cycles by hand from the table of isa/timing.py. The loop is entered by falling into it and left
# after its third iteration, so its first instruction is twice the target of a taken branch.
LOOP = "li a0, 3\n{before}\nloop: {first}\n addi a0, a0, -1\n bnez a0, loop\n ret"


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize(
    ("before", "first", "more"),
    [
        ("nop", "lui t0, 0x800", 0),  # 32 bits, aligned
        ("nop\n nop", "lui t0, 0x800", 2),  # 32 bits, astride two words
        ("nop\n nop", "nop", 0),
        ("nop", "nop", 0),
    ],
)
def test_targets_astride_two_words(core: str, before: str, first: str, more: int) -> None:
    program = assemble(STUB + LOOP.format(before=before, first=first), SET)
    plain = InstructionSet.of(32, "rv32i")
    same = assemble(STUB + LOOP.format(before=before, first=first), plain)
    run, other = Machine(SET, program).run(), Machine(plain, same).run()
    cycles = price(run.blocks, run.trace, CORES[core], entry=program.entry)
    assert cycles == more + price(other.blocks, other.trace, CORES[core], entry=same.entry)


def test_what_a_set_lacks_is_not_expanded() -> None:
    small = InstructionSet.of(32, *(i for i in SET.instructions if i.name != "xor"), "zca")
    xor = SET.compress(SET.by_name["xor"], {"rd": 8, "rs1": 8, "rs2": 9})
    assert xor is not None
    assert SET.expand(xor) is not None
    assert small.expand(xor) is None
    assert SET.expand(0) is None


def test_sums_keep_compressed_instructions() -> None:
    base = InstructionSet.of(32, "rv32i")
    assert (base + load_extension("zca")).compressed == SET.compressed
    assert (SET + InstructionSet.of(32, "zbb")).compressed == SET.compressed
    assert (base + SET).digest == SET.digest != base.digest


def test_isa_strings() -> None:
    assert "zca" in parse("rv32imc").extensions
    assert parse("rv64i_zca").instructions().alignment == 2
    assert str(parse("rv32ic_zbb")) == "rv32ic_zbb_zca"


def test_conflicts_are_refused() -> None:
    short = Extension("xshort", source="a test")
    short.declare("x.short rd rs1 14..12=0 6..0=0x01", lambda rs1: rs1, ("rs1",))
    with pytest.raises(EncodingError, match=r"x.short \(xshort\) overlaps those of zca"):
        InstructionSet.of(32, "rv32i", "zca", short)
    with pytest.raises(EncodingError, match=r"^c\.x: argument must be one of .* not 'rd'"):
        Compressed.parse("c.x rd 1..0=1", ("addi",), (), (32,), "x", "")
    with pytest.raises(EncodingError, match=r"^c\.x: value must fit its field, not 16=0"):
        Compressed.parse("c.x 16=0", ("addi",), (), (32,), "x", "")

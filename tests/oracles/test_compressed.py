"""Every halfword as GNU `objdump` reads it, compression as by GNU `as`, runs as on emulators."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest

from isa.instruction import Instruction
from isa.instruction_set import InstructionSet
from isa.machine import Machine
from isa.program import DATA_BASE, Program, packed
from tests.oracles import emulators
from tests.oracles.elf import BASE
from tests.oracles.test_gnu_assembler import text, tool

JUMPS = ("j", "jal", "beqz", "bnez", "beq", "bne", "blt", "bge", "bltu", "bgeu")


def assembled(xlen: int, lines: list[str], folder: Path) -> Path:
    """Object file of assembly for RV32IC or RV64IC."""
    source, made = folder / "a.s", folder / "a.o"
    source.write_text("".join(f"\t{line}\n" for line in lines))
    abi = "ilp32" if xlen == 32 else "lp64"
    command = [tool("as"), f"-march=rv{xlen}ic", f"-mabi={abi}", "-o", made, source]
    subprocess.run(command, check=True)
    return made


def disassembled(xlen: int, lines: list[str], folder: Path) -> list[str]:
    """What GNU says of each line, offsets relative to the instruction."""
    command = [tool("objdump"), "-d", assembled(xlen, lines, folder)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = []
    for line in output.splitlines():
        pc, _, rest = line.partition(":\t")
        if not rest:
            continue
        words = rest.partition("\t")[2].partition("#")[0].partition("<")[0].split()
        if words[0] in JUMPS:
            *others, target = words[-1].split(",")
            offset = int(target, 16) - int(pc, 16)
            words[-1] = ",".join([*others, str((offset + (1 << xlen - 1)) % (1 << xlen))])
        found.append(" ".join(words))
    return found


def is_hint(halfword: int, said: str) -> bool:
    """Whether GNU shows no alias because nothing changes: x0, 0 added, or shifted by 0."""
    return said.startswith("c.") or (halfword & 0xF07F == 1 and said.startswith("add "))


@pytest.mark.tool
@pytest.mark.parametrize("xlen", [32, 64])
def test_expansions(xlen: int, tmp_path: Path) -> None:
    """A halfword and what it expands to are the same to GNU, which shows both by aliases."""
    instructions = InstructionSet.of(xlen, f"rv{xlen}i", "zca")
    halfwords = [h for h in range(1 << 16) if h & 3 != 3]
    expansions = [instructions.expand(h) for h in halfwords]
    words = [i.encode(**fields) for i, fields in filter(None, expansions)]
    lines = [f".insn 2, {h:#x}" for h in halfwords] + [f".insn 4, {w:#x}" for w in words]
    output = disassembled(xlen, lines, tmp_path)
    said, meant = output[: len(halfwords)], iter(output[len(halfwords) :])
    for halfword, short, expansion in zip(halfwords, said, expansions, strict=True):
        if expansion is None:
            # To GNU reserved too, or not: c.addi16sp of 0, and on RV32 shifts by 32 to 63.
            shift = xlen == 32 and halfword >> 12 & 1 and short.split()[0] in (
                "sll", "srl", "sra", "c.slli",
            )  # fmt: skip
            assert short[0] == "." or short in ("unimp", "add sp,sp,0") or shift, hex(halfword)
            continue
        instruction, fields = expansion
        long = next(meant)
        if short.startswith("mv "):
            assert instruction.name == "add", hex(halfword)
            assert long == short.replace("mv", "add").replace(",", ",zero,"), hex(halfword)
        elif not is_hint(halfword, short):
            assert short == long, hex(halfword)
        else:
            unchanged = fields["rd"] in (0, fields.get("rs1"))
            assert unchanged, hex(halfword)
            assert fields["rd"] == 0 or not any(fields[i] for i in instruction.immediates)


def near_values(i: Instruction, rng: random.Random) -> dict[str, int]:
    """Operands of which many fit a compressed instruction."""
    pool = rng.choice(((0, 1, 2), range(8, 16), range(32)))
    values = {r: rng.choice(pool) for r in i.encoding.registers}
    if "rd" in values and rng.random() < 0.6:
        values[rng.choice([r for r in ("rd", "rs1", "rs2") if r in values])] = values["rd"]
        values["rd"] = values.get("rs1", values["rd"]) if rng.random() < 0.6 else values["rd"]
    for immediate in i.encoding.immediates:
        width = min(immediate.width, rng.choice((1, 3, 5, 6, 7, 9, 12, 20)))
        value = rng.getrandbits(width)
        if immediate.width > 6 and rng.random() < 0.5:
            value = -value if value >> immediate.width - 1 == 0 else value
        if immediate.name in ("imm12", "imm20") and rng.random() < 0.5:
            value = value & -4
        values[immediate.name] = value & ((1 << immediate.width) - 1)
    return values


ALIASES = {
    r"jal zero, (\S+)": r"j \1",
    r"jalr zero, 0\((\w+)\)": r"jr \1",
    r"jalr ra, 0\((\w+)\)": r"jalr \1",
    r"(beq|bne) (\w+), zero, (\S+)": r"\1z \2, \3",
    r"(beq|bne) zero, (\w+), (\S+)": r"\1z \2, \3",
}
"""Jumps of which GNU `as` compresses only the alias."""


def alias(line: str) -> str:
    """The line as people would write it."""
    for pattern, replacement in ALIASES.items():
        line = re.sub(f"^{pattern}$", replacement, line)
    return line


def compressions(xlen: int, count: int, folder: Path) -> None:
    instructions = InstructionSet.of(xlen, f"rv{xlen}i", "zca")
    rng = random.Random(xlen)
    lines, ours = [], []
    for i in instructions.instructions:
        if i.name == "fence":
            continue
        for _ in range(count):
            values = near_values(i, rng)
            line = alias(text(i, values))
            word = instructions.compress(i, values)
            if word is not None and i.name == "jal":  # which GNU leaves to the linker
                line = line.replace("jal ra,", "c.jal")
            lines.append(line)
            ours.append((i.encode(**values), 4) if word is None else (word, 2))
    made, binary = assembled(xlen, [".option norelax", *lines], folder), folder / "a.bin"
    subprocess.run([tool("objcopy"), "-O", "binary", made, binary], check=True)
    data = binary.read_bytes()
    position = 0
    for line, (word, size) in zip(lines, ours, strict=True):
        found = int.from_bytes(data[position : position + size], "little")
        if size == 4 and word & 0x7F in (0x63, 0x6F):  # the linker's
            found, word = found & 0x7F, word & 0x7F
        assert found == word, f"{line}: {word:#x}, not {found:#x}"
        position += size
    assert position == len(data)
    assert sum(size == 2 for _, size in ours) > 300


@pytest.mark.tool
@pytest.mark.parametrize("xlen", [32, 64])
def test_compressions(xlen: int, tmp_path: Path) -> None:
    compressions(xlen, 400, tmp_path)


@pytest.mark.tool
@pytest.mark.slow
@pytest.mark.parametrize("xlen", [32, 64])
def test_more_compressions(xlen: int, tmp_path: Path) -> None:
    compressions(xlen, 10_000, tmp_path)


POINTER = 8
REGISTERS = [r for r in range(5, 32) if r != POINTER]
SCRATCH_AT = 256
"""Offset of memory for loads and stores; initial and final registers stand before it."""


def short_code(instructions: InstructionSet, rng: random.Random, count: int) -> list[int]:
    """Halfwords that depend neither on where code nor on where data stand."""
    code: list[int] = []
    free = 0  # where no jump skips into the middle
    while len(code) < count or len(code) < free:
        halfword = rng.getrandbits(14) << 2 | rng.randrange(3)
        found = instructions.expand(halfword)
        if found is None:
            continue
        i, fields = found
        used = {fields[r] for r in i.sources} | {fields.get("rd", 0)}
        if i.kind == "alu" and used <= {0, *REGISTERS}:
            code.append(halfword)
        elif i.kind in ("load", "store"):
            value = fields["rd" if i.kind == "load" else "rs2"]
            if fields["rs1"] == POINTER and value in REGISTERS:
                code.append(halfword)
        elif i.kind in ("branch", "jump") and i.name != "jalr" and len(code) >= free:
            if not {fields[r] for r in i.sources} <= {0, *REGISTERS}:
                continue
            distance = rng.randrange(1, 9)
            offset = "bimm12" if i.kind == "branch" else "jimm20"
            ahead = instructions.compress(i, {**fields, offset: distance})
            assert ahead is not None
            code.append(ahead)
            free = len(code) + distance - 1
    return code


def agrees(emulator: str, xlen: int, seed: int, count: int, folder: Path) -> None:
    """Registers and memory in the end are those of the emulator."""
    rng = random.Random(f"compressed {xlen} {seed}")
    instructions = InstructionSet.of(xlen, f"rv{xlen}i", "zca")
    by_name = instructions.by_name
    memory = rng.randbytes(SCRATCH_AT + 256)
    load, store = ("ld", "sd") if xlen == 64 else ("lw", "sw")
    halfwords = short_code(instructions, rng, count)
    halfwords += [1] * (len(halfwords) % 2)
    code = b"".join(h.to_bytes(2, "little") for h in halfwords)
    at = {r: {"rs1": POINTER, "imm12": xlen // 8 * r} for r in REGISTERS}
    words = [by_name[load].encode(rd=r, **at[r]) for r in REGISTERS]
    words += [by_name["addi"].encode(rd=POINTER, rs1=POINTER, imm12=SCRATCH_AT)]
    words += packed(code)[0]
    words += [by_name["addi"].encode(rd=POINTER, rs1=POINTER, imm12=-SCRATCH_AT)]
    words += [by_name[store].encode(rs2=r, **at[r]) for r in REGISTERS]

    start = emulators.load_address(by_name, POINTER, DATA_BASE)
    program = Program((*start, *words, by_name["ebreak"].encode()), memory)
    ours = Machine(instructions, program).run().read(DATA_BASE, len(memory))

    address = BASE + emulators.MAILBOX_SIZE
    start = emulators.load_address(by_name, POINTER, address)
    data = bytes(emulators.MAILBOX_SIZE) + memory
    output = range(address, address + len(memory))
    theirs = emulators.run(emulator, xlen, by_name, data, start + words, output, folder)
    assert ours.hex(" ", 4) == theirs.hex(" ", 4)


@pytest.mark.tool
@pytest.mark.parametrize("emulator", emulators.NAMES)
@pytest.mark.parametrize("xlen", [32, 64])
def test_emulators(emulator: str, xlen: int, tmp_path: Path) -> None:
    agrees(emulator, xlen, 0, 2000, tmp_path)


@pytest.mark.tool
@pytest.mark.slow
@pytest.mark.parametrize("emulator", emulators.NAMES)
@pytest.mark.parametrize("xlen", [32, 64])
@pytest.mark.parametrize("seed", range(1, 6))
def test_emulators_at_length(emulator: str, xlen: int, seed: int, tmp_path: Path) -> None:
    agrees(emulator, xlen, seed, 20_000, tmp_path)

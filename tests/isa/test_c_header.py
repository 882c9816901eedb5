"""C functions of instructions: gcc makes our words of them, and their plain C is our meaning."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from isa.bits import evaluate
from isa.c_header import NoCFunction, c_header, insn
from isa.function import function_of, operands
from isa.instruction import Instruction
from isa.instruction_set import extension_names, load_extension

RISCV = shutil.which("riscv64-unknown-elf-gcc")
HOST = shutil.which("gcc")


@cache
def functions(xlen: int) -> tuple[Instruction, ...]:
    """Every instruction of every extension that a C function stands for, each mnemonic once."""
    found: dict[str, Instruction] = {}
    for name in extension_names():
        for i in load_extension(name).instructions:
            if xlen in i.xlens and _is_function(i, xlen):
                found.setdefault(i.name, i)
    return tuple(found.values())


def _is_function(instruction: Instruction, xlen: int) -> bool:
    try:
        insn(instruction)
    except NoCFunction:
        return False
    return function_of(instruction, xlen) is not None


def c_name(instruction: Instruction) -> str:
    return instruction.name.replace(".", "_")


def test_most_extensions_are_covered() -> None:
    names = {i.name for i in functions(32)}
    assert names >= {"aes32esmi", "sha256sig0", "sm4ed", "xperm8", "rori", "fsr", "clmul", "slt"}
    assert {"nldnl", "lw", "beq", "cop.start"}.isdisjoint(names)


@pytest.mark.tool
@pytest.mark.skipif(RISCV is None, reason="needs riscv64-unknown-elf-gcc")
@pytest.mark.parametrize("xlen", [32, 64])
def test_gcc_assembles_the_word_that_the_instruction_encodes(xlen: int, tmp_path: Path) -> None:
    generator = random.Random(xlen)
    lines = [c_header(functions(xlen), xlen, "X_H")]
    expected = []
    for n, i in enumerate(functions(xlen)):
        registers = operands(i)
        immediates = {m.name: generator.choice(m.values) for m in i.encoding.immediates}
        numbers = {"rd": 10, **{r: 11 + k for k, r in enumerate(registers)}}
        expected.append(i.encode(**numbers, **immediates))
        word = f"uint{xlen}_t"
        parameters = ["unused", *registers]  # a0 is the result's
        arguments = ", ".join([*registers, *map(str, immediates.values())])
        lines.append(
            f"{word} f{n}({', '.join(f'{word} {p}' for p in parameters)}) "
            f"{{ (void)unused; return {c_name(i)}({arguments}); }}"
        )
    (tmp_path / "x.c").write_text("\n".join(lines))
    target = ["-march=rv32i", "-mabi=ilp32"] if xlen == 32 else ["-march=rv64i", "-mabi=lp64"]
    command = [str(RISCV), *target, "-O2", "-Wall", "-Werror", "-ffreestanding", "-c"]
    subprocess.run([*command, "x.c", "-o", "x.o"], cwd=tmp_path, check=True)
    objdump = str(RISCV).replace("gcc", "objdump")
    shown = subprocess.run(
        [objdump, "-d", "x.o"], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    first = re.findall(r"<f\d+>:\n\s+[0-9a-f]+:\s+([0-9a-f]{8})", shown)
    assert [int(w, 16) for w in first] == expected


@pytest.mark.tool
@pytest.mark.skipif(HOST is None, reason="needs gcc")
@pytest.mark.parametrize("xlen", [32, 64])
def test_plain_c_is_the_meaning(xlen: int, tmp_path: Path) -> None:
    generator = random.Random(xlen)
    lines = ["#include <stdio.h>", c_header(functions(xlen), xlen, "X_H"), "int main(void) {"]
    expected = []
    for i in functions(xlen):
        registers = operands(i)
        rd = i.effects(xlen).rd
        assert rd is not None
        for _ in range(4):
            values = {r: _word(generator, xlen) for r in registers}
            values |= {m.name: generator.choice(m.values) for m in i.encoding.immediates}
            expected.append(evaluate(rd, values))
            arguments = ", ".join(f"0x{v:x}ull" for v in values.values())
            lines.append(f'printf("%llx\\n", (unsigned long long){c_name(i)}({arguments}));')
    (tmp_path / "x.c").write_text("\n".join([*lines, "return 0; }"]))
    command = [str(HOST), "-O0", "-Wall", "-Werror", "-fsanitize=undefined", "x.c", "-o", "x"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run(["./x"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stderr == ""
    assert [int(line, 16) for line in done.stdout.splitlines()] == expected


def _word(generator: random.Random, xlen: int) -> int:
    return generator.choice([generator.getrandbits(xlen), 0, (1 << xlen) - 1, 1 << xlen - 1])


def test_what_is_no_function_is_named_and_left_out() -> None:
    (loads,) = (i for i in load_extension("rv32i").instructions if i.name == "lw")
    text = c_header([loads], 32, "X_H")
    assert "/* lw: " in text
    assert ".insn" not in text

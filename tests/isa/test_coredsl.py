"""CoreDSL of instructions: M2-ISA-R's parser accepts it, and encodings are ours."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from isa.bits import topological
from isa.coredsl import coredsl
from isa.function import function_of
from isa.instruction import Instruction
from isa.instruction_set import extension_names, find_instruction, load_extension

PARSER = shutil.which("coredsl2_parser", path=str(Path(sys.executable).parent)) or shutil.which(
    "coredsl2_parser"
)

BASE = """InstructionSet RV{xlen}I {{
    architectural_state {{
        unsigned int XLEN = {xlen};
        register unsigned<XLEN> X[32] [[is_main_reg]];
        register unsigned<XLEN> PC [[is_pc]];
    }}
}}
"""
CORE = "Core Top provides XALL { architectural_state { unsigned int UNUSED = 0; } }\n"


@cache
def functions(xlen: int) -> tuple[Instruction, ...]:
    found: dict[str, Instruction] = {}
    for name in extension_names():
        for i in load_extension(name).instructions:
            if xlen in i.xlens and function_of(i, xlen) is not None:
                found.setdefault(i.name, i)
    return tuple(found.values())


def one_for_each_operator(xlen: int) -> list[Instruction]:
    chosen: list[Instruction] = []
    seen: set[str] = set()
    for instruction in functions(xlen):
        rd = function_of(instruction, xlen)
        assert rd is not None
        operators = {n.op for n in topological([rd])}
        if operators - seen:
            seen |= operators
            chosen.append(instruction)
    return chosen


@pytest.mark.tool
@pytest.mark.slow
@pytest.mark.skipif(PARSER is None, reason="needs coredsl2_parser: pip install m2isar")
@pytest.mark.parametrize("xlen", [32, 64])
def test_every_operator_parses_and_type_checks(xlen: int, tmp_path: Path) -> None:
    text = coredsl(one_for_each_operator(xlen), xlen, "XALL")
    (tmp_path / "x.core_desc").write_text(BASE.format(xlen=xlen) + text + CORE)
    done = subprocess.run(
        [str(PARSER), "--validate", "x.core_desc"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert not re.search("ERROR|CRITICAL|Truncat", done.stdout + done.stderr)


@pytest.mark.parametrize("xlen", [32, 64])
def test_encoding_lines_are_the_words_of_the_instructions(xlen: int) -> None:
    text = coredsl(functions(xlen), xlen, "XALL")
    lines = re.findall(r"encoding: (.*);", text)
    assert len(lines) == len(functions(xlen))
    for line, instruction in zip(lines, functions(xlen), strict=True):
        match = mask = position = 0
        for part in reversed(line.split(" :: ")):
            bits = re.fullmatch(r"(\d+)'b([01]+)|\w+\[(\d+):(\d+)\]", part)
            assert bits is not None
            width = int(bits[1] or 0) or int(bits[3]) - int(bits[4]) + 1
            if bits[2]:
                assert len(bits[2]) == width
                match |= int(bits[2], 2) << position
                mask |= (1 << width) - 1 << position
            position += width
        assert position == 32
        assert match == instruction.encoding.match, line
        assert mask & instruction.encoding.mask == instruction.encoding.mask, line


def test_one_instruction_reads_like_its_manual() -> None:
    text = coredsl([find_instruction("aes32esi", 32)], 32, "XAES")
    assert "encoding: bs[1:0] :: 5'b10001 :: rs2[4:0] :: rs1[4:0] :: 3'b000 :: rd[4:0]" in text
    assert "unsigned<8> aes_sbox(unsigned<8> i) {" in text
    assert "if (rd != 0) X[rd] = (unsigned<32>)(rs1_ ^ " in text


def test_what_is_no_function_is_named_and_left_out() -> None:
    text = coredsl([find_instruction("lw", 32)], 32, "X")
    assert "// lw: has effects beside rd" in text
    assert "encoding" not in text

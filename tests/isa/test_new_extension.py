"""A new instruction is one new file: every part finds it, and nothing else is edited."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pyrtl
import pytest

import isa.extensions
from hw.lower import lower
from isa import instruction_set as sets
from isa.assembler import assemble
from isa.disassembler import disassemble_word
from isa.isa_string import parse
from isa.machine import Machine

FILE = '''"""Xtoy: an example."""

from __future__ import annotations

from isa.bits import Bits
from isa.instruction import Extension

EXTENSION = Extension("xtoy", source="this test")


@EXTENSION.instruction("toy.mix rd rs1 rs2 31..25=0 14..12=5 6..0=0x0b")
def mix(rs1: Bits, rs2: Bits) -> Bits:
    """Add, then rotate left by 7."""
    return (rs1 + rs2).rotl(7)
'''


def forget() -> None:
    for cached in (
        sets.extension_names,
        sets.extension_parameters,
        sets.load_extension,
        sets.find_instruction,
        sets._module,
    ):
        cached.cache_clear()


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    assert len(FILE.splitlines()) <= 20
    (tmp_path / "xtoy.py").write_text(FILE)
    monkeypatch.setattr(isa.extensions, "__path__", [*isa.extensions.__path__, str(tmp_path)])
    forget()
    yield
    sys.modules.pop("isa.extensions.xtoy", None)
    monkeypatch.undo()
    forget()


@pytest.mark.usefixtures("toy")
def test_every_part_finds_it() -> None:
    instructions = parse("rv32im_xtoy").instructions()
    program = assemble("toy.mix a0, a0, a1\nebreak", instructions)
    assert disassemble_word(program.words[0], instructions) == "toy.mix a0, a0, a1"
    x, y = 0x89ABCDEF, 0x12345678
    total = (x + y) % 2**32
    expected = (total << 7 | total >> 25) % 2**32
    assert Machine(instructions, program).run([x, y]).registers[10] == expected

    pyrtl.reset_working_block()
    inputs = {r: pyrtl.Input(32, r) for r in ("rs1", "rs2")}
    result = pyrtl.Output(32, "result")
    meaning = sets.find_instruction("toy.mix", 32).effects(32).rd
    result <<= lower([meaning], inputs, {})[0]
    simulation = pyrtl.FastSimulation(tracer=None)
    simulation.step({"rs1": x, "rs2": y})
    assert simulation.inspect("result") == expected


def test_it_is_gone_without_its_file() -> None:
    with pytest.raises(ValueError, match=r"^extension in 'rv32i_xtoy' must be a known one"):
        parse("rv32i_xtoy")

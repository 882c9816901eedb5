"""Proposals as data: written, read back, refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from isa.assembler import assemble
from isa.bits import evaluate
from isa.instruction_set import InstructionSet
from isa.proposal import ProposalError, load_proposal, read_proposal, write_proposal

GOOD = {
    "format": 1,
    "name": "xpick",
    "xlen": 32,
    "encoding": "xpick rd rs1 rs2 bs 29..25=0 14..12=0 6..2=0x0a 1..0=3",
    "meaning": "(bits (xor (arg rs1 32) (shr_var (arg rs2 32) (concat (arg bs 2) (const 0 3)))))",
    "source": "a test",
}


def test_loaded_instruction_is_one_like_any_other(tmp_path: Path) -> None:
    file = tmp_path / "xpick.json"
    file.write_text(json.dumps(GOOD))
    extension = load_proposal(file)
    (instruction,) = extension.instructions
    assert (extension.name, instruction.name, instruction.source) == ("xpick", "xpick", "a test")
    assert instruction.parameters == ("rs1", "rs2", "bs")
    rd = instruction.effects(32).rd
    assert rd is not None
    assert evaluate(rd, {"rs1": 0xF0, "rs2": 0x1234_5678, "bs": 2}) == 0x1234 ^ 0xF0
    instructions = InstructionSet.of(32, "rv32i", extension)
    program = assemble("xpick a0, a1, a2, 3", instructions)
    assert program.words[-1] == 3 << 30 | 12 << 20 | 11 << 15 | 10 << 7 | 0x2B


def test_written_and_read_back_it_is_the_same() -> None:
    esmi = InstructionSet.of(32, "zkne").by_name["aes32esmi"]
    data: dict[str, Any] = write_proposal(esmi, 32, {}, comment="for people")
    data["encoding"] = data["encoding"].replace("6..0=0x33", "6..0=0x0B")
    again = read_proposal(json.loads(json.dumps(data))).instructions[0]
    assert again.effects(32).rd is esmi.effects(32).rd
    assert again.parameters == esmi.parameters


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "format must be 1, not 2"),
        ({"name": "X-1"}, "name must be a lower-case identifier, not 'X-1'"),
        ({"name": None}, "name must be a text, not None"),
        ({"xlen": 16}, "xlen must be 32 or 64, not 16"),
        ({"encoding": "other rd rs1"}, "encoding must start with the name 'xpick', not 'other"),
        ({"encoding": "xpick rd rs9"}, "encoding: xpick: argument must be a register or one of"),
        (
            {"encoding": "xpick rd rs1 rs2 bs 29..25=0 14..12=0 6..0=0x33"},
            r"encoding must have a custom opcode \(0xb, 0x2b, 0x5b, 0x7b\), not 0x33",
        ),
        (
            {"encoding": "xpick rs1 rs2 bs 29..25=0 14..12=0 11..7=0 6..0=0x2b"},
            "encoding must have the destination rd",
        ),
        (
            {"encoding": "xpick rd rs1 rs2 31..25=0 14..12=0 6..0=0x2b"},
            r"encoding: xpick: meaning takes \['bs'\], which the encoding does not carry",
        ),
        ({"meaning": "(bits (arg rs1 32)"}, "meaning: text must be one balanced s-expression"),
        ({"meaning": "(bits (arg rs1 16))"}, "meaning must be one expression of 32 bits"),
        ({"meaning": "(bits (zext 32 (arg rs1 16)))"}, "operand rs1 must be 32 bits wide, not 16"),
        ({"fields": {"bs": [1, 40]}}, r"field bs must be \[high, low\] bits, not \[1, 40\]"),
        ({"fields": []}, r"fields must be a mapping, not \[\]"),
        ({"views": ["up"]}, r"views must be a list of distributed and turned, not \['up'\]"),
        ({"views": "turned"}, "views must be a list of distributed and turned, not 'turned'"),
        ({"views": ["turned"] * 2}, "views must name each once, not"),
        ({"source": ""}, "source must be a text, not ''"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ProposalError, match=f"^{message}"):
        read_proposal({**GOOD, **change})


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "must be JSON text: "), ("[]", "must be a mapping of keys"), ("\xff", "must be JSON")],
)
def test_broken_files_name_the_file(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "broken.json"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(ProposalError, match=f"broken.json: {message}"):
        load_proposal(file)


def test_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ProposalError, match=r"none.json: cannot be read: No such file"):
        load_proposal(tmp_path / "none.json")


def test_the_file_bears_the_name(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text(json.dumps(GOOD))
    with pytest.raises(ProposalError, match=r"other.json: name must be that of the file, not 'xpi"):
        load_proposal(file)

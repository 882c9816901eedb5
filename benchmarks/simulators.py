"""Speed of the two simulator tiers, and of other simulators on the same programs.

    python -m benchmarks.simulators

Compiles the C programs of tests/programs with GCC for rv32i and runs them for billions of
instructions: natively (with bounds checks and exact counts by block, with and without cycles), by
qemu-user and by Spike, whichever are installed. Then the short runs of a search. Times are CPU
seconds; those of long runs include start and translation.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import workloads
from isa.compiler.compile import compile_kernel
from isa.core import Core
from isa.elf import read_elf
from isa.instruction_set import InstructionSet
from isa.isa_string import instruction_set
from isa.kernel import UnsupportedKernel
from isa.machine import Machine
from isa.native import NativeMachine
from isa.program import DATA_BASE, Program
from isa.timing import automaton

ROUNDS = {"aes": 8_000_000, "sha256": 1_500_000, "crc32": 20_000_000}
"""How often each program does its work: some ten billion instructions."""
SPIKE_SHARE = 50
"""Spike does this part of it, as it would take minutes."""
SOURCES = Path(__file__).parent.parent / "tests" / "programs"
GCC = "riscv64-unknown-elf-gcc"
SHORT = 100_000
"""Executed instructions of a short run."""
STATIC = 2_000
"""Instructions translated."""


def build(name: str, rounds: int, target: Path, *options: str) -> Path:
    """Compile one program for rv32i."""
    subprocess.run(
        [
            *(GCC, "-march=rv32i", "-mabi=ilp32", "-O2", "-ffreestanding", "-nostdlib", "-static"),
            *("-mcmodel=medany", f"-DROUNDS={rounds}", *options),
            *(SOURCES / f"{name}.c", "-lgcc", "-o", target),
        ],
        check=True,
    )
    return target


def child_seconds(*command: str | Path) -> float:
    """CPU seconds of another program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def seconds(function: Callable[[], object], repeat: int = 1) -> float:
    """CPU seconds of a call; the best of several."""
    best = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return best


def long_runs(name: str, folder: Path) -> None:
    """Compare the simulators on one program."""
    path = build(name, ROUNDS[name], folder / name)
    program = read_elf(path.read_bytes()).program
    base = instruction_set("rv32i")
    found: dict[str, float] = {}
    instructions = 0
    for label, rules in (("native", None), ("native with cycles", automaton(Core()))):
        start = time.process_time()
        instructions = NativeMachine(base, program, rules).run().instructions
        found[label] = time.process_time() - start
    if shutil.which("qemu-riscv32"):
        found["qemu-user"] = child_seconds("qemu-riscv32", path)
    if shutil.which("spike") and shutil.which("dtc"):
        options = ("-DSPIKE", "-Wl,-Ttext-segment=0x80000000")
        spike = build(name, ROUNDS[name] // SPIKE_SHARE, folder / f"{name}.spike", *options)
        found["spike"] = SPIKE_SHARE * child_seconds("spike", "--isa=rv32i", spike)
    ours = found["native"]
    print(f"{name}: {instructions:,} instructions")
    for label, taken in found.items():
        ratio = "" if label.startswith("native") else f", native is {taken / ours:.2f} times faster"
        print(f"  {label:<20} {taken:7.2f} s {instructions / taken / 1e6:9,.0f} MIPS{ratio}")


def short_runs(xlen: int) -> None:
    """Time the tier of a search on kernels of about `SHORT` executed instructions."""
    base = InstructionSet.of(xlen, f"rv{xlen}i")
    for name, size in (("sha256", 1600), ("aes128-ctr", 1024), ("sha3-256", 700)):
        program = None
        for kernel in workloads.get(name, size).kernels.values():
            with suppress(UnsupportedKernel):
                program = program or compile_kernel(kernel.build, base)
        assert program is not None
        machine = Machine(base, program)
        args = [DATA_BASE + 0x8000 + 0x1000 * i for i in range(8)]
        run = machine.run(args)
        taken = seconds(lambda m=machine, a=args: m.run(a), 7)  # type: ignore[misc]
        print(
            f"  RV{xlen} {name:<12} {run.instructions:8,} instructions in {1e3 * taken:.2f} ms; "
            f"{1e3 * taken * SHORT / run.instructions:.2f} ms for {SHORT:,}"
        )


def straight(length: int) -> tuple[InstructionSet, Program]:
    """A program of about `length` instructions: Keccak-f1600, unrolled."""
    base = instruction_set("rv32i")
    kernel = workloads.get("keccak-f1600").kernels["interleaved"]
    programs = (compile_kernel(kernel.build, base, unroll=n) for n in (1, 2, 4, 8, 24))
    return base, next(p for p in programs if len(p.words) >= length)


def main() -> None:
    """Print everything."""
    if shutil.which(GCC):
        with tempfile.TemporaryDirectory() as folder:
            for name in ROUNDS:
                long_runs(name, Path(folder))
    else:
        print(f"{GCC} is absent: no long runs")
    print("short runs, once translated")
    for xlen in (32, 64):
        short_runs(xlen)
    base, program = straight(STATIC)
    scale = STATIC / len(program.words)
    Machine(base, program)  # templates of the set are made once
    short = 1e3 * scale * seconds(lambda: Machine(base, program), 5)
    native = 1e3 * scale * seconds(lambda: NativeMachine(base, program).translate(), 3)
    print(f"translation of {STATIC:,} instructions: {short:.1f} ms, native {native:.0f} ms")


if __name__ == "__main__":
    main()

"""Every kernel compiled and run: published vectors and a random input."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import cache

import pytest

import workloads
from isa.compiler import compile_kernel
from isa.instruction_set import InstructionSet
from isa.kernel import UnsupportedKernel
from isa.machine import Machine
from isa.program import DATA_BASE, Program
from tests.workloads.test_kernels import CASES, LONG_UNITS, is_mode, random_inputs
from workloads.workload import Kernel, Workload

EXTENSIONS = {
    32: (("rv32i",), ("rv32i", "m", "zbkb", "zbkc", "zbkx"), ("rv32i", "nluv")),
    64: (("rv64i",), ("rv64i", "m", "zbb", "zbkb", "zbkc", "zbkx", "zkne", "zknd")),
}
SLOW_BYTES = 200
"""Message length from which a workload is left to the slow run."""


@cache
def instruction_set(xlen: int, extensions: tuple[str, ...]) -> InstructionSet:
    return InstructionSet.of(xlen, *extensions)


def run(
    workload: Workload,
    instructions: InstructionSet,
    program: Program,
    inputs: Mapping[str, bytes],
) -> dict[str, bytes]:
    """Final contents of the buffers that the kernel writes."""
    place = DATA_BASE + (len(program.data) + 63) // 64 * 64
    memory: dict[int, bytes] = {}
    places: dict[str, int] = {}
    for b in workload.buffers:
        places[b.name] = place
        memory[place] = inputs[b.name] if b.direction != "out" else b"\xa5" * b.size_bytes
        place += (b.size_bytes + 63) // 64 * 64
    final = Machine(instructions, program).run(list(places.values()), memory).memory
    return {
        b.name: bytes(final[places[b.name] - DATA_BASE :][: b.size_bytes])
        for b in workload.buffers
        if b.direction != "in"
    }


def suits(name: str, variant: Kernel, extensions: tuple[str, ...]) -> bool:
    """Whether a set has what a kernel requires, and something for it where it is NLU-V's.

    That has an S-box unit for AES and matrices for PRESENT, nothing for others.
    """
    if "nluv" in extensions and not name.startswith(("aes", "present")):
        return False
    instructions = instruction_set(64 if "rv64i" in extensions else 32, extensions)
    return all(mnemonic in instructions for mnemonic in variant.requires)


def check(name: str, kernel: str, xlen: int, unroll: int | str, *, every_set: bool = True) -> None:
    """Compile and run for the instruction sets of `EXTENSIONS` that suit the kernel."""
    workload = workloads.get(name)
    variant = workload.kernels[kernel]
    inputs = random_inputs(workload, random.Random(name))
    cases = [(v.source, v.inputs, v.outputs) for v in workload.vectors]
    cases.append(("random", inputs, workload.golden(inputs)))
    for extensions in EXTENSIONS[xlen]:
        if not suits(name, variant, extensions):
            continue
        instructions = instruction_set(xlen, extensions)
        try:
            program = compile_kernel(variant.build, instructions, unroll=unroll)
        except UnsupportedKernel:
            continue
        for label, given, expected in cases:
            assert run(workload, instructions, program, given) == expected, (extensions, label)
        if not every_set:
            break


def _light(name: str) -> bool:
    """Whether a workload is quick to compile and run, and no mode of one that is."""
    workload = workloads.get(name)
    if is_mode(name) or workload.units > LONG_UNITS:
        return False
    return sum(b.size_bytes for b in workload.buffers) < SLOW_BYTES


LIGHT = [case for case in CASES if _light(case[0])]
HEAVY = [case for case in CASES if not _light(case[0])]


@pytest.mark.parametrize(("name", "kernel"), LIGHT)
def test_rv32(name: str, kernel: str) -> None:
    check(name, kernel, 32, 1, every_set=False)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kernel"), LIGHT)
def test_rv32_every_set(name: str, kernel: str) -> None:
    check(name, kernel, 32, 1)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kernel"), HEAVY)
def test_rv32_heavy(name: str, kernel: str) -> None:
    check(name, kernel, 32, 1, every_set=not is_mode(name))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kernel"), CASES)
def test_rv64(name: str, kernel: str) -> None:
    check(name, kernel, 64, 1, every_set=not is_mode(name))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kernel"), LIGHT)
def test_rv32_unrolled(name: str, kernel: str) -> None:
    check(name, kernel, 32, 4)


def test_every_kernel_runs_somewhere() -> None:
    """What a kernel requires is enough: one of the sets that have it compiles the kernel."""
    for name in workloads.workload_names():
        for kernel, variant in workloads.get(name).kernels.items():
            sets = [
                instruction_set(xlen, extensions)
                for xlen, choices in EXTENSIONS.items()
                for extensions in choices
            ]
            assert any(all(m in s for m in variant.requires) for s in sets), (name, kernel)


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("keccak-f1600", "plain"),
        ("sha3-256", "lane-complemented"),
        ("sha512-block", "rolling"),
        ("present80-encrypt", "wide-table"),
    ],
)
def test_what_only_rv64_compiles_says_so(name: str, kernel: str) -> None:
    """A search must see it without tracing the kernel."""
    assert "ld" in workloads.get(name).kernels[kernel].requires


@pytest.mark.parametrize(
    ("name", "count"),
    [("aes128-encrypt", 69), ("aes128-decrypt", 69), ("aes128-key-schedule", 55)],
)
def test_aes_on_rv64_is_as_short_as_by_hand(name: str, count: int) -> None:
    """Instructions of riscv/riscv-crypto's assembly, found from a kernel that names none."""
    instructions = instruction_set(64, ("rv64i", "zkne", "zknd"))
    variant = workloads.get(name).kernels["columns64"]
    program = compile_kernel(variant.build, instructions, unroll="full")
    assert (program.code_bytes, program.data_bytes) == (4 * count, 0)
    check(name, "columns64", 64, "full")

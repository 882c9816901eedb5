"""Every kernel on the instruction sets that the documentation names, as loops and unrolled."""

from __future__ import annotations

import random
from functools import cache

import pytest

import workloads
from isa.compiler import compile_kernel
from isa.instruction_set import InstructionSet
from isa.isa_string import instruction_set
from isa.kernel import UnsupportedKernel
from tests.workloads.test_compiled import run
from tests.workloads.test_kernels import ALL, cases

SETS = [
    f"rv{xlen}{rest}"
    for xlen in (32, 64)
    for rest in ("i", "im_zbb_zbkb_zbkx", "im_zbb_zbkb_zbkx_zkn_zks")
]


@cache
def named(isa: str) -> InstructionSet:
    return instruction_set(isa)


def _has(isa: str, name: str, kernel: str) -> bool:
    """Whether the set has what the kernel requires."""
    return all(m in named(isa) for m in workloads.get(name).kernels[kernel].requires)


EVERY = [
    (name, kernel, isa, unroll)
    for name, kernel in ALL
    for isa in SETS
    if _has(isa, name, kernel)
    for unroll in (1, "full")
]
SLICE = random.Random(4).sample(EVERY, 24)
"""What the slow run takes of them."""


def check(name: str, kernel: str, isa: str, unroll: int | str) -> None:
    workload = workloads.get(name)
    variant, instructions = workload.kernels[kernel], named(isa)
    try:
        program = compile_kernel(variant.build, instructions, unroll=unroll)
    except UnsupportedKernel as error:
        pytest.skip(str(error))
    for label, given, expected in cases(workload, 2):
        assert run(workload, instructions, program, dict(given)) == expected, label


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kernel", "isa", "unroll"), SLICE)
def test_slice(name: str, kernel: str, isa: str, unroll: int | str) -> None:
    check(name, kernel, isa, unroll)


@pytest.mark.full
@pytest.mark.parametrize(("name", "kernel", "isa", "unroll"), EVERY)
def test_everything(name: str, kernel: str, isa: str, unroll: int | str) -> None:
    check(name, kernel, isa, unroll)

"""Every kernel of every workload, interpreted: published vectors and random inputs."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

import pytest

import workloads
from isa.kernel import UnsupportedKernel
from tests.workloads.interpret import interpret
from workloads.ghash import MULTIPLIERS
from workloads.workload import Workload

ALL = [
    (name, kernel) for name in workloads.workload_names() for kernel in workloads.get(name).kernels
]


def _paired(name: str, kernel: str) -> bool:
    """Whether it pairs a cipher's and a hash's kernel that meet others in the cases that remain."""
    if "-gcm" not in name:
        return False
    ways = len(MULTIPLIERS)
    position = list(workloads.get(name).kernels).index(kernel)
    return position // ways % ways != position % ways


CASES = [case for case in ALL if not _paired(*case)]
PAIRED = [case for case in ALL if _paired(*case)]
LONG_UNITS = 8
"""Blocks of a workload beyond which its kernels are left to the slow run."""
SHORT = [case for case in CASES if workloads.get(case[0]).units <= LONG_UNITS]
LONG = [case for case in CASES if workloads.get(case[0]).units > LONG_UNITS]


def is_mode(name: str) -> bool:
    """Whether a workload runs over messages a cipher that is a workload of its own.

    Its loops over blocks stay loops, and what its cipher becomes on each set and unrolled is seen
    on the single block.
    """
    return any(mode in name for mode in ("-ecb", "-cbc", "-ctr", "-xts", "-gcm"))


def random_inputs(workload: Workload, rng: random.Random) -> dict[str, bytes]:
    return {b.name: rng.randbytes(b.size_bytes) for b in workload.buffers if b.direction != "out"}


def cases(
    workload: Workload, count: int
) -> Iterator[tuple[str, Mapping[str, bytes], Mapping[str, bytes]]]:
    """Published vectors, then random inputs with the golden answer."""
    for vector in workload.vectors:
        yield vector.source, vector.inputs, vector.outputs
    rng = random.Random(workload.name)
    for i in range(count):
        inputs = random_inputs(workload, rng)
        yield f"random {i}", inputs, workload.golden(inputs)


def check(name: str, kernel: str, unroll: int | str, count: int) -> None:
    workload = workloads.get(name)
    ran = 0
    for xlen in (32, 64):
        for label, inputs, outputs in cases(workload, count):
            try:
                found = interpret(workload, workload.kernels[kernel], inputs, xlen, unroll)
            except UnsupportedKernel:
                break
            assert found == outputs, (xlen, label)
            ran += 1
    assert ran > count


@pytest.mark.parametrize("name", workloads.workload_names())
def test_published_vectors(name: str) -> None:
    """The golden function gives every published answer, and there is one at the default size."""
    workload = workloads.get(name)
    assert workload.vectors
    for vector in workload.vectors:
        assert workload.golden(vector.inputs) == vector.outputs, vector.source


@pytest.mark.parametrize(("name", "kernel"), SHORT)
def test_rolled(name: str, kernel: str) -> None:
    check(name, kernel, 1, 1)


@pytest.mark.full
@pytest.mark.parametrize(("name", "kernel"), PAIRED)
def test_rolled_pairs(name: str, kernel: str) -> None:
    check(name, kernel, 1, 1)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kernel"), LONG)
def test_rolled_long(name: str, kernel: str) -> None:
    check(name, kernel, 1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("unroll", [4, "full"])
@pytest.mark.parametrize(("name", "kernel"), [c for c in CASES if not is_mode(c[0])])
def test_unrolled(name: str, kernel: str, unroll: int | str) -> None:
    check(name, kernel, unroll, 5)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kernel"), [c for c in CASES if is_mode(c[0])])
def test_unrolled_modes(name: str, kernel: str) -> None:
    check(name, kernel, "full", 1)

"""Golden ML-KEM transforms against products in the ring; kernels at the ends of the range."""

from __future__ import annotations

import random
import struct

import pytest

import workloads
from tests.workloads.interpret import interpret
from workloads.mlkem import Q, inverse_ntt, multiply, ntt

NAMES = ["mlkem-ntt", "mlkem-inverse-ntt", "mlkem-multiply"]


def product(f: list[int], g: list[int]) -> list[int]:
    """Product modulo x^256 + 1, term by term."""
    out = [0] * 256
    for i, a in enumerate(f):
        for j, b in enumerate(g):
            out[(i + j) % 256] += a * b if i + j < 256 else -a * b
    return [x % Q for x in out]


def test_transform_turns_products_into_pointwise_ones() -> None:
    rng = random.Random(203)
    for _ in range(10):
        f, g = ([rng.randrange(Q) for _ in range(256)] for _ in range(2))
        assert inverse_ntt(multiply(ntt(f), ntt(g))) == product(f, g)


def test_round_trips(random_cases: int) -> None:
    rng = random.Random(256)
    for _ in range(random_cases):
        f = [rng.randrange(Q) for _ in range(256)]
        assert inverse_ntt(ntt(f)) == f


@pytest.mark.parametrize("name", NAMES)
def test_extreme_representatives(name: str) -> None:
    workload = workloads.get(name)
    rng = random.Random(name)
    for _ in range(3):
        inputs = {
            b.name: struct.pack("<256h", *(rng.choice((-32768, 32767)) for _ in range(256)))
            for b in workload.buffers
            if b.direction != "out"
        }
        for variant in workload.kernels.values():
            assert interpret(workload, variant, inputs) == workload.golden(inputs)
    for value in (-32768, 32767):
        inputs = {
            b.name: struct.pack("<256h", *[value] * 256)
            for b in workload.buffers
            if b.direction != "out"
        }
        for variant in workload.kernels.values():
            assert interpret(workload, variant, inputs) == workload.golden(inputs)

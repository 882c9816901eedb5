"""Xkyber against the definitions of FIPS 203, over all coefficients."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from tests.isa.extensions.execute import Execute

Q = 3329
execute = Execute(32, "xkyber")


def test_sum_and_difference_of_pairs() -> None:
    draw = random.Random(0)
    corners = (0, 1, Q // 2, Q - 1)
    pairs = [(a, b) for a in corners for b in corners]
    pairs += [(draw.randrange(Q), draw.randrange(Q)) for _ in range(2000)]
    for low, high in zip(pairs, reversed(pairs), strict=True):
        a, b = (h << 16 | x for x, h in zip(low, high, strict=True))
        assert execute("kyberadd", a, b) == (sum(high) % Q) << 16 | sum(low) % Q
        expected = ((high[0] - high[1]) % Q) << 16 | (low[0] - low[1]) % Q
        assert execute("kybersub", a, b) == expected


def test_product_ignores_the_high_halves() -> None:
    draw = random.Random(1)
    for a in range(Q):
        for b in (0, 1, Q - 1, a, draw.randrange(Q)):
            high = draw.getrandbits(16) << 16
            assert execute("kybermul", a | high, b | high) == a * b % Q


@pytest.mark.parametrize("d", [1, 4, 5, 10, 11])
def test_compression_of_every_coefficient(d: int) -> None:
    """Round 2^d x / q, halves up, modulo 2^d."""
    for x in range(Q):
        nearest = int(Fraction(x << d, Q) + Fraction(1, 2))
        assert execute("kybercompress", x, d) == nearest % 2**d


@pytest.mark.parametrize("eta", [2, 3])
def test_samples_of_every_seed(eta: int) -> None:
    """FIPS 203 algorithm 8, on two coefficients."""
    for seed in range(1 << 4 * eta):
        expected = 0
        for i in range(2):
            bits = [seed >> 2 * eta * i + j & 1 for j in range(2 * eta)]
            expected |= (sum(bits[:eta]) - sum(bits[eta:])) % Q << 16 * i
        assert execute(f"kybercbd{eta}", seed) == expected


def test_encodings_are_those_that_the_rtl_decodes() -> None:
    words = {
        n: i.encode(**dict.fromkeys(i.encoding.registers, 0)) for n, i in execute.by_name.items()
    }
    assert {n: (w >> 25, w & 0x7F) for n, w in words.items()} == {
        "kyberadd": (0, 0x2B),
        "kybersub": (1, 0x2B),
        "kybermul": (2, 0x2B),
        "kybercompress": (3, 0x2B),
        "kybercbd2": (4, 0x2B),
        "kybercbd3": (4, 0x2B),
    }
    assert (words["kybercbd2"] >> 20 & 31, words["kybercbd3"] >> 20 & 31) == (2, 3)

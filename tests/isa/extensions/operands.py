"""Operands for tests of single instructions: pairs of corner values, then random ones."""

from __future__ import annotations

import random
from collections.abc import Iterator


def operands(xlen: int, seed: str, count: int = 300) -> Iterator[tuple[int, int, int]]:
    """Triples of xlen-bit values."""
    rng = random.Random(f"{seed} {xlen}")
    top = 1 << xlen - 1
    corners = [0, 1, xlen - 1, xlen, top, top - 1, 2 * top - 1, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF]
    for a in corners:
        for b in corners:
            yield a, b, rng.choice(corners)
    for _ in range(count):
        a, b, c = (rng.getrandbits(xlen) for _ in range(3))
        yield a >> rng.choice((0, 0, 0, 7, 20, xlen - 1)), b >> rng.choice((0, 0, 0, xlen - 8)), c

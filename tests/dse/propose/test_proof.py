"""Proofs: each method proves what is equal and refuses what is not."""

from __future__ import annotations

import pytest

from dse.propose.meaning import meaning_of
from dse.propose.proof import ProofError, equal
from isa.bits import Bits, arg, concat, const, lookup
from isa.table import Table

R1, R2, R3 = (arg(f"rs{i}", 32) for i in (1, 2, 3))
BOX = Table("box", 4, (12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2))
PAIR = Table("pair", 8, tuple(BOX.entries[x >> 4] << 4 | BOX.entries[x & 15] for x in range(256)))
NIBBLES = concat(lookup(BOX, R1.slice(4, 4)), lookup(BOX, R1.slice(0, 4))).zext(32)


@pytest.mark.parametrize(
    ("a", "b", "method"),
    [
        (R1 + R2, R1 + R2, "identical"),
        ((R1 ^ R2).rotr(3), R1.rotr(3) ^ R2.rotr(3), "normal form"),
        ((R1 & R2) | (~R1 & R3), ((R2 ^ R3) & R1) ^ R3, "equivalence checker"),
        (R1 + (R2 + R3), (R1 + R2) + R3, "equivalence checker"),
        (lookup(PAIR, R1.byte(0)).zext(32), NIBBLES, "equivalence checker"),
    ],
)
def test_equal_expressions(a: Bits, b: Bits, method: str) -> None:
    assert equal(a, b) == method


def test_agreeing_on_all_vectors_is_not_enough() -> None:
    rare = (R1 & R2).eq(const(-1, 32)).zext(32)  # 1 for one of 2^64 inputs
    a, b = R1 + R2, (R1 + R2) ^ rare
    assert meaning_of(a, 2).fingerprint == meaning_of(b, 2).fingerprint
    with pytest.raises(ProofError, match="agree on all vectors, but the equivalence checker finds"):
        equal(a, b)


def test_what_differs_everywhere_is_refused() -> None:
    with pytest.raises(ProofError, match="the equivalence checker finds a difference"):
        equal(R1 + R2, (R1 + R2) ^ 1)

"""Formulas: readable, unambiguous, and never too long."""

from __future__ import annotations

import pytest

from dse.propose.formula import LONGEST, formula
from isa.aes import sbox
from isa.bits import Bits, arg, concat, const, lookup, mux

A, B = arg("rs1", 32), arg("rs2", 32)


@pytest.mark.parametrize(
    ("root", "text"),
    [
        (A ^ B.rotr(7), "rs1 ^ rotr(rs2, 7)"),
        ((A + B) ^ (A & ~B), "(rs1 + rs2) ^ (rs1 & ~rs2)"),
        ((A ^ B) ^ (A >> 3), "rs1 ^ rs2 ^ (rs1 >> 3)"),
        (A - (B - A), "rs1 - (rs2 - rs1)"),
        (A.byte(2).zext(32), "rs1.byte(2)"),
        (A.slice(4, 12).zext(32), "rs1[15:4]"),
        (A.bit(31).zext(32), "rs1[31]"),
        (concat(A.byte(0), B.slice(8, 24)), "{rs1.byte(0), rs2[31:8]}"),
        (lookup(sbox(), A.byte(1)).zext(32) << 8, "aes_sbox[rs1.byte(1)] << 8"),
        (mux(A.bit(0), A, const(27, 32)), "mux(rs1[0], rs1, 0x1b)"),
        (A & 0xFF00FF, "rs1 & 0xff00ff"),
        (A.sext(64).slice(0, 64).byte(7).sext(32), "sext(sext(rs1).byte(7))"),
        (A.rotr_var(B.slice(0, 5)), "rotr(rs1, rs2[4:0])"),
    ],
)
def test_formula(root: Bits, text: str) -> None:
    assert formula(root) == text


def test_long_formulas_lose_their_middle() -> None:
    root = A
    for i in range(200):
        root = (root + B).rotr(i % 31 + 1) ^ A
    text = formula(root)
    assert len(text) <= LONGEST
    assert text.endswith(" ^ rs1")
    assert text.count("...") == 1

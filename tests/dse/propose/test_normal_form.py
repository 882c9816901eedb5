"""Normal forms: right on every input tried, equal exactly for equal functions."""

from __future__ import annotations

import random

import pytest

from dse.propose.known import known_instructions
from dse.propose.normal_form import NormalForm, normal_form, single_register
from isa.aes import sbox
from isa.bits import Bits, arg, arguments, evaluate, lookup
from isa.canonical import labels

R1, R2, R3 = (arg(f"rs{i}", 32) for i in (1, 2, 3))


def value(form: NormalForm, values: dict[str, int]) -> int:
    total = form.constant
    for name, label in form.functions:
        total ^= labels(32).apply(label, values[name])
    return total


def test_it_computes_what_the_expression_does() -> None:
    generator = random.Random(1)
    covered = 0
    for every in known_instructions(32).values():
        for known in every:
            form = normal_form(known.root)
            if form is None:
                continue
            covered += 1
            for _ in range(4):
                values = {str(a.attr): generator.getrandbits(32) for a in arguments([known.root])}
                assert value(form, values) == evaluate(known.root, values), str(known)
    assert covered > 100


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((R1 ^ R2).rotr(5), R2.rotr(5) ^ R1.rotr(5)),
        ((R1 >> 7) | (R1 << 25), R1.rotr(7)),
        (~(R1 ^ R2), R1 ^ ~R2),
        (
            lookup(sbox(), R1.byte(2)).zext(32) << 8,
            (lookup(sbox(), (R1 >> 16).slice(0, 8)).zext(32) << 16) >> 8,
        ),
        ((R1 & 0xFF) | (R2 << 8), (R2 << 8) + R1.byte(0).zext(32)),
        (R1.sar(31), R1.bit(31).sext(32)),
    ],
)
def test_equal_functions_have_one_form(a: Bits, b: Bits) -> None:
    assert normal_form(a) is not None
    assert normal_form(a) == normal_form(b)


def test_different_functions_have_not() -> None:
    assert normal_form(R1.rotr(5)) != normal_form(R1.rotr(6))
    assert normal_form(R1 ^ R2) != normal_form(R1 ^ R3)
    assert normal_form(R1 ^ 1) != normal_form(R1)


@pytest.mark.parametrize("root", [R1 + R2, R1 & R2, R1.shl_var(R2.slice(0, 5)), R1 * R1])
def test_what_is_no_sum_has_none(root: Bits) -> None:
    assert normal_form(root) is None


def test_byte_functions_are_read_off() -> None:
    form = normal_form(lookup(sbox(), R1.byte(3)).zext(32) ^ R2)
    assert form is not None
    label = form.of("rs1")
    assert label is not None
    assert single_register(label, form.constant, 32, 3) == sbox().entries
    assert single_register(label, form.constant, 32, 2) is None
    assert form.registers == ("rs1", "rs2")

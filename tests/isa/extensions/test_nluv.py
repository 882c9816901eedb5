"""NLU-V against the values in the authors' own test program, and against linear algebra."""

from __future__ import annotations

import random

import pytest

from isa.bits import evaluate
from isa.instruction import Effects
from isa.instruction_set import load_extension

ONE = {i.name: i.effects(32) for i in load_extension("nluv", banks=1).instructions}
TWO = {i.name: i.effects(32) for i in load_extension("nluv", banks=2).instructions}
FOUR = {i.name: i.effects(32) for i in load_extension("nluv", banks=4).instructions}
PRESENT_MASK = 0xE39498F421BC4A80


def test_published_examples() -> None:
    """nlu_test.s of UzunerH/MasterThesisCode@2cc3fdf."""
    anf = ONE["nnlanf"].rd
    assert evaluate(anf, {"rs1": 0x01234567, "nlrg": PRESENT_MASK}) == 0xC56B90AD
    assert evaluate(anf, {"rs1": 0x89ABCDEF, "nlrg": PRESENT_MASK}) == 0x3EF84712
    assert evaluate(ONE["nnlaese"].rd, {"rs1": 0x93F5BAE9}) == 0xDCE6F41E
    assert evaluate(ONE["nnlaesd"].rd, {"rs1": 0x26880BA3}) == 0x23979E71


def test_pushes_shift_in_the_top_bits_of_the_immediate() -> None:
    new = dict(ONE["nldnl"].state)["nlrg"]
    old = 0x0123456789ABCDEF
    assert evaluate(new, {"nlrg": old, "sel": 0, "imm20": 0xABEEF}) == 0x456789ABCDEFBEEF
    assert evaluate(new, {"nlrg": old, "sel": 4, "imm20": 0x0BEEF}) == 0x123456789ABCDEFB
    assert evaluate(new, {"nlrg": old, "sel": 16 + 4, "imm20": 0x0BEEF}) == 0x123456789ABCDEFB
    assert evaluate(new, {"nlrg": old, "sel": 1, "imm20": 0x08000}) == (old << 1 | 1) % 2**64


def product(matrix: int, x: int) -> int:
    rows = [matrix >> 32 * i & 0xFFFFFFFF for i in range(32)]
    return sum(((row & x).bit_count() & 1) << i for i, row in enumerate(rows))


def test_products_and_accumulation() -> None:
    rng = random.Random(1)
    for _ in range(20):
        state = {"lrg0": rng.getrandbits(1024), **{f"rl{i}": rng.getrandbits(32) for i in range(4)}}
        x = rng.getrandbits(32)
        y = product(state["lrg0"], x)
        for name, addend in {"nmu": 0, "nma1": 0, "nma2": 1, "nma3": 2, "nma0": 3}.items():
            expected = y if name == "nmu" else y ^ state[f"rl{addend}"]
            effects = ONE[name]
            assert evaluate(effects.rd, {**state, "rs1": x}) == expected
            after = {n: evaluate(v, {**state, "rs1": x}) for n, v in effects.state}
            assert after == {
                "rl0": expected,
                "rl1": state["rl0"],
                "rl2": state["rl1"],
                "rl3": state["rl2"],
            }


def test_banks_are_chosen_by_the_immediate() -> None:
    rng = random.Random(2)
    state = {f"lrg{b}": rng.getrandbits(1024) for b in range(4)}
    rl = {f"rl{i}": 0 for i in range(4)}
    for bank in range(4):
        x = rng.getrandbits(32)
        y = evaluate(FOUR["nmu"].rd, {**state, **rl, "rs1": x, "bank": bank})
        assert y == product(state[f"lrg{bank}"], x)
        pushed = {
            n: evaluate(v, {**state, "sel": 0, "imm20": bank << 16 | 0x1234})
            for n, v in FOUR["nldl"].state
        }
        changed = (state[f"lrg{bank}"] << 16 | 0x1234) % 2**1024
        assert pushed == {**state, f"lrg{bank}": changed}


def variant(push: int, banks: int = 2) -> dict[str, Effects]:
    made = load_extension("nluv", banks=banks, push=push, readback=1)
    return {i.name: i.effects(32) for i in made.instructions}


def random_state(draw: random.Random, banks: int = 2) -> dict[str, int]:
    state = {f"lrg{b}": draw.getrandbits(1024) for b in range(banks)}
    return {**state, "nlrg": draw.getrandbits(64), **{f"rl{i}": i + 1 for i in range(4)}}


def test_a_push_of_32_bits_takes_a_register() -> None:
    """As two published pushes of 16 bits, the upper half first."""
    draw = random.Random(4)
    state, word = random_state(draw), draw.getrandbits(32)
    for name, element in (("nldnl", "nlrg"), ("nldl", "lrg1")):
        values = {**state, "rs1": word, "bank": 1}
        (wide,) = (evaluate(v, values) for n, v in variant(32)[name].state if n == element)
        narrow = dict(state)
        for half in (word >> 16, word & 0xFFFF):
            push = dict(TWO[name].state)[element]
            narrow[element] = evaluate(push, {**narrow, "sel": 0, "imm20": 1 << 16 | half})
        assert wide == narrow[element] != state[element]
    others = [(n, v) for n, v in variant(32)["nldl"].state if n != "lrg1"]
    assert [(n, evaluate(v, values)) for n, v in others] == [("lrg0", state["lrg0"])]


@pytest.mark.parametrize("push", [16, 32])
def test_an_exchange_gives_the_old_top_and_takes_a_new_bottom(push: int) -> None:
    draw = random.Random(5)
    state, ones = random_state(draw), (1 << push) - 1
    values = {**state, "rs1": 0x89ABCDEF, "bank": 1}
    for name, element, width in (("nxnl", "nlrg", 64), ("nxl", "lrg1", 1024)):
        effects = variant(push)[name]
        assert evaluate(effects.rd, values) == state[element] >> width - push
        after = {n: evaluate(v, values) for n, v in effects.state}
        pushed = (state[element] << push | 0x89ABCDEF & ones) % 2**width
        assert after == {**{n: state[n] for n in after}, element: pushed}
    oldest = variant(push)["nxa"]
    assert evaluate(oldest.rd, values) == 4
    after = {n: evaluate(v, values) for n, v in oldest.state}
    assert after == {"rl0": 0x89ABCDEF, "rl1": 1, "rl2": 2, "rl3": 3}


def test_no_variant_has_an_encoding_that_means_something_else_in_the_published_set() -> None:
    """A word of the published set is not decoded as an exchange."""
    exchanges = [i for i in load_extension("nluv", readback=1).instructions if i.name[1] == "x"]
    assert [i.name for i in exchanges] == ["nxnl", "nxl", "nxa"]
    for new in exchanges:
        for old in load_extension("nluv", banks=4).instructions:
            both = new.encoding.mask & old.encoding.mask
            assert new.encoding.match & both != old.encoding.match & both

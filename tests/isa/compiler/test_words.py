from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isa.bits import Bits, arg, concat, evaluate, lookup, mux, node
from isa.compiler.legalise import Legaliser
from isa.compiler.words import Word, Words, evaluate_word
from isa.table import Table

NIBBLE = Table("nibble", 4, (6, 11, 3, 9, 0, 15, 1, 12, 7, 4, 2, 8, 13, 5, 10, 14))
BINARY = ("and", "or", "xor", "add", "sub", "mul")
VARIABLE = ("shl_var", "shr_var", "sar_var", "rotr_var")


def value_of(word: Word, width: int, leaves: dict[str, int]) -> int:
    if word.op == "leaf":
        return leaves[str(word.attr)]
    values = [value_of(a, width, leaves) for a in word.args]
    return evaluate_word(word.op, word.attr, width, values)


def expressions(draw: st.DrawFn, width: int) -> Bits:
    """A random expression over x and y of `width` bits."""
    pool = [arg("x", width), arg("y", width)]
    for _ in range(draw(st.integers(1, 7))):
        a, b = draw(st.sampled_from(pool)), draw(st.sampled_from(pool))
        kind = draw(st.integers(0, 11))
        k = draw(st.integers(0, width - 1))
        if kind <= 2:
            pool.append(node(draw(st.sampled_from(BINARY)), a, b))
        elif kind == 3:
            pool.append(node(draw(st.sampled_from(("shl", "shr", "sar", "rotr"))), a, attr=k))
        elif kind == 4 and width & (width - 1) == 0 and width > 1:
            amount = b.slice(0, width.bit_length() - 1)
            pool.append(node(draw(st.sampled_from(VARIABLE)), a, amount))
        elif kind == 5:
            pool.append(mux(draw(st.sampled_from([a.ult(b), a.slt(b), a.eq(b)])), b, ~a))
        elif kind == 6:
            n = draw(st.integers(1, width - k))
            pool.append(node(draw(st.sampled_from(("zext", "sext"))), a.slice(k, n), width=width))
        elif kind == 7 and k:
            pool.append(concat(a.slice(0, k), b.slice(k, width - k)))
        elif kind == 8 and width >= 4:
            part = lookup(NIBBLE, a.slice(min(k, width - 4), 4))
            pool.append(part.zext(width))
        elif kind == 9:
            pool.append(node("xor", a, node("not", b)))
        elif kind == 10:
            pool.append(a.mul_wide(b).slice(k, width))
        else:
            pool.append(a.clmul(b).slice(k, width))
    return pool[-1]


@pytest.mark.parametrize(("register", "width"), [(4, 4), (4, 3), (4, 8), (4, 9), (8, 4)])
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_legalised_words_equal_the_bits_at_every_register_width(register, width, data):
    root = data.draw(st.composite(expressions)(width))
    words = Words(register)

    def leaf(n: Bits) -> tuple[Word, ...]:
        return tuple(
            words.leaf(f"{n.attr}.{i}", (1 << min(register, n.width - i)) - 1)
            for i in range(0, n.width, register)
        )

    pieces = Legaliser(words, leaf)(root)
    assert len(pieces) == -(-root.width // register)
    step = 1 if width < 5 else 37
    for x, y in itertools.product(range(0, 1 << width, step), repeat=2):
        leaves = {
            f"{name}.{i}": v >> i & words.mask
            for name, v in (("x", x), ("y", y))
            for i in range(0, width, register)
        }
        got = sum(value_of(p, register, leaves) << register * i for i, p in enumerate(pieces))
        assert got == evaluate(root, {"x": x, "y": y})
        for p in pieces:
            assert value_of(p, register, leaves) & ~p.ones == 0


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_every_form_of_a_word_is_an_equal_function(data):
    width = 4
    root = data.draw(st.composite(expressions)(width))
    words = Words(width)
    (word,) = Legaliser(words, lambda n: (words.leaf(str(n.attr)),))(root)
    for x, y in itertools.product(range(16), repeat=2):
        leaves = {"x": x, "y": y}
        expected = value_of(word, width, leaves)
        for atom, label in words.forms(word):
            assert words.labels.apply(label, value_of(atom, width, leaves)) == expected


@settings(max_examples=60, deadline=None)
@given(st.data())
@pytest.mark.parametrize("width", [8, 32, 64])
def test_registers_of_64_bits_hold_words_of_32_sign_extended(width, data):
    root = data.draw(st.composite(expressions)(width))
    words = Words(64)
    sign = 32 if width == 32 else None

    def leaf(n: Bits) -> tuple[Word, ...]:
        return (words.leaf(str(n.attr), -1 if sign else (1 << n.width) - 1, sign),)

    (word,) = Legaliser(words, leaf)(root)
    for _ in range(20):
        values = {n: data.draw(st.integers(0, (1 << width) - 1)) for n in "xy"}
        held = {n: extended(v, width) if width == 32 else v for n, v in values.items()}
        expected = evaluate(root, values)
        got = value_of(word, 64, held)
        assert got == (extended(expected, 32) if root.width == 32 else expected)
        assert got & ~word.ones == 0
        assert extended(got & ((1 << word.sign) - 1), word.sign) == got
        for atom, label in words.forms(word):
            assert words.labels.apply(label, value_of(atom, 64, held)) == got


def extended(value: int, width: int) -> int:
    return (value - (value >> width - 1 << width)) & ((1 << 64) - 1)

"""Products without an instruction that multiplies."""

from __future__ import annotations

import random

import pytest

from isa.bits import arg
from isa.compiler import compile_kernel
from isa.compiler.products import Products
from isa.compiler.words import Word, Words
from isa.instruction_set import InstructionSet
from isa.kernel import Builder
from isa.machine import Machine
from isa.program import DATA_BASE
from tests.isa.compiler.test_words import value_of

WIDTH = 8


def signed(value: int, bits: int) -> int:
    """The low bits as a sign extension over all of a word."""
    value &= (1 << bits) - 1
    return (value - (value >> bits - 1 << bits)) & (1 << WIDTH) - 1


@pytest.mark.parametrize("first", [8, 6, 5, 2])
@pytest.mark.parametrize("second", [8, 7, 4, 1])
def test_both_words_of_every_product(first: int, second: int) -> None:
    words = Words(WIDTH)
    a, b = words.leaf("a", (1 << first) - 1), words.leaf("b", (1 << second) - 1)
    low, high = Products(words).both(a, b)
    alone = Products(words).low(a, b)
    rng = random.Random(10 * first + second)
    for _ in range(60):
        x, y = rng.getrandbits(first), rng.getrandbits(second)
        found = [value_of(w, WIDTH, {"a": x, "b": y}) for w in (low, high, alone)]
        assert found == [x * y & 0xFF, x * y >> 8, x * y & 0xFF]


@pytest.mark.parametrize("bits", [1, 3, 5, 8])
def test_a_signed_multiplier(bits: int) -> None:
    words = Words(WIDTH)
    a, b = words.leaf("a"), words.leaf("b", -1, bits)
    product = Products(words).low(a, b)
    for x in range(0, 256, 7):
        for y in range(1 << bits):
            leaves = {"a": x, "b": signed(y, bits)}
            assert value_of(product, WIDTH, leaves) == x * leaves["b"] & 0xFF


def test_few_bits_take_few_words() -> None:
    def count(bits: int) -> int:
        words = Words(32)
        Products(words).low(words.leaf("a"), words.leaf("b", (1 << bits) - 1))
        return words.count

    assert 4 * 12 <= count(12) <= 6 * 12
    assert count(24) > 1.8 * count(12)


def test_a_constant_multiplier_needs_no_masks() -> None:
    words = Words(32)
    _, high = Products(words).both(words.leaf("a", 0xFFFF), words.const(0x80008000))
    seen: list[Word] = [high]
    while seen:
        word = seen.pop()
        assert word.op not in ("and", "sar")
        seen += word.args


@pytest.mark.parametrize("xlen", [32, 64])
def test_a_set_without_m_computes_both_halves(xlen: int) -> None:
    instructions = InstructionSet.of(xlen, f"rv{xlen}i")
    a, b = arg("a", xlen), arg("b", xlen)
    product = a.mul_wide(b)

    def build(k: Builder) -> None:
        k.word("a")
        k.word("b")
        out = k.pointer("out")
        for i, part in enumerate((product.slice(0, xlen), product.slice(xlen, xlen), a * b)):
            k.store(out, i * xlen // 8, part)

    program = compile_kernel(build, instructions)
    rng = random.Random(xlen)
    top = (1 << xlen) - 1
    pairs = [(rng.getrandbits(xlen), rng.getrandbits(xlen)) for _ in range(5)]
    for x, y in [(top, top), (0, top), (1, top), *pairs]:
        size = xlen // 8
        memory = {DATA_BASE: bytes(3 * size)}
        final = Machine(instructions, program).run([x, y, DATA_BASE], memory).memory
        expected = b"".join(v.to_bytes(size, "little") for v in (x * y & top, x * y >> xlen))
        assert bytes(final[: 2 * size]) == expected
        assert bytes(final[2 * size : 3 * size]) == expected[:size]

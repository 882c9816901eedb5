from __future__ import annotations

import itertools

import pytest

from isa.aes import MIX, multiply, sbox
from isa.canonical import Cone, Label, compress, expand, labels

WIDTH = 4
ALGEBRA = labels(WIDTH)
NIBBLE = (6, 11, 3, 9, 0, 15, 1, 12, 7, 4, 2, 8, 13, 5, 10, 14)


def function(label: Label) -> tuple[int, ...]:
    return tuple(ALGEBRA.apply(label, x) for x in range(16))


def samples() -> list[Label]:
    """Constants, all masks, all rotations, an S-box, an S-box of two bits and sums of these."""
    found = [ALGEBRA.constant(9), ALGEBRA.identity]
    found += [ALGEBRA.of_mask(m) for m in range(1, 15)]
    found += [ALGEBRA.rotr(ALGEBRA.identity, k) for k in range(1, 4)]
    table = ALGEBRA.tabulate(("nibble",), [ALGEBRA.identity], NIBBLE.__getitem__)
    narrow = ALGEBRA.tabulate(("nibble",), [ALGEBRA.of_mask(6)], NIBBLE.__getitem__)
    assert table is not None
    assert narrow is not None
    found += [table, narrow]
    return found + [ALGEBRA.xor(a, b) for a, b in itertools.combinations(found[::3], 2)]


@pytest.mark.parametrize("label", samples())
def test_linear_operators_exhaustively(label):
    before = function(label)
    for low, length, position in itertools.product(range(4), range(1, 5), range(4)):
        if low + length <= 4 and position + length <= 4:
            moved = ALGEBRA.move(label, low, length, position)
            field = (1 << length) - 1
            assert function(moved) == tuple((v >> low & field) << position for v in before)
    for mask in range(16):
        assert function(ALGEBRA.masked(label, mask)) == tuple(v & mask for v in before)
    for k in range(1, 4):
        assert function(ALGEBRA.rotr(label, k)) == tuple((v >> k | v << 4 - k) & 15 for v in before)
        signed = [v - 16 if v & 8 else v for v in before]
        assert function(ALGEBRA.sar(label, k)) == tuple(v >> k & 15 for v in signed)


@pytest.mark.parametrize("places", list(itertools.permutations(range(4))))
def test_permutations_are_recognised_and_undone(places):
    terms = [ALGEBRA.move(ALGEBRA.identity, i, 1, p) for i, p in enumerate(places)]
    total = ALGEBRA.constant(0)
    for term in terms:
        total = ALGEBRA.xor(total, term)
    assert ALGEBRA.permutation(total) == places
    for label in samples():
        if not label.cones:
            last = ALGEBRA.after(label, places)
            for x in range(16):
                assert ALGEBRA.apply(last, ALGEBRA.apply(total, x)) == ALGEBRA.apply(label, x)


def test_sums_exhaustively():
    for a, b in itertools.product(samples()[::2], samples()):
        total = ALGEBRA.xor(a, b)
        assert function(total) == tuple(
            x ^ y for x, y in zip(function(a), function(b), strict=True)
        )


def test_restriction_agrees_where_only_allowed_bits_are_set():
    for label, ones in itertools.product(samples(), range(16)):
        restricted = ALGEBRA.restrict(label, ones)
        assert restricted.support & ~ones == 0
        for x in range(16):
            assert ALGEBRA.apply(restricted, x & ones) == ALGEBRA.apply(label, x & ones)


def test_restriction_to_sign_extensions():
    for label, sign in itertools.product(samples(), range(1, 5)):
        if any(c.support >> sign for c in label.cones):
            continue  # cones keep the bits they read
        restricted = ALGEBRA.restrict(label, 15, sign)
        assert restricted.support >> sign == 0
        for low in range(1 << sign):
            x = (low - (low >> sign - 1 << sign)) & 15
            assert ALGEBRA.apply(restricted, x) == ALGEBRA.apply(label, x)


def test_equal_functions_are_the_same_object():
    by_function: dict[tuple[int, ...], Label] = {}
    made = [ALGEBRA.xor(a, b) for a, b in itertools.product(samples(), repeat=2)]
    made += [ALGEBRA.masked(a, m) for a in samples() for m in range(16)]
    for label in made:
        assert by_function.setdefault(function(label), label) is label


def test_normal_form():
    for label in samples():
        for cone in label.cones:
            assert cone.table[0] == 0
            for bit in range(WIDTH):
                if cone.support >> bit & 1:
                    assert label.linear >> WIDTH * bit & ALGEBRA.mask == 0


def test_a_function_of_more_than_eight_bits_has_no_table():
    wide = labels(16)
    assert wide.tabulate(("square",), [wide.identity], lambda x: x * x) is None


@pytest.mark.parametrize("support", range(1, 64))
def test_expand_undoes_compress(support):
    count = 1 << support.bit_count()
    places = [expand(i, support) for i in range(count)]
    assert len(set(places)) == count
    assert all(p & ~support == 0 for p in places)
    assert [compress(p, support) for p in places] == list(range(count))


def test_a_t_table_of_a_byte_is_the_s_box_mixed_and_placed():
    """FIPS 197: T1[x] is the MixColumns column of S[x] turned by one byte."""
    algebra = labels(32)
    byte = algebra.move(algebra.identity, 8, 8, 0)
    s = algebra.tabulate(("s",), [byte], sbox().entries.__getitem__)
    assert s is not None
    column = algebra.constant(0)
    for i, factor in enumerate(MIX):
        product = algebra.tabulate((f"times {factor}",), [s], lambda v, f=factor: multiply(v, f))
        assert product is not None
        column = algebra.xor(column, algebra.move(product, 0, 8, 8 * i))
    placed = algebra.rotr(column, 24)

    def entry(x: int) -> int:
        column = [multiply(sbox().entries[x], f) for f in MIX]
        return sum(b << 8 * i for i, b in enumerate(column[-1:] + column[:-1]))

    table = algebra.tabulate(("t1",), [algebra.move(algebra.identity, 8, 8, 0)], entry)
    assert table is placed
    assert isinstance(placed.cones[0], Cone)

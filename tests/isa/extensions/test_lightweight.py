"""Extensions of the lwise project for NIST's lightweight finalists, against formulas on integers.

Constants and matrices are compared with their definitions: digits of e, powers of a matrix.
"""

from __future__ import annotations

import random
from fractions import Fraction
from math import factorial

import pytest

from isa.extensions import xphoton, xsparkle
from tests.isa.extensions.execute import Execute
from tests.isa.extensions.operands import operands

M = 2**32 - 1


def rotr(x: int, n: int, width: int = 32) -> int:
    n %= width
    return (x >> n | x << width - n) % (1 << width)


SPARKLE = Execute(32, "xsparkle")
GIFT = Execute(32, "xgift")
PHOTON = Execute(32, "xphoton")


def alzette(x: int, y: int, c: int) -> tuple[int, int]:
    """Beierle et al., Alzette: a 64-bit ARX-box, CRYPTO 2020, Algorithm 1."""
    for a, b in ((31, 24), (17, 17), (0, 31), (24, 16)):
        x = x + rotr(y, a) & M
        y ^= rotr(x, b)
        x ^= c
    return x, y


def test_sparkle_constants_are_words_of_e() -> None:
    e = sum(Fraction(1, factorial(k)) for k in range(300))
    digits = int((e - 2) * 2**1024)
    words = [digits >> 1024 - 32 - 32 * i & M for i in range(29)]
    places = [words.index(c) for c in xsparkle.CONSTANTS]
    assert places == sorted(places)


def test_sparkle_boxes() -> None:
    for x, y, _ in operands(32, "alzette", 100):
        for i, c in enumerate(xsparkle.CONSTANTS):
            out = tuple(SPARKLE(f"sparkle.whole.enci.{h}", x, y, i) for h in "xy")
            assert out == alzette(x, y, c)
            assert tuple(SPARKLE(f"sparkle.whole.deci.{h}", *out, i) for h in "xy") == (x, y)


def test_sparkle_steps_make_a_box() -> None:
    """The instructions of TYPE2 and of TYPE3 in the order of Alzette."""
    for x0, y0, _ in operands(32, "steps", 50):
        for form in ("{}rori", "{}ror.{}"):

            def do(name: str, a: int, b: int, amount: int, form: str = form) -> int:
                if "." in form:
                    return SPARKLE(f"sparkle.{form.format(name, amount)}", a, b)
                return SPARKLE(f"sparkle.{form.format(name)}", a, b, amount)

            x, y = x0, y0
            for a, b in xsparkle.ROTATIONS:
                x = do("add", x, y, a) if a else x + y & M
                y = do("xor", y, x, b)
                x = SPARKLE("sparkle.rcon", x, 3)
            assert (x, y) == alzette(x0, y0, xsparkle.CONSTANTS[3])


def test_sparkle_linear_map() -> None:
    for x, y, _ in operands(32, "ell", 50):
        z = x ^ y
        assert SPARKLE("sparkle.ell", x, y) == rotr(z ^ z << 16 & M, 16)
        for amount in (17, 24, 31):
            assert SPARKLE(f"sparkle.subror.{amount}", x, y) == x - rotr(y, amount) & M
            assert SPARKLE("sparkle.subrori", x, y, amount) == x - rotr(y, amount) & M


def test_gift_exchanges_pairs_of_bits() -> None:
    """Under a mask that meets no bit twice, bits i and i + n change places."""
    for mask, n in ((0x0A0A0A0A, 3), (0x00CC00CC, 6), (0x0000F0F0, 12), (0x000000FF, 24)):
        for x, _, _ in operands(32, "swapmove", 30):
            text = [x >> i & 1 for i in range(32)]
            for i in range(32):
                if mask >> i & 1:
                    text[i], text[i + n] = text[i + n], text[i]
            expected = sum(d << i for i, d in enumerate(text))
            assert GIFT("gift.swapmove", x, mask, n) == expected


def test_gift_permutation_is_its_exchanges() -> None:
    for x, _, _ in operands(32, "permbits", 50):
        y = x
        for mask, n in ((0x0A0A0A0A, 3), (0x00CC00CC, 6), (0x0000F0F0, 12), (0x000000FF, 24)):
            y = GIFT("gift.swapmove", y, mask, n)
        assert GIFT("gift.permbits.step", x, 0) == y
        assert GIFT("gift.permbits.step", x, 8) == rotr(y, 8)


@pytest.mark.parametrize(("letter", "width"), [("n", 4), ("b", 8), ("h", 16)])
def test_gift_rotations(letter: str, width: int) -> None:
    for x, _, _ in operands(32, letter, 20):
        for n in range(width):
            expected = sum(
                rotr(x >> low & (1 << width) - 1, n, width) << low for low in range(0, 32, width)
            )
            assert GIFT(f"gift.rori.{letter}", x, n) == expected


def test_gift_key_update() -> None:
    """GIFT-128, 2.2: two key words rotated right by 2 and by 12."""
    for x, _, _ in operands(32, "key", 30):
        expected = rotr(x >> 16, 2, 16) << 16 | rotr(x & 0xFFFF, 12, 16)
        assert GIFT("gift.key.updstd", x) == expected


def test_xoodyak() -> None:
    do = Execute(32, "xxoodyak")
    for x, y, _ in operands(32, "xoodyak", 50):
        assert do("xoodyak.xorrol", x, y) == rotr(x, 27) ^ rotr(y, 18)


def test_jambu() -> None:
    do = Execute(32, "xjambu")
    for low, high, _ in operands(32, "jambu", 50):
        state = high << 32 | low
        for n in (15, 6, 21, 27):
            assert do(f"jambu.fsr.{n}", low, high) == state >> n & M
        for n in range(32):
            assert do("jambu.fsri", low, high, n) == state >> n & M


def test_photon_matrix() -> None:
    """The matrix printed for PHOTON-256 (Guo, Peyrin, Poschmann, CRYPTO 2011, appendix)."""
    assert xphoton.mix() == (
        (0x2, 0x4, 0x2, 0xB, 0x2, 0x8, 0x5, 0x6),
        (0xC, 0x9, 0x8, 0xD, 0x7, 0x7, 0x5, 0x2),
        (0x4, 0x4, 0xD, 0xD, 0x9, 0x4, 0xD, 0x9),
        (0x1, 0x6, 0x5, 0x1, 0xC, 0xD, 0xF, 0xE),
        (0xF, 0xC, 0x9, 0xD, 0xE, 0x5, 0xE, 0xD),
        (0x9, 0xE, 0x5, 0xF, 0x4, 0xC, 0x9, 0x6),
        (0xC, 0x2, 0x2, 0xA, 0x3, 0x1, 0x1, 0xE),
        (0xF, 0x1, 0xD, 0xA, 0x5, 0xA, 0x2, 0x3),
    )


def test_photon_column() -> None:
    """Eight steps substitute and mix a column as PHOTON's serial description does."""
    sbox = (12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2)
    rng = random.Random(1)
    for _ in range(50):
        column, start = rng.getrandbits(32), rng.getrandbits(32)
        result = start
        for i in range(8):
            result = PHOTON("photon.step", result, column, i)
        state = [sbox[column >> 4 * i & 15] for i in range(8)]
        for _ in range(8):
            new = 0
            for factor, value in zip((2, 4, 2, 11, 2, 8, 5, 6), state, strict=True):
                new ^= xphoton.multiply(factor, value, 0x13)
            state = [*state[1:], new]
        assert result == start ^ sum(v << 4 * i for i, v in enumerate(state))

"""ChaCha20 by the instructions of ASAP 2021, V1 to V3, against the `cryptography` package."""

from __future__ import annotations

import random
import struct

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from tests.isa.extensions.execute import Execute

M = 0xFFFFFFFF
CONSTANTS = struct.unpack("<4I", b"expand 32-byte k")


def rounds_by_columns(variant: int, x: list[int]) -> list[int]:
    """Twenty rounds with V1 or V2, whose registers hold a:d and b:c of a column."""
    do = Execute(64, f"xchachav{variant}", "xchachapack")
    x = list(x)
    for number in range(20):
        for i in range(4):
            shift = number % 2  # a column, or a diagonal
            places = [4 * row + (i + shift * row) % 4 for row in range(4)]
            a, b, c, d = (x[p] for p in places)
            ad = do("chacha.pack", d, a)
            bc = do("chacha.pack", c, b)
            if variant == 1:
                ad = do("chacha.v1.ad", ad, bc)
                bc = do("chacha.v1.bc", ad, bc)
            else:
                for half in (0, 1):
                    ad = do(f"chacha.v2.ad{half}", ad, bc)
                    bc = do(f"chacha.v2.bc{half}", ad, bc)
            for p, v in zip(places, (ad >> 32, bc >> 32, bc & M, ad & M), strict=True):
                x[p] = v
    return x


def rounds_by_rows(x: list[int]) -> list[int]:
    """Twenty rounds with V3, whose registers hold two words of a row, the first below."""
    do = Execute(64, "xchachav3", "xchachapack")
    r = [x[i] | x[i + 1] << 32 for i in range(0, 16, 2)]

    def half_round(a: int, b: int, c: int, d: int) -> None:
        for rotation_d, rotation_b in (("16", "12"), ("08", "07")):
            r[a] = do("chacha.v3.add", r[a], r[b])
            r[d] = do(f"chacha.v3.xorrol{rotation_d}", r[d], r[a])
            r[c] = do("chacha.v3.add", r[c], r[d])
            r[b] = do(f"chacha.v3.xorrol{rotation_b}", r[b], r[c])

    def turn(i: int, words: int) -> None:
        """Rotate the row in registers i and i + 1 to the left."""
        for _ in range(words):
            low, high = r[i], r[i + 1]
            r[i], r[i + 1] = do("chacha.packlh", low, high), do("chacha.packlh", high, low)

    for _ in range(10):
        for diagonal in (False, True):
            half_round(0, 2, 4, 6)
            half_round(1, 3, 5, 7)
            for row in (1, 2, 3):
                turn(2 * row, 4 - row if diagonal else row)
    return [w >> s & M for w in r for s in (0, 32)]


@pytest.mark.parametrize("variant", [1, 2, 3])
def test_block(variant: int) -> None:
    rng = random.Random(variant)
    key, nonce = rng.randbytes(32), rng.randbytes(16)
    expected = Cipher(algorithms.ChaCha20(key, nonce), None).encryptor().update(bytes(64))
    start = [*CONSTANTS, *struct.unpack("<8I", key), *struct.unpack("<4I", nonce)]
    end = rounds_by_rows(start) if variant == 3 else rounds_by_columns(variant, start)
    words = [(a + b) & M for a, b in zip(start, end, strict=True)]
    assert struct.pack("<16I", *words) == expected


def test_packing() -> None:
    do = Execute(64, "xchachapack")
    a, b = 0x1111111122222222, 0x3333333344444444
    assert do("chacha.pack", a, b) == 0x4444444422222222
    assert do("chacha.packh", a, b) == 0x3333333311111111
    assert do("chacha.packhl", a, b) == 0x3333333322222222
    assert do("chacha.packlh", a, b) == 0x4444444411111111

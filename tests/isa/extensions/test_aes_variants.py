"""AES by the instructions of each published extension, against the `cryptography` package.

The instruction sequences follow the papers: a whole cipher is right only if every piece is.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from tests.isa.extensions.execute import Execute

M = 0xFFFFFFFF
Words = list[int]


def rotate(x: int, bits: int) -> int:
    return (x << bits | x >> (32 - bits)) & M


def expand(key: bytes, substitute: Callable[[int], int]) -> Words:
    """AES-128 round keys (FIPS 197, 5.2), a word a column, by the given SubWord."""
    words = list(struct.unpack("<4I", key))
    constant = 1
    for i in range(4, 44):
        t = words[-1]
        if i % 4 == 0:
            t = substitute(rotate(t, 24)) ^ constant
            constant = constant << 1 ^ (0x11B if constant & 0x80 else 0)
        words.append(words[i - 4] ^ t)
    return words


def shift_rows(columns: Words, direction: int) -> Words:
    return [
        sum(columns[(c + direction * r) % 4] & 0xFF << 8 * r for r in range(4)) for c in range(4)
    ]


def add(a: Words, b: Words) -> Words:
    return [x ^ y for x, y in zip(a, b, strict=True)]


class V1:
    """Columns; rows are shifted by other instructions."""

    def __init__(self) -> None:
        self.do = Execute(32, "xaesv1")

    def keys(self, key: bytes) -> Words:
        return expand(key, lambda x: self.do("saes.v1.encs", x))

    def encrypt(self, s: Words, k: Words) -> Words:
        s = add(s, k[:4])
        for r in range(1, 11):
            s = shift_rows([self.do("saes.v1.encs", x) for x in s], 1)
            if r < 10:
                s = [self.do("saes.v1.encm", x) for x in s]
            s = add(s, k[4 * r : 4 * r + 4])
        return s

    def decrypt(self, s: Words, k: Words) -> Words:
        s = add(s, k[40:])
        for r in range(9, -1, -1):
            s = [self.do("saes.v1.decs", x) for x in shift_rows(s, -1)]
            s = add(s, k[4 * r : 4 * r + 4])
            if r:
                s = [self.do("saes.v1.decm", x) for x in s]
        return s


class V2:
    """Columns; the substitutions move odd rows, the mixes the lower half."""

    def __init__(self) -> None:
        self.do = Execute(32, "xaesv2")

    def keys(self, key: bytes) -> Words:
        return expand(key, lambda x: self.do("saes.v2.sub.enc", x, x))

    def _round(self, s: Words, way: str, last: bool) -> Words:
        step = 1 if way == "enc" else -1
        u = [self.do(f"saes.v2.sub.{way}", s[c], s[(c + step) % 4]) for c in range(4)]
        pairs = [(u[c], u[(c + 2) % 4]) for c in range(4)]
        if last:
            return [a & 0xFFFF | b & 0xFFFF0000 for a, b in pairs]
        return [self.do(f"saes.v2.mix.{way}", a, b) for a, b in pairs]

    def encrypt(self, s: Words, k: Words) -> Words:
        s = add(s, k[:4])
        for r in range(1, 11):
            s = add(self._round(s, "enc", r == 10), k[4 * r : 4 * r + 4])
        return s

    def decrypt(self, s: Words, k: Words) -> Words:
        """Equivalent inverse cipher (FIPS 197, 5.3.5)."""
        s = add(s, k[40:])
        for r in range(9, -1, -1):
            key = k[4 * r : 4 * r + 4]
            if r:
                key = [self.do("saes.v2.mix.dec", x, x) for x in key]
            s = add(self._round(s, "dec", r == 0), key)
        return s


class V3:
    """Columns; one byte an instruction, added to the round key."""

    def __init__(self) -> None:
        self.do = Execute(32, "xaesv3")

    def _word(self, name: str, start: int, sources: list[int]) -> int:
        for bs, source in enumerate(sources):
            start = self.do(name, start, source, bs)
        return start

    def keys(self, key: bytes) -> Words:
        return expand(key, lambda x: self._word("saes.v3.encs", 0, [x] * 4))

    def encrypt(self, s: Words, k: Words) -> Words:
        s = add(s, k[:4])
        for r in range(1, 11):
            name = "saes.v3.encsm" if r < 10 else "saes.v3.encs"
            key = k[4 * r : 4 * r + 4]
            s = [self._word(name, key[c], [s[(c + b) % 4] for b in range(4)]) for c in range(4)]
        return s

    def decrypt(self, s: Words, k: Words) -> Words:
        s = add(s, k[40:])
        for r in range(9, -1, -1):
            name = "saes.v3.decsm" if r else "saes.v3.decs"
            key = k[4 * r : 4 * r + 4]
            if r:  # InvMixColumns of a key word: substitute forth, then back with mixing
                forth = [self._word("saes.v3.encs", 0, [x] * 4) for x in key]
                key = [self._word("saes.v3.decsm", 0, [x] * 4) for x in forth]
            s = [self._word(name, key[c], [s[(c - b) % 4] for b in range(4)]) for c in range(4)]
        return s


V4_NAMES = {"es": "encs", "esm": "encsm", "ds": "decs", "dsm": "decsm"}
V4_NAMES |= {"im": "imix", "ks1i": "ks1", "ks2": "ks2"}
"""Name in V4 of each instruction, by its name in Zkne or Zknd."""


class V4:
    """Half states of 64 bits."""

    def __init__(self) -> None:
        self.execute = Execute(64, "xaesv4")

    def do(self, name: str, *operands: int) -> int:
        return self.execute(f"saes.v4.{V4_NAMES[name]}", *operands)

    def keys(self, key: bytes) -> Words:
        a, b = struct.unpack("<2Q", key)
        keys = [a, b]
        for r in range(10):
            a = self.do("ks2", self.do("ks1i", b, r), a)
            b = self.do("ks2", a, b)
            keys += [a, b]
        return [x >> shift & M for x in keys for shift in (0, 32)]

    @staticmethod
    def _pairs(words: Words) -> Words:
        return [words[i] | words[i + 1] << 32 for i in range(0, len(words), 2)]

    def _run(self, s: Words, rounds: list[Words], middle: str, last: str) -> Words:
        a, b = self._pairs(s)
        a, b = a ^ rounds[0][0], b ^ rounds[0][1]
        for i, key in enumerate(rounds[1:]):
            name = last if i == len(rounds) - 2 else middle
            a, b = self.do(name, a, b) ^ key[0], self.do(name, b, a) ^ key[1]
        return [x >> shift & M for x in (a, b) for shift in (0, 32)]

    def encrypt(self, s: Words, k: Words) -> Words:
        rounds = [self._pairs(k[4 * r : 4 * r + 4]) for r in range(11)]
        return self._run(s, rounds, "esm", "es")

    def decrypt(self, s: Words, k: Words) -> Words:
        rounds = [self._pairs(k[4 * r : 4 * r + 4]) for r in range(10, -1, -1)]
        inner = [[self.do("im", x) for x in key] for key in rounds[1:-1]]
        return self._run(s, [rounds[0], *inner, rounds[-1]], "dsm", "ds")


class Zk64(V4):
    """The ratified form of V4."""

    def __init__(self) -> None:
        self.execute = Execute(64, "zkne", "zknd")

    def do(self, name: str, *operands: int) -> int:
        return self.execute(f"aes64{name}", *operands)


class V5:
    """Quadrants: two rows of two columns."""

    def __init__(self) -> None:
        self.do = Execute(32, "xaesv5")

    def keys(self, key: bytes) -> Words:
        return expand(key, lambda x: self.do("saes.v5.sub", x))

    @staticmethod
    def quadrants(columns: Words) -> Words:
        """Rows 0 and 1 of columns 0 and 1, of 2 and 3; then rows 2 and 3 of them."""
        c = columns
        low = [(c[i] & 0xFFFF) << 16 | c[i + 1] & 0xFFFF for i in (0, 2)]
        return low + [c[i] & 0xFFFF0000 | c[i + 1] >> 16 for i in (0, 2)]

    @staticmethod
    def columns(q: Words) -> Words:
        return [
            q[i] >> shift & 0xFFFF | (q[i + 2] >> shift & 0xFFFF) << 16
            for i in (0, 1)
            for shift in (16, 0)
        ]

    def _shifted(self, q: Words, way: str) -> Words:
        return [
            self.do(f"saes.v5.{way}srsub.{half}", q[i], q[j])
            for half, i, j in (("lo", 0, 1), ("lo", 1, 0), ("hi", 2, 3), ("hi", 3, 2))
        ]

    def _mixed(self, q: Words, way: str) -> Words:
        return [self.do(f"saes.v5.{way}mix", q[i], q[i ^ 2]) for i in range(4)]

    def encrypt(self, s: Words, k: Words) -> Words:
        q = self.quadrants(add(s, k[:4]))
        for r in range(1, 11):
            q = self._shifted(q, "e")
            if r < 10:
                q = self._mixed(q, "e")
            q = add(q, self.quadrants(k[4 * r : 4 * r + 4]))
        return self.columns(q)

    def decrypt(self, s: Words, k: Words) -> Words:
        q = self.quadrants(add(s, k[40:]))
        for r in range(9, -1, -1):
            q = add(self._shifted(q, "d"), self.quadrants(k[4 * r : 4 * r + 4]))
            if r:
                q = self._mixed(q, "d")
        return self.columns(q)


@pytest.mark.parametrize("variant", [V1, V2, V3, V4, Zk64, V5])
@pytest.mark.parametrize("seed", range(3))
def test_aes128(variant: type[V1], seed: int) -> None:
    rng = random.Random(seed)
    key, block = rng.randbytes(16), rng.randbytes(16)
    expected = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(block)
    cipher = variant()
    keys = cipher.keys(key)
    assert struct.pack("<4I", *cipher.encrypt(list(struct.unpack("<4I", block)), keys)) == expected
    assert struct.pack("<4I", *cipher.decrypt(list(struct.unpack("<4I", expected)), keys)) == block


def test_key_schedule_without_round_constant() -> None:
    """AES-256 needs SubWord alone, rnum 10: round keys 8 to 15 of FIPS 197 A.3."""
    key = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    for do in (Zk64().do, V4().do):
        words = list(struct.unpack("<4Q", key))
        a = do("ks2", do("ks1i", words[3], 0), words[0])
        b = do("ks2", a, words[1])
        c = do("ks2", do("ks1i", b, 10), words[2])
        d = do("ks2", c, words[3])
        assert struct.pack("<4Q", a, b, c, d).hex() == (
            "9ba354118e6925afa51a8b5f2067fcdea8b09c1a93d194cdbe49846eb75d5b9a"
        )

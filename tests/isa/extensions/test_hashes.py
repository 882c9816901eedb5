"""Zknh, Zksh, Zksed and Ascon's extension as whole algorithms, against other implementations.

SHA-2 against `hashlib`, SM3 and SM4 against the `cryptography` package, Ascon-Hash against the
published known answer.
"""

from __future__ import annotations

import hashlib
import random
import struct
from collections.abc import Callable
from itertools import count
from math import isqrt

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from isa.extensions.xascon import ROTATIONS
from tests.isa.extensions.execute import Execute

M32 = 2**32 - 1
M64 = 2**64 - 1


def primes(number: int) -> list[int]:
    found: list[int] = []
    for n in count(2):
        if all(n % p for p in found):
            found.append(n)
        if len(found) == number:
            return found
    raise AssertionError


def root_bits(value: int, degree: int, width: int) -> int:
    """First `width` bits of the fractional part of a square or cube root (FIPS 180-4, 4.2, 5.3)."""
    scaled = value << degree * width
    if degree == 2:
        return isqrt(scaled) % (1 << width)
    low, high = 0, 1 << (width + 8)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**3 <= scaled else (low, middle)
    return low % (1 << width)


Sigma = Callable[[int], int]


def sha2(message: bytes, width: int, rounds: int, sigmas: list[Sigma]) -> bytes:
    """SHA-256 (width 32) or SHA-512 (64) with functions Sigma 0, Sigma 1, sigma 0 and sigma 1."""
    big0, big1, small0, small1 = sigmas
    mask = (1 << width) - 1
    constants = [root_bits(p, 3, width) for p in primes(rounds)]
    state = [root_bits(p, 2, width) for p in primes(8)]
    block, field = 2 * width, width // 4  # bytes of a block, of the length at its end
    padded = message + b"\x80" + bytes(-(len(message) + 1 + field) % block)
    padded += (8 * len(message)).to_bytes(field, "big")
    form = f">16{'I' if width == 32 else 'Q'}"
    for start in range(0, len(padded), block):
        w = list(struct.unpack(form, padded[start : start + block]))
        for i in range(16, rounds):
            w.append((small1(w[i - 2]) + w[i - 7] + small0(w[i - 15]) + w[i - 16]) & mask)
        a, b, c, d, e, f, g, h = state
        for k, x in zip(constants, w, strict=True):
            t = h + big1(e) + (e & f ^ ~e & g) + k + x
            s = big0(a) + (a & b ^ a & c ^ b & c)
            a, b, c, d, e, f, g, h = (t + s) & mask, a, b, c, (d + t) & mask, e, f, g
        state = [(x + y) & mask for x, y in zip(state, (a, b, c, d, e, f, g, h), strict=True)]
    return b"".join(x.to_bytes(width // 8, "big") for x in state)


def sha256_sigmas(xlen: int) -> list[Sigma]:
    do = Execute(xlen, "zknh")
    names = ("sha256sum0", "sha256sum1", "sha256sig0", "sha256sig1")

    def function(name: str) -> Sigma:
        def sigma(x: int) -> int:
            value = do(name, x)
            assert value >> 31 in (0, (1 << xlen - 31) - 1), "not sign-extended"
            return value & M32

        return sigma

    return [function(n) for n in names]


def sha512_sigmas_64() -> list[Sigma]:
    do = Execute(64, "zknh")
    return [
        lambda x, n=n: do(n, x) for n in ("sha512sum0", "sha512sum1", "sha512sig0", "sha512sig1")
    ]


def sha512_sigmas_32() -> list[Sigma]:
    do = Execute(32, "zknh")

    def halves(low: str, high: str) -> Sigma:
        return lambda x: do(low, x & M32, x >> 32) | do(high, x >> 32, x & M32) << 32

    return [
        halves("sha512sum0r", "sha512sum0r"),
        halves("sha512sum1r", "sha512sum1r"),
        halves("sha512sig0l", "sha512sig0h"),
        halves("sha512sig1l", "sha512sig1h"),
    ]


MESSAGES = [b"", b"abc", *(random.Random(n).randbytes(n) for n in (55, 56, 111, 112, 200))]


@pytest.mark.parametrize("message", MESSAGES, ids=len)
def test_sha256(message: bytes) -> None:
    expected = hashlib.sha256(message).digest()
    for xlen in (32, 64):
        assert sha2(message, 32, 64, sha256_sigmas(xlen)) == expected


@pytest.mark.parametrize("message", MESSAGES, ids=len)
def test_sha512(message: bytes) -> None:
    expected = hashlib.sha512(message).digest()
    assert sha2(message, 64, 80, sha512_sigmas_64()) == expected
    assert sha2(message, 64, 80, sha512_sigmas_32()) == expected


def rotl(x: int, n: int) -> int:
    return (x << n % 32 | x >> -n % 32) & M32


def sm3(message: bytes, xlen: int) -> bytes:
    """GB/T 32905-2016."""
    do = Execute(xlen, "zksh")
    state = list(
        struct.unpack(
            ">8I",
            bytes.fromhex("7380166f4914b2b9172442d7da8a0600a96f30bc163138aae38dee4db0fb0e4e"),
        )
    )
    padded = message + b"\x80" + bytes(-(len(message) + 9) % 64)
    padded += (8 * len(message)).to_bytes(8, "big")
    for start in range(0, len(padded), 64):
        w = list(struct.unpack(">16I", padded[start : start + 64]))
        for j in range(16, 68):
            x = w[j - 16] ^ w[j - 9] ^ rotl(w[j - 3], 15)
            w.append((do("sm3p1", x) ^ rotl(w[j - 13], 7) ^ w[j - 6]) & M32)
        a, b, c, d, e, f, g, h = state
        for j in range(64):
            t = 0x79CC4519 if j < 16 else 0x7A879D8A
            s1 = rotl(rotl(a, 12) + e + rotl(t, j) & M32, 7)
            s2 = s1 ^ rotl(a, 12)
            ff = a ^ b ^ c if j < 16 else a & b | a & c | b & c
            gg = e ^ f ^ g if j < 16 else e & f | ~e & g
            t1 = ff + d + s2 + (w[j] ^ w[j + 4]) & M32
            t2 = gg + h + s1 + w[j] & M32
            a, b, c, d = t1, a, rotl(b, 9), c
            e, f, g, h = do("sm3p0", t2) & M32, e, rotl(f, 19), g
        state = [x ^ y for x, y in zip(state, (a, b, c, d, e, f, g, h), strict=True)]
    return struct.pack(">8I", *state)


@pytest.mark.parametrize("message", MESSAGES, ids=len)
def test_sm3(message: bytes) -> None:
    reference = hashes.Hash(hashes.SM3())
    reference.update(message)
    expected = reference.finalize()
    for xlen in (32, 64):
        assert sm3(message, xlen) == expected


def sm4_keys(key: bytes, step: Callable[[str, int, int], int]) -> list[int]:
    """Round keys; words in memory order, as the instructions take them."""
    family = (0xA3B1BAC6, 0x56AA3350, 0x677D9197, 0xB27022DC)
    k = [
        a ^ int.from_bytes(f.to_bytes(4, "big"), "little")
        for a, f in zip(struct.unpack("<4I", key), family, strict=True)
    ]
    keys = []
    for i in range(32):
        constant = int.from_bytes(bytes((4 * i + j) * 7 % 256 for j in range(4)), "little")
        new = step("sm4ks", k[0], k[1] ^ k[2] ^ k[3] ^ constant)
        k = [*k[1:], new]
        keys.append(new)
    return keys


def sm4(block: bytes, keys: list[int], step: Callable[[str, int, int], int]) -> bytes:
    x = list(struct.unpack("<4I", block))
    for key in keys:
        x = [*x[1:], step("sm4ed", x[0], x[1] ^ x[2] ^ x[3] ^ key)]
    return struct.pack("<4I", *reversed(x))


@pytest.mark.parametrize("xlen", [32, 64])
@pytest.mark.parametrize("seed", range(3))
def test_sm4(xlen: int, seed: int) -> None:
    do = Execute(xlen, "zksed")

    def step(name: str, accumulator: int, word: int) -> int:
        for bs in range(4):
            accumulator = do(name, accumulator, word, bs)
        return accumulator & M32

    rng = random.Random(seed)
    key, block = rng.randbytes(16), rng.randbytes(16)
    expected = Cipher(algorithms.SM4(key), modes.ECB()).encryptor().update(block)
    keys = sm4_keys(key, step)
    assert sm4(block, keys, step) == expected
    assert sm4(expected, keys[::-1], step) == block


def ascon_permutation(s: list[int], sigma: Callable[[int, int], int]) -> list[int]:
    """Twelve rounds (Ascon v1.2, 2.6)."""
    for r in range(12):
        x0, x1, x2, x3, x4 = s
        x2 ^= (0xF - r) << 4 | r
        x0, x2, x4 = x0 ^ x4, x2 ^ x1, x4 ^ x3
        x = (x0, x1, x2, x3, x4)
        t = [x[i] ^ (~x[(i + 1) % 5] & M64 & x[(i + 2) % 5]) for i in range(5)]
        t = [t[0] ^ t[4], t[1] ^ t[0], ~t[2] & M64, t[3] ^ t[2], t[4]]
        s = [sigma(i, v) for i, v in enumerate(t)]
    return s


def ascon_hash(message: bytes, sigma: Callable[[int, int], int]) -> bytes:
    """Ascon-Hash of v1.2, 2.5."""
    s = ascon_permutation([0x00400C0000000100, 0, 0, 0, 0], sigma)
    padded = message + b"\x80" + bytes(-(len(message) + 1) % 8)
    for start in range(0, len(padded), 8):
        s[0] ^= int.from_bytes(padded[start : start + 8], "big")
        s = ascon_permutation(s, sigma)
    digest = b""
    for i in range(4):
        digest += s[0].to_bytes(8, "big")
        if i < 3:
            s = ascon_permutation(s, sigma)
    return digest


def test_ascon_hash() -> None:
    """Count 1 of the known answers in the submission (LWC_HASH_KAT_256)."""
    one, two = Execute(64, "xascon"), Execute(32, "xascon")

    def halves(i: int, x: int) -> int:
        low, high = x & M32, x >> 32
        first, second = (two(f"ascon.sigma.{h}", low, high, i) for h in ("lo", "hi"))
        return first | second << 32

    for sigma in (lambda i, x: one("ascon.sigma", x, i), halves):
        assert ascon_hash(b"", sigma).hex() == (
            "7346bc14f036e87ae03d0997913088f5f68411434b3cf8b54fa796a80d251f91"
        )


def test_ascon_sigma_beyond_the_last_is_the_identity() -> None:
    do = Execute(64, "xascon")
    assert [do("ascon.sigma", 0x123456789ABCDEF0, i) for i in (5, 31)] == [0x123456789ABCDEF0] * 2
    assert len(ROTATIONS) == 5

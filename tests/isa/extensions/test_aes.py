"""aes32* chained into whole ciphers, against the `cryptography` package."""

from __future__ import annotations

import random
import struct

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from isa.aes import inverse_sbox, sbox
from isa.bits import evaluate
from isa.instruction_set import InstructionSet

ISA = InstructionSet.of(32, "rv32i", "zkne", "zknd").by_name


def step(name: str, rs1: int, rs2: int, bs: int) -> int:
    return evaluate(ISA[name].effects(32).rd, {"rs1": rs1, "rs2": rs2, "bs": bs})


def expand(key: bytes) -> list[int]:
    """Round keys by the key schedule as the specification writes it with aes32esi (AES-128)."""
    w = list(struct.unpack("<4I", key))
    rcon = 1
    while len(w) < 44:
        t = w[-1]
        if len(w) % 4 == 0:
            t = t >> 8 | t << 24 & 0xFFFFFFFF
            t = w[-4] ^ rcon ^ substitute(t)
            rcon = rcon << 1 ^ (0x11B if rcon & 0x80 else 0)
        else:
            t ^= w[-4]
        w.append(t)
    return w


def substitute(word: int) -> int:
    result = 0
    for bs in range(4):
        result = step("aes32esi", result, word, bs)
    return result


def encrypt(block: bytes, w: list[int]) -> bytes:
    s = [a ^ k for a, k in zip(struct.unpack("<4I", block), w[:4], strict=True)]
    for r in range(1, 11):
        name = "aes32esmi" if r < 10 else "aes32esi"
        t = w[4 * r : 4 * r + 4]
        for c in range(4):
            for bs in range(4):
                t[c] = step(name, t[c], s[(c + bs) % 4], bs)
        s = t
    return struct.pack("<4I", *s)


def decrypt(block: bytes, w: list[int]) -> bytes:
    """Equivalent inverse cipher: middle round keys pass through InvMixColumns."""
    mixed = list(w)
    for i in range(4, 40):
        value = 0
        for bs in range(4):
            value = step("aes32dsmi", value, substitute(w[i]), bs)
        mixed[i] = value
    s = [a ^ k for a, k in zip(struct.unpack("<4I", block), mixed[40:], strict=True)]
    for r in range(9, -1, -1):
        name = "aes32dsmi" if r else "aes32dsi"
        t = mixed[4 * r : 4 * r + 4]
        for c in range(4):
            for bs in range(4):
                t[c] = step(name, t[c], s[(c - bs) % 4], bs)
        s = t
    return struct.pack("<4I", *s)


@pytest.mark.parametrize("seed", range(3))
def test_aes128_by_instructions(seed: int) -> None:
    rng = random.Random(seed)
    key, block = rng.randbytes(16), rng.randbytes(16)
    cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    expected = cipher.update(block)
    w = expand(key)
    assert encrypt(block, w) == expected
    assert decrypt(expected, w) == block


def test_sbox_values_printed_in_the_standard() -> None:
    """FIPS 197 tables 4 and 6: S(53) = ed is the worked example; corners of both tables."""
    assert (sbox().entries[0x53], sbox().entries[0x00], sbox().entries[0xFF]) == (0xED, 0x63, 0x16)
    assert (inverse_sbox().entries[0x00], inverse_sbox().entries[0xFF]) == (0x52, 0x7D)

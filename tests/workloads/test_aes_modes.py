"""Golden AES-GCM and XTS against the `cryptography` package."""

from __future__ import annotations

import random

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import workloads
from workloads.aes import encrypt_block, expand_key
from workloads.ghash import prepared


def test_two_hundred_sealed_messages() -> None:
    rng = random.Random(38)
    for _ in range(200):
        size = rng.randrange(1, 100)
        key, iv = rng.randbytes(16), rng.randbytes(12)
        associated, data = rng.randbytes(20), rng.randbytes(size)
        keys = expand_key(key)
        inputs = {
            "round_keys": keys,
            "hash_key": prepared(encrypt_block(bytes(16), keys)),
            "iv": iv,
            "associated": associated,
            "input": data,
        }
        sealed = AESGCM(key).encrypt(iv, data, associated)
        expected = {"output": sealed[:-16], "tag": sealed[-16:]}
        assert workloads.get("aes128-gcm", size).golden(inputs) == expected


def test_two_hundred_sectors() -> None:
    rng = random.Random(1619)
    for _ in range(200):
        size = 16 * rng.randrange(1, 12)
        key, tweak_key = rng.randbytes(16), rng.randbytes(16)
        sector, data = rng.randbytes(16), rng.randbytes(size)
        inputs = {
            "round_keys": expand_key(key),
            "tweak_round_keys": expand_key(tweak_key),
            "sector": sector,
            "input": data,
        }
        cipher = Cipher(algorithms.AES(key + tweak_key), modes.XTS(sector))
        expected = {"output": cipher.encryptor().update(data)}
        assert workloads.get("aes128-xts", size).golden(inputs) == expected


def test_bad_sizes() -> None:
    with pytest.raises(ValueError, match=r"^message of aes128-gcm must have 1 to 16384 bytes"):
        workloads.get("aes128-gcm", 0)
    with pytest.raises(ValueError, match=r"^message of aes128-xts must be a multiple of 16 bytes"):
        workloads.get("aes128-xts", 20)

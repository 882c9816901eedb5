"""Golden GHASH against AES-GCM of the `cryptography` package."""

from __future__ import annotations

import random

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import workloads
from workloads.ghash import prepared


def test_random_tags(random_cases: int) -> None:
    """The tag of associated data alone is GHASH of it and its length plus an encrypted block."""
    rng = random.Random(38)
    for _ in range(random_cases):
        key, nonce = rng.randbytes(16), rng.randbytes(12)
        size = 16 * rng.randrange(1, 6)
        data = rng.randbytes(size)
        ecb = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
        h, mask = ecb.update(bytes(16)), ecb.update(nonce + b"\0\0\0\1")
        message = data + (8 * size).to_bytes(8, "big") + bytes(8)
        inputs = {"message": message, "key": prepared(h)}
        digest = workloads.get("ghash", size + 16).golden(inputs)["digest"]
        tag = bytes(a ^ b for a, b in zip(digest, mask, strict=True))
        assert tag == AESGCM(key).encrypt(nonce, b"", data)


def test_bad_size() -> None:
    pattern = r"^message of ghash must be a multiple of 16 bytes in 16 to 16384, not 17$"
    with pytest.raises(ValueError, match=pattern):
        workloads.get("ghash", 17)

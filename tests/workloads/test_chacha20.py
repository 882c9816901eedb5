"""Golden ChaCha20 against the `cryptography` package."""

from __future__ import annotations

import random

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

import workloads


def test_random_messages(random_cases: int) -> None:
    rng = random.Random(8439)
    for _ in range(random_cases):
        size = rng.randrange(1, 300)
        key, data = rng.randbytes(32), rng.randbytes(size)
        counter, nonce = rng.randbytes(3) + b"\0", rng.randbytes(12)
        expected = Cipher(algorithms.ChaCha20(key, counter + nonce), None).encryptor().update(data)
        inputs = {"key": key, "counter": counter, "nonce": nonce, "input": data}
        assert workloads.get("chacha20", size).golden(inputs) == {"output": expected}


def test_bad_size() -> None:
    pattern = r"^message of chacha20 must have 1 to 16384 bytes, not 0$"
    with pytest.raises(ValueError, match=pattern):
        workloads.get("chacha20", 0)

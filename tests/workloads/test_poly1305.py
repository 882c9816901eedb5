"""Golden Poly1305 and ChaCha20-Poly1305 against the `cryptography` package; the last reduction."""

from __future__ import annotations

import random

import pytest
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.poly1305 import Poly1305

import workloads
from tests.workloads.interpret import interpret


def test_random_tags(random_cases: int) -> None:
    rng = random.Random(1305)
    for _ in range(random_cases):
        size = rng.randrange(1, 120)
        inputs = {"key": rng.randbytes(32), "message": rng.randbytes(size)}
        expected = Poly1305.generate_tag(inputs["key"], inputs["message"])
        assert workloads.get("poly1305", size).golden(inputs) == {"tag": expected}


@pytest.mark.parametrize("xlen", [32, 64])
@pytest.mark.parametrize("beyond", range(-3, 5))
def test_results_around_the_prime(beyond: int, xlen: int) -> None:
    """With r = 1 three blocks add up to the prime and a little."""
    workload = workloads.get("poly1305", 48)
    message = (2**128 - 5 + beyond).to_bytes(16, "little") + bytes(32)
    inputs = {"key": (1).to_bytes(32, "little"), "message": message}
    expected = {"tag": Poly1305.generate_tag(inputs["key"], message)}
    for kernel in workload.kernels.values():
        assert interpret(workload, kernel, inputs, xlen) == expected


def test_random_sealed_messages(random_cases: int) -> None:
    rng = random.Random(8439)
    for _ in range(random_cases):
        size = rng.randrange(1, 200)
        inputs = {
            "key": rng.randbytes(32),
            "nonce": rng.randbytes(12),
            "associated": rng.randbytes(12),
            "input": rng.randbytes(size),
        }
        sealed = ChaCha20Poly1305(inputs["key"]).encrypt(
            inputs["nonce"], inputs["input"], inputs["associated"]
        )
        expected = {"output": sealed[:-16], "tag": sealed[-16:]}
        assert workloads.get("chacha20-poly1305", size).golden(inputs) == expected
        for flip in (0, 128):
            tag = bytes([sealed[-16] ^ flip]) + sealed[-15:]
            opened = {"output": inputs["input"], "authentic": bytes([not flip, 0, 0, 0])}
            given = {**inputs, "input": sealed[:-16], "tag": tag}
            assert workloads.get("chacha20-poly1305-open", size).golden(given) == opened


@pytest.mark.parametrize("name", ["poly1305", "chacha20-poly1305"])
def test_bad_size(name: str) -> None:
    pattern = rf"^message of {name} must have 1 to 65536 bytes, not 0$"
    with pytest.raises(ValueError, match=pattern):
        workloads.get(name, 0)

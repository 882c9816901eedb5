"""Golden hashes against `hashlib` and their standards' examples."""

from __future__ import annotations

import hashlib
import random

import pytest

import workloads

MERKLE_DAMGARD = ["sha256", "sha512", "sm3"]
SPONGES = {
    "sha3-256": lambda m: hashlib.sha3_256(m).digest(),
    "sha3-512": lambda m: hashlib.sha3_512(m).digest(),
    "shake128": lambda m: hashlib.shake_128(m).digest(32),
    "shake256": lambda m: hashlib.shake_256(m).digest(64),
}


@pytest.mark.parametrize("name", MERKLE_DAMGARD)
def test_every_size_around_the_padding(name: str) -> None:
    rng = random.Random(name)
    for size in range(1, 260):
        message = rng.randbytes(size)
        expected = hashlib.new(name, message).digest()
        assert workloads.get(name, size).golden({"message": message}) == {"digest": expected}, size


@pytest.mark.parametrize("name", sorted(SPONGES))
def test_sponges_of_every_size(name: str) -> None:
    rng = random.Random(name)
    for size in range(1, 210):
        message = rng.randbytes(size)
        expected = SPONGES[name](message)
        assert workloads.get(name, size).golden({"message": message}) == {"digest": expected}, size


@pytest.mark.full
@pytest.mark.parametrize("name", [*MERKLE_DAMGARD, *sorted(SPONGES)])
def test_thousand_random_messages(name: str) -> None:
    rng = random.Random(f"{name} thousand")
    for _ in range(1000):
        message = rng.randbytes(rng.randrange(1, 1000))
        known = SPONGES[name](message) if name in SPONGES else hashlib.new(name, message).digest()
        assert workloads.get(name, len(message)).golden({"message": message}) == {"digest": known}


@pytest.mark.parametrize("name", [*MERKLE_DAMGARD, *sorted(SPONGES)])
def test_bad_sizes(name: str) -> None:
    for size in (0, 65_537):
        pattern = rf"^message of {name} must have 1 to 65536 bytes, not {size}$"
        with pytest.raises(ValueError, match=pattern):
            workloads.get(name, size)

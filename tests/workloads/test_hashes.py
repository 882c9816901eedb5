"""Golden hashes against `hashlib` and their standards' examples."""

from __future__ import annotations

import hashlib
import random

import pytest

import workloads

MERKLE_DAMGARD = ["sha256", "sha512", "sm3"]


@pytest.mark.parametrize("name", MERKLE_DAMGARD)
def test_every_size_around_the_padding(name: str) -> None:
    rng = random.Random(name)
    for size in range(1, 260):
        message = rng.randbytes(size)
        expected = hashlib.new(name, message).digest()
        assert workloads.get(name, size).golden({"message": message}) == {"digest": expected}, size


@pytest.mark.parametrize("name", MERKLE_DAMGARD)
def test_bad_sizes(name: str) -> None:
    for size in (0, 16_385):
        pattern = rf"^message of {name} must have 1 to 16384 bytes, not {size}$"
        with pytest.raises(ValueError, match=pattern):
            workloads.get(name, size)

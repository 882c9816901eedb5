"""Golden SLH-DSA chain against `hashlib`."""

from __future__ import annotations

import hashlib
import random

import workloads
from workloads.sha256 import INITIAL, SHA256, compress
from workloads.slhdsa import STEPS

SIZES = (("seed", 16), ("address", 32), ("value", 16))


def reference(seed: bytes, address: bytes, value: bytes) -> bytes:
    for step in range(STEPS):
        data = seed + bytes(48) + address[:18] + step.to_bytes(4, "big") + value
        value = hashlib.sha256(data).digest()[:16]
    return value


def test_random_chains(random_cases: int) -> None:
    rng = random.Random(205)
    workload = workloads.get("slhdsa-sha2-128-chain")
    for _ in range(random_cases):
        seed, address, value = rng.randbytes(16), rng.randbytes(22), rng.randbytes(16)
        state = SHA256.pack(compress(INITIAL, seed + bytes(48)))
        inputs = {"seed_state": state, "address": address, "value": value}
        assert workload.golden(inputs) == {"value": reference(seed, address, value)}


def test_vector() -> None:
    """The vector belongs to the seed it names."""
    (vector,) = workloads.get("slhdsa-sha2-128-chain").vectors
    seed = bytes(range(16))
    assert vector.inputs["seed_state"] == SHA256.pack(compress(INITIAL, seed + bytes(48)))
    expected = reference(seed, vector.inputs["address"], vector.inputs["value"])
    assert vector.outputs["value"] == expected


def shake_reference(seed: bytes, address: bytes, value: bytes) -> bytes:
    for step in range(STEPS):
        data = seed + address[:28] + step.to_bytes(4, "big") + value
        value = hashlib.shake_256(data).digest(16)
    return value


def test_shake_chains() -> None:
    rng = random.Random(202)
    workload = workloads.get("slhdsa-shake-128-chain")
    cases = [{n: rng.randbytes(s) for n, s in SIZES} for _ in range(60)]
    cases += [vector.inputs for vector in workload.vectors]
    for inputs in cases:
        assert workload.golden(inputs) == {"value": shake_reference(**inputs)}

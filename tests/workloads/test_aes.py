"""Golden AES against FIPS 197, SP 800-38A and the `cryptography` package."""

from __future__ import annotations

import random

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import workloads
from isa.aes import sbox
from isa.aes_circuit import sbox as sbox_circuit
from isa.compiler import compile_kernel
from isa.instruction_set import InstructionSet
from tests.workloads.interpret import interpret
from workloads.aes import (
    decrypt_block,
    encrypt_block,
    expand_key,
    inverse_keys,
)

NAMES = [n for n in workloads.workload_names() if n.startswith("aes128-")]


def reference(key: bytes, data: bytes) -> bytes:
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(data)


def test_thousand_random_blocks() -> None:
    rng = random.Random(197)
    for _ in range(1000):
        key, block = rng.randbytes(16), rng.randbytes(16)
        expected = reference(key, block)
        keys = expand_key(key)
        assert encrypt_block(block, keys) == expected
        assert decrypt_block(expected, inverse_keys(keys)) == block


@pytest.mark.parametrize("name", NAMES)
def test_published_vectors(name: str) -> None:
    workload = workloads.get(name)
    assert workload.vectors
    for vector in workload.vectors:
        assert workload.golden(vector.inputs) == vector.outputs, vector.source


@pytest.mark.parametrize("size", [16, 48, 256])
@pytest.mark.parametrize("mode", ["ecb", "ctr"])
def test_messages_of_any_size(mode: str, size: int) -> None:
    rng = random.Random(size)
    key, data = rng.randbytes(16), rng.randbytes(size)
    counter = rng.randbytes(12) + bytes(4)
    inputs = {"input": data, "round_keys": expand_key(key), "counter": counter}
    how = modes.ECB() if mode == "ecb" else modes.CTR(counter)
    expected = Cipher(algorithms.AES(key), how).encryptor().update(data)
    assert workloads.get(f"aes128-{mode}", size).golden(inputs) == {"output": expected}


def test_sbox_circuit_is_the_sbox() -> None:
    """All 256 inputs at once, one bit position each; the table itself is held by the ciphers."""
    x = [sum((i >> bit & 1) << i for i in range(256)) for bit in reversed(range(8))]
    out = sbox_circuit(x)
    values = [
        sum((plane >> i & 1) << 7 - bit for bit, plane in enumerate(out)) ^ 0x63 for i in range(256)
    ]
    assert tuple(values) == sbox().entries


@pytest.mark.parametrize("size", [0, 15, 17, 65_552])
def test_bad_sizes(size: int) -> None:
    with pytest.raises(ValueError, match=r"^message of aes128-ctr must be a multiple of 16 bytes"):
        workloads.get("aes128-ctr", size)


def test_unknown_names() -> None:
    with pytest.raises(ValueError, match=r"not 'aes128-encypt'; did you mean 'aes128-encrypt'\?"):
        workloads.get("aes128-encypt")
    with pytest.raises(ValueError, match=r"^workload aes128-encrypt must have no message size"):
        workloads.get("aes128-encrypt", 16)


@pytest.mark.parametrize("blocks", [4, 5])
def test_bitsliced_messages_take_two_blocks_at_a_time(blocks: int) -> None:
    """AES-256 has 14 rounds where AES-128 has 10."""
    instructions = InstructionSet.of(32, "rv32i")
    executed = []
    for bits in (128, 256):
        workload = workloads.get(f"aes{bits}-ecb", 16 * blocks)
        build = workload.kernels["bitsliced"].build
        executed.append(compile_kernel(build, instructions).report["executed"])
        inputs = {
            "input": random.Random(bits).randbytes(16 * blocks),
            "round_keys": expand_key(bytes(range(bits // 8))),
        }
        found = interpret(workload, workload.kernels["bitsliced"], inputs)
        assert found == workload.golden(inputs)
    assert executed[1] < 1.45 * executed[0]

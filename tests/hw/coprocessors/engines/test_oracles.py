"""The plain Python of engines against hashlib, cryptography and published vectors."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from hw.coprocessors.engines import algorithm, engine_of
from hw.coprocessors.engines.engine import Operation


def sm3(message: bytes) -> bytes:
    digest = hashes.Hash(hashes.SM3())
    digest.update(message)
    return digest.finalize()


HASHES: dict[str, Callable[[bytes], bytes]] = {
    "sha256": lambda m: hashlib.sha256(m).digest(),
    "sha512": lambda m: hashlib.sha512(m).digest(),
    "sm3": sm3,
    "sha3-256": lambda m: hashlib.sha3_256(m).digest(),
    "shake128": lambda m: hashlib.shake_128(m).digest(168 * 3),
    "shake256": lambda m: hashlib.shake_256(m).digest(136 * 3),
}


def hashed(name: str, message: bytes) -> bytes:
    """The hash that the engine's plain Python gives, with two more outputs if extendable."""
    engine, record = engine_of(name), algorithm(name)
    assert record.padding is not None
    data = message + record.padding.tail(len(message), record.block_bytes)
    assert len(data) % record.block_bytes == 0
    state = engine.initial(name)
    for i in range(0, len(data), record.block_bytes):
        state = engine.step(name, state, data[i : i + record.block_bytes])
    out = engine.output(name, state)
    for _ in range(2 if record.extendable else 0):
        state = engine.step(name, state, b"", Operation.SQUEEZE)
        out += engine.output(name, state)
    return out


@pytest.mark.parametrize("name", HASHES)
def test_hash_of_every_length(name: str) -> None:
    """All lengths up to two blocks, so every case of padding."""
    message = random.Random(name).randbytes(2 * algorithm(name).block_bytes + 1)
    for size in range(len(message) + 1):
        assert hashed(name, message[:size]) == HASHES[name](message[:size]), size


@pytest.mark.parametrize("name", ["aes128-encrypt", "aes128-decrypt"])
def test_cipher(name: str) -> None:
    engine = engine_of(name)
    rng = random.Random(name)
    for _ in range(20):
        key, block = rng.randbytes(16), rng.randbytes(16)
        state = engine.step(name, engine.initial(name), key, Operation.KEY)
        cipher = Cipher(algorithms.AES(key), modes.ECB())
        context = cipher.encryptor() if name.endswith("-encrypt") else cipher.decryptor()
        assert engine.output(name, engine.step(name, state, block)) == context.update(block)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("haraka256", "8027ccb87949774b78d0545fb72bf70c695c2a0923cbd47bba1159efbf2b2c1c"),
        ("haraka512", "be7f723b4e80a99813b292287f306f625a6d57331cae5f34dd9277b0945be2aa"),
    ],
)
def test_haraka(name: str, answer: str) -> None:
    """Haraka v2, appendix: test vectors of the bytes 0, 1, 2, .."""
    engine = engine_of(name)
    data = bytes(range(algorithm(name).block_bytes))
    state = engine.step(name, engine.initial(name), data)
    assert engine.output(name, state) == bytes.fromhex(answer)

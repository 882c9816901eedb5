"""The plain Python of engines against hashlib, cryptography and published vectors."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import workloads
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


def hashed(name: str, message: bytes, squeezes: int) -> bytes:
    """The hash that the engine's plain Python gives, and what so many squeezes add to it."""
    engine, record = engine_of(name), algorithm(name)
    assert record.padding is not None
    data = message + record.padding.tail(len(message), record.block_bytes)
    assert len(data) % record.block_bytes == 0
    state = engine.initial(name)
    for i in range(0, len(data), record.block_bytes):
        state = engine.step(name, state, data[i : i + record.block_bytes])
    out = engine.output(name, state)
    for _ in range(squeezes):
        state = engine.step(name, state, b"", Operation.SQUEEZE)
        out += engine.output(name, state)
    return out


@pytest.mark.parametrize("name", HASHES)
def test_hash_of_every_length(name: str) -> None:
    """All lengths up to two blocks, so every case of padding."""
    message = random.Random(name).randbytes(2 * algorithm(name).block_bytes + 1)
    squeezes = 2 if algorithm(name).extendable else 0
    for size in range(len(message) + 1):
        assert hashed(name, message[:size], squeezes) == HASHES[name](message[:size]), size


def ecb(key: bytes, block: bytes, name: str) -> bytes:
    kind = algorithms.SM4 if name.startswith("sm4") else algorithms.AES
    cipher = Cipher(kind(key), modes.ECB())
    context = cipher.encryptor() if name.endswith("-encrypt") else cipher.decryptor()
    return context.update(block)


@pytest.mark.parametrize("name", ["aes128-encrypt", "aes128-decrypt", "sm4-encrypt", "sm4-decrypt"])
def test_cipher(name: str) -> None:
    engine = engine_of(name)
    rng = random.Random(name)
    for _ in range(20):
        key, block = rng.randbytes(16), rng.randbytes(16)
        state = engine.step(name, engine.initial(name), key, Operation.KEY)
        assert engine.output(name, engine.step(name, state, block)) == ecb(key, block, name)


def test_ghash() -> None:
    """The tag of AES-GCM is GHASH plus the encrypted first counter (SP 800-38D section 7.1)."""
    engine = engine_of("ghash")
    rng = random.Random("ghash")
    for blocks in range(5):
        key, nonce = rng.randbytes(16), rng.randbytes(12)
        sealed = AESGCM(key).encrypt(nonce, rng.randbytes(16 * blocks), None)
        text, tag = sealed[:-16], sealed[-16:]
        h = ecb(key, bytes(16), "aes-encrypt")
        state = engine.step("ghash", engine.initial("ghash"), h, Operation.KEY)
        data = text + (8 * len(text)).to_bytes(16, "big")
        for i in range(0, len(data), 16):
            state = engine.step("ghash", state, data[i : i + 16])
        mask = ecb(key, nonce + (1).to_bytes(4, "big"), "aes-encrypt")
        expected = bytes(a ^ b for a, b in zip(tag, mask, strict=True))
        assert engine.output("ghash", state) == expected


@pytest.mark.parametrize(
    ("size", "answer"),
    [
        (0, "0b3be5850f2f6b98caf29f8fdea89b64a1fa70aa249b8f839bd53baa304d92b2"),
        (9, "94269c30e0296e1ec86655041841823efa1927f520fd58c8e9bce6197878c1a6"),
        (32, "bd9d3d60a66b53868eab2a5c74539a518a1f60f01eb176c60e43dee81680b33e"),
    ],
)
def test_ascon_hash(size: int, answer: str) -> None:
    """Of the bytes 0, 1, 2, ..: github.com/ascon/ascon-c, LWC_HASH_KAT_128_256.txt."""
    assert hashed("ascon-hash256", bytes(range(size)), 3).hex() == answer


@pytest.mark.parametrize("name", ["ascon-p12", "ascon-p8"])
def test_ascon_permutation(name: str) -> None:
    """The initialisation of Ascon-Hash256 (SP 800-232 appendix A.3)."""
    engine = engine_of(name)
    (vector,) = workloads.get(name).vectors
    state = engine.step(name, engine.initial(name), vector.inputs["state"])
    assert engine.output(name, state) == vector.outputs["state"]


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

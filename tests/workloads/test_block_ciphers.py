"""Golden block ciphers and modes against the `cryptography` package."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from cryptography.hazmat.decrepit.ciphers import algorithms as old
from cryptography.hazmat.primitives.ciphers import BlockCipherAlgorithm, Cipher, algorithms, modes

import workloads
from workloads.aes_long_keys import AES128, AES192, AES256
from workloads.block_cipher import BlockCipher
from workloads.camellia import CAMELLIA128
from workloads.cast128 import CAST128
from workloads.hight import HIGHT
from workloads.misty1 import MISTY1
from workloads.present import PRESENT80, PRESENT128
from workloads.seed import SEED
from workloads.sm4 import SM4
from workloads.tdea import TDEA

ORACLES: dict[str, tuple[BlockCipher, Callable[[bytes], BlockCipherAlgorithm]]] = {
    "aes128": (AES128, algorithms.AES128),
    "aes192": (AES192, algorithms.AES),
    "aes256": (AES256, algorithms.AES256),
    "camellia128": (CAMELLIA128, old.Camellia),
    "cast128": (CAST128, old.CAST5),
    "seed": (SEED, old.SEED),
    "sm4": (SM4, algorithms.SM4),
    "tdea": (TDEA, old.TripleDES),
}
NAMES = sorted(ORACLES)


def reference(name: str, key: bytes, data: bytes, mode: modes.Mode) -> bytes:
    return Cipher(ORACLES[name][1](key), mode).encryptor().update(data)


@pytest.mark.parametrize("name", NAMES)
def test_random_blocks(name: str, random_cases: int) -> None:
    cipher = ORACLES[name][0]
    rng = random.Random(name)
    for _ in range(random_cases):
        key, block = rng.randbytes(cipher.key_bytes), rng.randbytes(cipher.block_bytes)
        expected = reference(name, key, block, modes.ECB())
        keys = cipher.expand(key)
        assert cipher.encrypt(block, keys) == expected
        assert cipher.decrypt(expected, cipher.decrypt_keys(keys)) == block


@pytest.mark.parametrize("cipher", [PRESENT80, PRESENT128, MISTY1, HIGHT], ids=lambda c: c.name)
def test_decryption_inverts_encryption(cipher: BlockCipher) -> None:
    """No library has these: encryption is held by its vectors, decryption by encryption."""
    rng = random.Random(cipher.name)
    for _ in range(50):
        keys = cipher.expand(rng.randbytes(cipher.key_bytes))
        block = rng.randbytes(cipher.block_bytes)
        ciphertext = cipher.encrypt(block, keys)
        assert ciphertext != block
        assert cipher.decrypt(ciphertext, cipher.decrypt_keys(keys)) == block


@pytest.mark.parametrize("blocks", [1, 3, 20])
@pytest.mark.parametrize(
    ("name", "mode"),
    [
        (n, m)
        for n in NAMES
        for m in ("ecb", "cbc", "ctr")
        if f"{n}-{m}" in workloads.workload_names()
    ],
)
def test_messages(name: str, mode: str, blocks: int) -> None:
    cipher = ORACLES[name][0]
    rng = random.Random(blocks)
    size = cipher.block_bytes * blocks
    key, data = rng.randbytes(cipher.key_bytes), rng.randbytes(size)
    start = rng.randbytes(cipher.block_bytes - 1) + b"\xff"  # the counter carries into byte 14
    inputs = {"input": data, "round_keys": cipher.expand(key), "iv": start, "counter": start}
    if mode == "ctr":  # by single blocks, as the package has no CTR of the older ciphers
        number = int.from_bytes(start[-4:], "big")
        counters = [start[:-4] + ((number + i) % 2**32).to_bytes(4, "big") for i in range(blocks)]
        stream = reference(name, key, b"".join(counters), modes.ECB())
        expected = bytes(a ^ b for a, b in zip(data, stream, strict=True))
    else:
        how = modes.ECB() if mode == "ecb" else modes.CBC(start)
        expected = reference(name, key, data, how)
    assert workloads.get(f"{name}-{mode}", size).golden(inputs) == {"output": expected}
    if mode == "cbc":
        back = {
            **inputs,
            "input": expected,
            "round_keys": cipher.decrypt_keys(inputs["round_keys"]),
        }
        assert workloads.get(f"{name}-cbc-decrypt", size).golden(back) == {"output": data}


def test_bad_sizes() -> None:
    pattern = r"^message of sm4-ecb must be a multiple of 16 bytes in 16 to 16384, not 24$"
    with pytest.raises(ValueError, match=pattern):
        workloads.get("sm4-ecb", 24)

"""Golden GCM and XTS, in both directions, against the `cryptography` package."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import (
    BlockCipherAlgorithm,
    Cipher,
    algorithms,
    modes,
)

import workloads
from workloads.aes_long_keys import AES128, AES192, AES256
from workloads.block_cipher import BlockCipher
from workloads.ghash import prepared
from workloads.sm4 import SM4

Algorithm = Callable[[bytes], BlockCipherAlgorithm]
CIPHERS: dict[str, tuple[BlockCipher, Algorithm]] = {
    "aes128": (AES128, algorithms.AES),
    "aes192": (AES192, algorithms.AES),
    "aes256": (AES256, algorithms.AES),
    "sm4": (SM4, algorithms.SM4),
}


@pytest.mark.parametrize("name", sorted(CIPHERS))
def test_random_sealed_messages(name: str, random_cases: int) -> None:
    cipher, algorithm = CIPHERS[name]
    rng = random.Random(38)
    for _ in range(random_cases):
        size = rng.randrange(1, 100)
        key, iv = rng.randbytes(cipher.key_bytes), rng.randbytes(12)
        associated, data = rng.randbytes(20), rng.randbytes(size)
        keys = cipher.expand(key)
        encryptor = Cipher(algorithm(key), modes.GCM(iv)).encryptor()
        encryptor.authenticate_additional_data(associated)
        ciphertext = encryptor.update(data) + encryptor.finalize()
        given = {
            "round_keys": keys,
            "hash_key": prepared(cipher.encrypt(bytes(16), keys)),
            "iv": iv,
            "associated": associated,
        }
        sealed = workloads.get(f"{name}-gcm", size).golden({**given, "input": data})
        assert sealed == {"output": ciphertext, "tag": encryptor.tag}
        for flip in (0, 1 << rng.randrange(128)):
            tag = (int.from_bytes(encryptor.tag, "big") ^ flip).to_bytes(16, "big")
            decryptor = Cipher(algorithm(key), modes.GCM(iv, tag)).decryptor()
            decryptor.authenticate_additional_data(associated)
            opened = {"output": decryptor.update(ciphertext), "authentic": b"\1\0\0\0"}
            try:
                decryptor.finalize()
            except InvalidTag:
                opened["authentic"] = bytes(4)
            open_workload = workloads.get(f"{name}-gcm-open", size)
            assert open_workload.golden({**given, "input": ciphertext, "tag": tag}) == opened


def _sector(
    cipher: BlockCipher, algorithm: Algorithm, rng: random.Random, size: int
) -> tuple[dict[str, bytes], bytes]:
    """Inputs of an encryption, and the ciphertext by single blocks of the package's ECB."""
    key, tweak_key = rng.randbytes(cipher.key_bytes), rng.randbytes(cipher.key_bytes)
    sector, data = rng.randbytes(16), rng.randbytes(size)
    inputs = {
        "round_keys": cipher.expand(key),
        "tweak_round_keys": cipher.expand(tweak_key),
        "sector": sector,
        "input": data,
        "decryption_keys": cipher.decrypt_keys(cipher.expand(key)),
    }
    if algorithm is algorithms.AES:
        mode = Cipher(algorithm(key + tweak_key), modes.XTS(sector))
        return inputs, mode.encryptor().update(data)
    block = Cipher(algorithm(key), modes.ECB()).encryptor()
    tweak = int.from_bytes(
        Cipher(algorithm(tweak_key), modes.ECB()).encryptor().update(sector), "little"
    )
    out = b""
    for i in range(0, size, 16):
        x = int.from_bytes(data[i : i + 16], "little") ^ tweak
        y = int.from_bytes(block.update(x.to_bytes(16, "little")), "little") ^ tweak
        out += y.to_bytes(16, "little")
        tweak = (tweak << 1) % 2**128 ^ (0x87 if tweak >> 127 else 0)
    return inputs, out


@pytest.mark.parametrize("name", ["aes128", "aes256", "sm4"])
def test_random_sectors(name: str, random_cases: int) -> None:
    rng = random.Random(1619)
    for _ in range(random_cases):
        size = 16 * rng.randrange(1, 12)
        inputs, ciphertext = _sector(*CIPHERS[name], rng, size)
        assert workloads.get(f"{name}-xts", size).golden(inputs) == {"output": ciphertext}
        back = {**inputs, "round_keys": inputs["decryption_keys"], "input": ciphertext}
        found = workloads.get(f"{name}-xts-decrypt", size).golden(back)
        assert found == {"output": inputs["input"]}


def test_bad_sizes() -> None:
    with pytest.raises(ValueError, match=r"^message of aes128-gcm must have 1 to 65536 bytes"):
        workloads.get("aes128-gcm", 0)
    with pytest.raises(ValueError, match=r"^message of aes128-xts must be a multiple of 16 bytes"):
        workloads.get("aes128-xts", 20)

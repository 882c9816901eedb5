"""Oracles of the algorithms of co-processors: hashlib, cryptography, and published vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from hw.coprocessors.compute import compute
from tests.hw.coprocessors.play import Message


def _sm3(m: Message) -> bytes:
    digest = hashes.Hash(hashes.SM3())
    digest.update(m.data)
    return digest.finalize()


def _whole(m: Message) -> bytes:
    return m.data + bytes(-len(m.data) % 16)


def _ecb(m: Message) -> bytes:
    kind = algorithms.SM4 if m.algorithm.startswith("sm4") else algorithms.AES
    cipher = Cipher(kind(m.key), modes.ECB())
    context = cipher.encryptor() if m.algorithm.endswith("-encrypt") else cipher.decryptor()
    return context.update(_whole(m))


ORACLES: dict[str, Callable[[Message], bytes]] = {
    "sha256": lambda m: hashlib.sha256(m.data).digest(),
    "sha512": lambda m: hashlib.sha512(m.data).digest(),
    "sm3": _sm3,
    "sha3-256": lambda m: hashlib.sha3_256(m.data).digest(),
    "shake128": lambda m: hashlib.shake_128(m.data).digest(m.wanted),
    "shake256": lambda m: hashlib.shake_256(m.data).digest(m.wanted),
    "aes128-encrypt": _ecb,
    "aes128-decrypt": _ecb,
    "sm4-encrypt": _ecb,
    "sm4-decrypt": _ecb,
}


def expected(m: Message) -> bytes:
    """The output for a message, from outside the project where there is such an oracle."""
    oracle = ORACLES.get(m.algorithm)
    return oracle(m) if oracle else compute(m.algorithm, m.data, m.key, m.wanted)


_ABC = b"abc"
_KEY = bytes(range(16))
_PLAIN = bytes.fromhex("00112233445566778899aabbccddeeff")
_CIPHER = bytes.fromhex("69c4e0d86a7b0430d8cdb78070b4c55a")
_SM4_KEY = bytes.fromhex("0123456789abcdeffedcba9876543210")
_SM4_CIPHER = bytes.fromhex("681edf34d206965e86b3e94f536e4246")
_H = bytes.fromhex("66e94bd4ef8a2c3b884cfa59ca342b2e")
_GCM_CIPHER = bytes.fromhex("0388dace60b6a392f328c2b971b2fe78")

VECTORS: dict[str, list[tuple[Message, str]]] = {
    # FIPS 180-4 examples, csrc.nist.gov/projects/cryptographic-standards-and-guidelines
    "sha256": [
        (
            Message("sha256", _ABC),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        )
    ],
    "sha512": [
        (
            Message("sha512", _ABC),
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        )
    ],
    # GB/T 32905-2016, annex A.1
    "sm3": [
        (
            Message("sm3", _ABC),
            "66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b8f4ba8e0",
        )
    ],
    # FIPS 202 examples of the same page
    "sha3-256": [
        (
            Message("sha3-256", _ABC),
            "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532",
        )
    ],
    "shake128": [
        (Message("shake128", b"", wanted=16), "7f9c2ba4e88f827d616045507605853e"),
    ],
    "shake256": [
        (Message("shake256", b"", wanted=16), "46b9dd2b0ba88d13233b3feb743eeb24"),
    ],
    # FIPS 197, appendix C.1
    "aes128-encrypt": [(Message("aes128-encrypt", _PLAIN, _KEY), _CIPHER.hex())],
    "aes128-decrypt": [(Message("aes128-decrypt", _CIPHER, _KEY), _PLAIN.hex())],
    # Haraka v2, appendix B
    "haraka256": [
        (
            Message("haraka256", bytes(range(32))),
            "8027ccb87949774b78d0545fb72bf70c695c2a0923cbd47bba1159efbf2b2c1c",
        )
    ],
    "haraka512": [
        (
            Message("haraka512", bytes(range(64))),
            "be7f723b4e80a99813b292287f306f625a6d57331cae5f34dd9277b0945be2aa",
        )
    ],
    # GB/T 32907-2016, annex A.1
    "sm4-encrypt": [(Message("sm4-encrypt", _SM4_KEY, _SM4_KEY), _SM4_CIPHER.hex())],
    "sm4-decrypt": [(Message("sm4-decrypt", _SM4_CIPHER, _SM4_KEY), _SM4_KEY.hex())],
    # McGrew and Viega, The Galois/Counter Mode of Operation, test case 2: text, then lengths
    "ghash": [
        (
            Message("ghash", _GCM_CIPHER + (128).to_bytes(16, "big"), _H),
            "f38cbb1ad69223dcc3457ae5b6b0f885",
        )
    ],
    # github.com/ascon/ascon-c, LWC_HASH_KAT_128_256.txt, counts 1 and 10
    "ascon-hash256": [
        (
            Message("ascon-hash256", b"", wanted=32),
            "0b3be5850f2f6b98caf29f8fdea89b64a1fa70aa249b8f839bd53baa304d92b2",
        ),
        (
            Message("ascon-hash256", bytes(range(9)), wanted=32),
            "94269c30e0296e1ec86655041841823efa1927f520fd58c8e9bce6197878c1a6",
        ),
    ],
    # NIST SP 800-232, appendix A.3: initialisation of Ascon-Hash256
    "ascon-p12": [
        (
            Message("ascon-p12", bytes.fromhex("0200cc0001080000") + bytes(32)),
            "81d634e994541e9bd25137331ea0c34b1ab8346b6c3965aeb34d6ad5a4d47f3c6d97c50649465c1a",
        )
    ],
}

"""SM4 on bytes (GB/T 32907-2016): key schedule, encryption and decryption of a block.

Words are big-endian; round keys are 32 of them in the order of encryption.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from isa.sm4 import sbox

ROUNDS = 32
FK = (0xA3B1BAC6, 0x56AA3350, 0x677D9197, 0xB27022DC)
"""GB/T 32907-2016 section 7.3."""
CK = tuple(
    int.from_bytes(bytes((4 * i + j) * 7 % 256 for j in range(4)), "big") for i in range(ROUNDS)
)
"""GB/T 32907-2016 section 7.3: byte j of constant i is (4 i + j) 7 mod 256."""


def rotl(x: int, n: int) -> int:
    """A 32-bit word rotated left by 1 to 31 bits."""
    return (x << n | x >> 32 - n) & 0xFFFFFFFF


def _substitute(x: int) -> int:
    return int.from_bytes(bytes(sbox().entries[b] for b in x.to_bytes(4, "big")), "big")


def expand_key(key: bytes) -> bytes:
    """Round keys of a 16-byte key, 128 bytes (GB/T 32907-2016 section 7.3)."""
    k = [w ^ f for w, f in zip(struct.unpack(">4I", key), FK, strict=True)]
    for i in range(ROUNDS):
        t = _substitute(k[i + 1] ^ k[i + 2] ^ k[i + 3] ^ CK[i])
        k.append(k[i] ^ t ^ rotl(t, 13) ^ rotl(t, 23))
    return struct.pack(">32I", *k[4:])


def _crypt(block: bytes, keys: Sequence[int]) -> bytes:
    x = list(struct.unpack(">4I", block))
    for i, key in enumerate(keys):
        t = _substitute(x[i + 1] ^ x[i + 2] ^ x[i + 3] ^ key)
        x.append(x[i] ^ t ^ rotl(t, 2) ^ rotl(t, 10) ^ rotl(t, 18) ^ rotl(t, 24))
    return struct.pack(">4I", *x[:-5:-1])


def encrypt_block(block: bytes, keys: bytes) -> bytes:
    """Encrypt 16 bytes with 128 bytes of round keys (GB/T 32907-2016 section 7.1)."""
    return _crypt(block, struct.unpack(">32I", keys))


def decrypt_block(block: bytes, keys: bytes) -> bytes:
    """Decrypt 16 bytes: the same with the round keys in reverse."""
    return _crypt(block, struct.unpack(">32I", keys)[::-1])

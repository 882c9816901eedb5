"""CAST-128 (RFC 2144) with a 128-bit key: encryption, decryption and key schedule of one block.

Words are big-endian in messages and keys. Round keys are 16 masking keys of 32 bits, then 16
rotation amounts of 5 bits, each a word as `lw` reads it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from isa.bits import Bits, const, lookup
from isa.kernel import Builder, Index, Pointer
from isa.table import Table
from workloads.block_cipher import BlockCipher, Cipher, Example, ScheduleVariant, Variant
from workloads.cast128_sboxes import SBOXES
from workloads.words import Words, load_word, load_words, store_words, swapped

ROUNDS = 16
_STEPS = (
    "z0 x0 xD xF xC xE 7x8",
    "z4 x8 z0 z2 z1 z3 8xA",
    "z8 xC z7 z6 z5 z4 5x9",
    "zC x4 zA z9 zB z8 6xB",
    "K z8 z9 z7 z6 5z2",
    "K zA zB z5 z4 6z6",
    "K zC zD z3 z2 7z9",
    "K zE zF z1 z0 8zC",
    "x0 z8 z5 z7 z4 z6 7z0",
    "x4 z0 x0 x2 x1 x3 8z2",
    "x8 z4 x7 x6 x5 x4 5z1",
    "xC zC xA x9 xB x8 6z3",
    "K x3 x2 xC xD 5x8",
    "K x1 x0 xE xF 6xD",
    "K x7 x6 x8 x9 7x3",
    "K x5 x4 xA xB 8x7",
    "z0 x0 xD xF xC xE 7x8",
    "z4 x8 z0 z2 z1 z3 8xA",
    "z8 xC z7 z6 z5 z4 5x9",
    "zC x4 zA z9 zB z8 6xB",
    "K z3 z2 zC zD 5z9",
    "K z1 z0 zE zF 6zC",
    "K z7 z6 z8 z9 7z2",
    "K z5 z4 zA zB 8z6",
    "x0 z8 z5 z7 z4 z6 7z0",
    "x4 z0 x0 x2 x1 x3 8z2",
    "x8 z4 x7 x6 x5 x4 5z1",
    "xC zC xA x9 xB x8 6z3",
    "K x8 x9 x7 x6 5x3",
    "K xA xB x5 x4 6x7",
    "K xC xD x3 x2 7x8",
    "K xE xF x1 x0 8xD",
)
"""Half of the key schedule (RFC 2144 section 2.4): what is set, the word it starts from (none for a
key), the bytes that pass S5 to S8, and the S-box and byte added last."""


# --- Golden --------------------------------------------------------------------------------------


def _rotl(x: int, n: int) -> int:
    return (x << n % 32 | x >> -n % 32) & 0xFFFFFFFF


def _f(round_: int, d: int, km: int, kr: int) -> int:
    """Round function of type 1, 2 or 3 by the number of the round (RFC 2144 section 2.2)."""
    kind = round_ % 3
    i = _rotl((km + d, km ^ d, km - d)[kind] & 0xFFFFFFFF, kr)
    a, b, c, e = (SBOXES[j][v] for j, v in enumerate(i.to_bytes(4, "big")))
    value = ((a ^ b) - c + e, (a - b + c) ^ e, ((a + b) ^ c) - e)[kind]
    return value & 0xFFFFFFFF


def _crypt(block: bytes, keys: bytes, rounds: Sequence[int]) -> bytes:
    words = struct.unpack("<32I", keys)
    left, right = struct.unpack(">2I", block)
    for i in rounds:
        left, right = right, left ^ _f(i, right, words[i], words[16 + i])
    return struct.pack(">2I", right, left)


def encrypt_block(block: bytes, keys: bytes) -> bytes:
    """Encrypt 8 bytes with 128 bytes of round keys (RFC 2144 section 2.3)."""
    return _crypt(block, keys, range(ROUNDS))


def decrypt_block(block: bytes, keys: bytes) -> bytes:
    """Decrypt 8 bytes: the same with the rounds in reverse."""
    return _crypt(block, keys, range(ROUNDS - 1, -1, -1))


def expand_key(key: bytes) -> bytes:
    """Round keys of a 16-byte key, 128 bytes (RFC 2144 section 2.4)."""
    halves = {"x": bytearray(key), "z": bytearray(16)}

    def byte(name: str) -> int:
        return halves[name[0]][int(name[1], 16)]

    out = []
    for step in _STEPS * 2:
        target, *start, a, b, c, d, last = step.split()
        value = SBOXES[int(last[0]) - 1][byte(last[1:])]
        for box, name in zip(SBOXES[4:], (a, b, c, d), strict=True):
            value ^= box[byte(name)]
        if start:
            at = int(start[0][1], 16)
            value ^= int.from_bytes(halves[start[0][0]][at : at + 4], "big")
            at = int(target[1], 16)
            halves[target[0]][at : at + 4] = value.to_bytes(4, "big")
        else:
            out.append(value)
    return struct.pack("<32I", *out[:16], *(x & 31 for x in out[16:]))


# --- Kernels -------------------------------------------------------------------------------------

_TABLES = tuple(Table(f"cast128_s{i + 1}", 32, box) for i, box in enumerate(SBOXES))


def _round_function(kind: int, d: Bits, km: Bits, kr: Bits) -> Bits:
    mixed = (km + d, km ^ d, km - d)[kind]
    i = mixed.rotr_var((const(0, 32) - kr).slice(0, 5))
    a, b, c, e = (lookup(t, i.byte(3 - j)) for j, t in enumerate(_TABLES[:4]))
    return ((a ^ b) - c + e, ((a - b) + c) ^ e, ((a + b) ^ c) - e)[kind]


def _cipher(*, inverse: bool) -> Cipher:
    def apply(k: Builder, words: Words, keys: Pointer) -> Words:
        def one(at: Index | int, kind: int, left: Bits, right: Bits) -> tuple[Bits, Bits]:
            km, kr = load_word(k, keys, at), load_word(k, keys, at + 64)
            return right, left ^ _round_function(kind, right, km, kr)

        def three(i: Index, left: Bits, right: Bits) -> tuple[Bits, Bits]:
            for j in range(3):
                at = (-12) * i + (56 - 4 * j) if inverse else 12 * i + 4 * j
                left, right = one(at, (2 - j) if inverse else j, left, right)
            return left, right

        left, right = (swapped(w) for w in words)
        if inverse:
            left, right = one(60, 0, left, right)
            left, right = k.loop(5, three, left, right)
        else:
            left, right = k.loop(5, three, left, right)
            left, right = one(60, 0, left, right)
        return [swapped(right), swapped(left)]

    return apply


def _schedule(k: Builder, key: Pointer, keys: Pointer) -> None:
    """Both halves by one loop over the 32 equations; the state is carried."""

    def half(i: Index, *x: Bits) -> Words:
        state: dict[str, list[Bits]] = {"x": list(x), "z": [const(0, 32)] * 4}

        def byte(name: str) -> Bits:
            number = int(name[1], 16)
            return state[name[0]][number // 4].byte(3 - number % 4)

        produced: Words = []
        for step in _STEPS:
            target, *start, a, b, c, d, last = step.split()
            value = lookup(_TABLES[int(last[0]) - 1], byte(last[1:]))
            for table, name in zip(_TABLES[4:], (a, b, c, d), strict=True):
                value = value ^ lookup(table, byte(name))
            if start:
                value = value ^ state[start[0][0]][int(start[0][1], 16) // 4]
                state[target[0]][int(target[1], 16) // 4] = value
            else:
                produced.append(value)
        store_words(k, keys, produced, 64 * i)
        return state["x"]

    def shorten(i: Index) -> tuple[Bits, ...]:
        k.store(keys, 4 * i + 64, load_word(k, keys, 4 * i + 64) & 31)
        return ()

    k.loop(2, half, *(swapped(w) for w in load_words(k, key, 4)), unroll=False)
    k.loop(16, shorten)


# --- Workloads -----------------------------------------------------------------------------------

CAST128 = BlockCipher(
    "cast128",
    "RFC 2144",
    8,
    16,
    128,
    expand_key,
    encrypt_block,
    decrypt_block,
    {"sbox": Variant(_cipher(inverse=False), "four 1 KiB S-box tables (RFC 2144)")},
    {"sbox": Variant(_cipher(inverse=True), "four 1 KiB S-box tables (RFC 2144)")},
    {"sbox": ScheduleVariant(_schedule, "four 1 KiB S-box tables (RFC 2144)")},
    (
        Example(
            bytes.fromhex("0123456712345678234567893456789a"),
            bytes.fromhex("0123456789abcdef"),
            bytes.fromhex("238b4fe5847e44b2"),
            "RFC 2144 appendix B.1",
        ),
    ),
)
CAST128.register()

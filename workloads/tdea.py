"""TDEA, three-key triple DES (NIST SP 800-67): encryption, decryption and key schedule.

Words are big-endian in messages and keys. Round keys are, for each key and round, one word with
the 6 bits of S-boxes 1, 3, 5 and 7 at the foot of its bytes, and one with those of 2, 4, 6 and 8.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from isa.bits import Bits, const, lookup
from isa.kernel import Builder, Index, Pointer
from isa.table import Table
from workloads.block_cipher import BlockCipher, Cipher, Example, ScheduleVariant, Variant
from workloads.words import Words, load_word, load_words, swap_move, swapped, total

ROUNDS = 16
S_BOXES = tuple(
    tuple(int(c, 16) for c in text)
    for text in (
        "e4d12fb83a6c59070f74e2d1a6cb953841e8d62bfc973a50fc8249175b3ea06d",
        "f18e6b34972dc05a3d47f28ec01a69b50e7ba4d158c6932fd8a13f42b67c05e9",
        "a09e63f51dc7b428d709346a285ecbf1d6498f30b12c5ae71ad069874fe3b52c",
        "7de3069a1285bc4fd8b56f03472c1ae9a690cb7df13e52843f06a1d8945bc72e",
        "2c417ab6853fd0e9eb2c47d150fa3986421bad78f9c5630eb8c71e2d6f09a453",
        "c1af92680d34e75baf427c9561de0b389ef528c3704a1db6432c95fabe17608d",
        "4b2ef08d3c975a61d0b7491ae35c2f8614bdc37eaf6805926bd814a7950fe23c",
        "d2846fb1a93e50c71fd8a374c56b0e927b419ce206adf35821e74a8dfc90356b",
    )
)
"""Four rows of 16 each (FIPS 46-3, appendix 1)."""
P = (
    *(16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10),
    *(2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25),
)
PC1 = (
    *(57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18),
    *(10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36),
    *(63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22),
    *(14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4),
)
PC2 = (
    *(14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2),
    *(41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36),
    *(29, 32),
)
SHIFTS = (1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1)
INITIAL = tuple(58 - 8 * (i % 8) + (0, 2, 4, 6, -1, 1, 3, 5)[i // 8] for i in range(64))
"""Permutations select bits, the most significant being 1 (FIPS 46-3)."""


# --- Golden --------------------------------------------------------------------------------------


def _select(x: int, places: Sequence[int], width: int) -> int:
    out = 0
    for place in places:
        out = out << 1 | x >> width - place & 1
    return out


def _groups(keys: Sequence[int]) -> list[list[int]]:
    """The 6-bit keys of S-boxes 1 to 8 in each round, from the words of the round keys."""
    rounds = []
    for odd, even in zip(keys[::2], keys[1::2], strict=True):
        group = []
        for shift in (24, 16, 8, 0):
            group += [odd >> shift & 63, even >> shift & 63]
        rounds.append(group)
    return rounds


def _des(x: int, rounds: Sequence[Sequence[int]]) -> int:
    """DES with the keys of its rounds (FIPS 46-3)."""
    x = _select(x, INITIAL, 64)
    left, right = x >> 32, x & 0xFFFFFFFF
    expansion = [(4 * j + b - 1) % 32 + 1 for j in range(8) for b in range(6)]
    for keys in rounds:
        expanded = _select(right, expansion, 32)
        out = 0
        for j in range(8):
            v = expanded >> 42 - 6 * j & 63 ^ keys[j]
            out = out << 4 | S_BOXES[j][(v >> 5 << 1 | v & 1) << 4 | v >> 1 & 15]
        left, right = right, left ^ _select(out, P, 32)
    x = right << 32 | left
    out = 0
    for i, place in enumerate(INITIAL):
        out |= (x >> 63 - i & 1) << 64 - place
    return out


def expand_key(key: bytes) -> bytes:
    """Round keys of three keys of 8 bytes, 384 bytes."""
    out = b""
    for (one,) in struct.iter_unpack(">Q", key):
        c, d = divmod(_select(one, PC1, 64), 1 << 28)
        for shift in SHIFTS:
            c = (c << shift | c >> 28 - shift) & 0xFFFFFFF
            d = (d << shift | d >> 28 - shift) & 0xFFFFFFF
            bits = _select(c << 28 | d, PC2, 56)
            six = [bits >> 42 - 6 * j & 63 for j in range(8)]
            for group in (six[::2], six[1::2]):
                out += bytes(reversed(group))
    return out


def _stages(keys: bytes) -> list[list[list[int]]]:
    rounds = _groups(struct.unpack("<96I", keys))
    return [rounds[i : i + ROUNDS] for i in range(0, 48, ROUNDS)]


def encrypt_block(block: bytes, keys: bytes) -> bytes:
    """Encrypt, decrypt, encrypt 8 bytes with 384 bytes of round keys (SP 800-67 section 3)."""
    k1, k2, k3 = _stages(keys)
    x = int.from_bytes(block, "big")
    return _des(_des(_des(x, k1), k2[::-1]), k3).to_bytes(8, "big")


def decrypt_block(block: bytes, keys: bytes) -> bytes:
    """Decrypt, encrypt, decrypt 8 bytes with the round keys of encryption."""
    k1, k2, k3 = _stages(keys)
    x = int.from_bytes(block, "big")
    return _des(_des(_des(x, k3[::-1]), k2), k1[::-1]).to_bytes(8, "big")


# --- Kernels -------------------------------------------------------------------------------------


def _sp_table(j: int) -> Table:
    """S-box j (from 0) and the permutation P, rotated right by 3 as the halves are."""
    entries = []
    for v in range(64):
        s = S_BOXES[j][(v >> 5 << 1 | v & 1) << 4 | v >> 1 & 15]
        x = _select(s << 28 - 4 * j, P, 32)
        entries.append((x >> 3 | x << 29) & 0xFFFFFFFF)
    return Table(f"des_sp{j + 1}", 32, tuple(entries))


_SP = tuple(_sp_table(j) for j in range(8))
_MOVES = (
    (True, 0x0F0F0F0F, 4),
    (True, 0x0000FFFF, 16),
    (False, 0x33333333, 2),
    (False, 0x00FF00FF, 8),
    (True, 0x55555555, 1),
)
"""The initial permutation as exchanges; True where bits of the left half are the higher."""


def _moved(left: Bits, right: Bits, *, inverse: bool) -> tuple[Bits, Bits]:
    for from_left, mask, shift in reversed(_MOVES) if inverse else _MOVES:
        if from_left:
            left, right = swap_move(left, right, mask, shift)
        else:
            right, left = swap_move(right, left, mask, shift)
    return left, right


def _round_function(k: Builder, x: Bits, keys: Pointer, offset: Index | int) -> Bits:
    odd = x ^ load_word(k, keys, offset)
    even = x.rotl(4) ^ load_word(k, keys, offset + 4)
    terms = []
    for i in range(4):
        terms.append(lookup(_SP[2 * i], odd.slice(24 - 8 * i, 6)))
        terms.append(lookup(_SP[2 * i + 1], even.slice(24 - 8 * i, 6)))
    return total(*terms)


def _cipher(*, inverse: bool) -> Cipher:
    def apply(k: Builder, words: Words, keys: Pointer) -> Words:
        def stage(number: int, left: Bits, right: Bits, *, backwards: bool) -> Words:
            first, step = (8 * (ROUNDS - 1), -8) if backwards else (0, 8)

            def two_rounds(i: Index, left: Bits, right: Bits) -> Words:
                at = 2 * step * i + (first + 128 * number)
                left = left ^ _round_function(k, right, keys, at)
                right = right ^ _round_function(k, left, keys, at + step)
                return [left, right]

            left, right = k.loop(ROUNDS // 2, two_rounds, left, right)
            return [right, left]

        left, right = _moved(*(swapped(w) for w in words), inverse=False)
        left, right = left.rotr(3), right.rotr(3)
        for number in (2, 1, 0) if inverse else (0, 1, 2):
            left, right = stage(number, left, right, backwards=inverse != (number == 1))
        left, right = _moved(left.rotl(3), right.rotl(3), inverse=True)
        return [swapped(left), swapped(right)]

    return apply


def _gathered(sources: Sequence[Bits], picks: Sequence[tuple[int, int, int]]) -> Bits:
    """Bits moved to their places, those that move as far together.

    Args:
        sources: Words.
        picks: Source, bit of it, place; bits and places from the least significant.
    """
    masks: dict[tuple[int, int], int] = {}
    for source, bit, place in picks:
        key = (source, place - bit)
        masks[key] = masks.get(key, 0) | 1 << place
    terms = []
    for (source, distance), mask in sorted(masks.items()):
        x = sources[source]
        moved = x << distance if distance >= 0 else x >> -distance
        terms.append(moved & mask)
    result = terms[0]
    for term in terms[1:]:
        result = result | term
    return result


def _schedule(k: Builder, key: Pointer, keys: Pointer) -> None:
    shifts = k.constants(Table("des_shifts", 8, SHIFTS))

    def picks(places: Sequence[int], width: int, part: int) -> list[tuple[int, int, int]]:
        """Where the bits of a selection come from, in words of `part` bits."""
        out = []
        for i, place in enumerate(places):
            source, offset = divmod(place - 1, part)
            out.append((source, part - 1 - offset, width - 1 - i))
        return out

    def six(boxes: range) -> list[tuple[int, int, int]]:
        out = []
        for position, j in enumerate(boxes):
            for source, bit, place in picks(PC2[6 * j : 6 * j + 6], 6, 28):
                out.append((source, bit, 24 - 8 * position + place))
        return out

    def turned(x: Bits, amount: Bits) -> Bits:
        back = (const(28, 32) - amount).slice(0, 5)
        return (x.shl_var(amount.slice(0, 5)) | x.shr_var(back)) & 0xFFFFFFF

    def one_key(n: Index) -> tuple[Bits, ...]:
        words = [swapped(w) for w in load_words(k, key, 2, 8 * n)]
        c, d = (_gathered(words, picks(half, 28, 32)) for half in (PC1[:28], PC1[28:]))

        def one_round(i: Index, c: Bits, d: Bits) -> Words:
            amount = k.load(shifts, i, 8).slice(0, 32)
            c, d = turned(c, amount), turned(d, amount)
            for j in range(2):
                value = _gathered([c, d], six(range(j, 8, 2)))
                k.store(keys, 128 * n + 8 * i + 4 * j, value)
            return [c, d]

        k.loop(ROUNDS, one_round, c, d)
        return ()

    k.loop(3, one_key, unroll=False)


# --- Workloads -----------------------------------------------------------------------------------

_KEY = bytes.fromhex("0123456789abcdef23456789abcdef01456789abcdef0123")
_BLOCKS = (
    ("5468652071756663", "a826fd8ce53b855f"),
    ("6b2062726f776e20", "cce21c8112256fe6"),
    ("666f78206a756d70", "68d5c05dd9b6b900"),
)
_SUMMARY = "eight 256-byte tables of S-box and P, permutations by exchanges"

TDEA = BlockCipher(
    "tdea",
    "NIST SP 800-67 revision 2",
    8,
    24,
    384,
    expand_key,
    encrypt_block,
    decrypt_block,
    {"table": Variant(_cipher(inverse=False), _SUMMARY)},
    {"table": Variant(_cipher(inverse=True), _SUMMARY)},
    {"plain": ScheduleVariant(_schedule, "constant time: permuted choices by shifts and masks")},
    tuple(
        Example(_KEY, bytes.fromhex(p), bytes.fromhex(c), "SP 800-67 appendix B.1")
        for p, c in _BLOCKS
    ),
)
TDEA.register()

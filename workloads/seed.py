"""SEED (RFC 4269): encryption, decryption and key schedule of one block.

Words are big-endian in messages and keys. Round keys are 16 pairs of words in the order of
encryption, as `lw` reads them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from isa.bits import Bits, concat, const, lookup
from isa.kernel import Builder, Index, Pointer
from isa.table import Table
from workloads.block_cipher import BlockCipher, Cipher, Example, ScheduleVariant, Variant
from workloads.sliced import SUMMARY as SLICED
from workloads.sliced import UNROLL, sliced
from workloads.words import Words, load_words, swapped, total

ROUNDS = 16
S0 = bytes.fromhex(
    "a985d6d3541dac255d43181e51fcca632844209de0e2c817a58f037bbb13d2ee"
    "708c3fa832ddf674ec950b575c5bbd01241c739810ccf2d92ce772839bd186c9"
    "6050a3eb0db69e4fb75ac678a612afd561c3b441527d8d081f9900190453f7e1"
    "fd762f27b08b0eaba26e934d697c090abfeff3c58714fe64de2e4b1a06216b66"
    "02f5928a0cb37ed07a4796e52680addfa13037ae36152238f4a7454c81e98497"
    "35cbce3c7111c78975fbdaf8945982c4ff493967c0cfd7b80f8e4223916cdba4"
    "34f148c26f3d2d40be3ebcc1aaba4e553bdc687f9cd84a5677a0ed46b52b65fa"
    "e3b9b19f5ef9e6b231ea6d5fe4f0cd88163a58d462290733e81b0579906a2a9a"
)
S1 = bytes.fromhex(
    "38e82da6cfdeb3b8af6055c7446f6b5bc36233b529a0e2a7d39111061cbc364b"
    "ef886ca817c416f4c245e1d63f3d8e98284ef63ea5f90ddfd82b667a272ff172"
    "42d441c07367ac8bf7ad801fca2caa34d20beee95d9418f857ae08c513cd86b9"
    "ff7dc131f58a6ab1d120d7022204687107db9d9961bee659dd5190dc9aa3abd0"
    "810f471ae3ec8dbf967b5ca2a163234dc89e9c3a0c2eba6e9f5af292f34978cc"
    "15fb70757f351003646dc674d5b4ea097619fe4012e0bd05fa01f02a5ea95643"
    "8514899bb0e5487997fc1e82218c1b5f7754b21d254f0046ed5852eb7edac9fd"
    "3095653cb6e4bb7c0e5039263284699337e724a4cb530a87d94c838fce3b4ab7"
)
"""S-boxes of RFC 4269 section 2.2."""
MASKS = (0xFC, 0xF3, 0xCF, 0x3F)
"""RFC 4269 section 2.2."""
GOLDEN_RATIO = 0x9E3779B9
"""Constant of the first round of the key schedule; each is the one before, rotated left by 1."""


# --- Golden --------------------------------------------------------------------------------------


def _g(x: int) -> int:
    """RFC 4269 section 2.2."""
    y = [(S0, S1)[i % 2][b] for i, b in enumerate(x.to_bytes(4, "little"))]
    z = bytes(
        y[0] & MASKS[j]
        ^ y[1] & MASKS[(j + 1) % 4]
        ^ y[2] & MASKS[(j + 2) % 4]
        ^ y[3] & MASKS[(j + 3) % 4]
        for j in range(4)
    )
    return int.from_bytes(z, "little")


def _f(r0: int, r1: int, k0: int, k1: int) -> tuple[int, int]:
    """RFC 4269 section 2.1."""
    c, d = r0 ^ k0, r1 ^ k1
    d = _g(d ^ c)
    c = _g((c + d) & 0xFFFFFFFF)
    d = _g((d + c) & 0xFFFFFFFF)
    return (c + d) & 0xFFFFFFFF, d


def _crypt(block: bytes, keys: Sequence[int]) -> bytes:
    l0, l1, r0, r1 = struct.unpack(">4I", block)
    for i in range(0, 2 * ROUNDS, 2):
        f0, f1 = _f(r0, r1, keys[i], keys[i + 1])
        l0, l1, r0, r1 = r0, r1, l0 ^ f0, l1 ^ f1
    return struct.pack(">4I", r0, r1, l0, l1)


def encrypt_block(block: bytes, keys: bytes) -> bytes:
    """Encrypt 16 bytes with 128 bytes of round keys (RFC 4269 section 2)."""
    return _crypt(block, struct.unpack("<32I", keys))


def decrypt_block(block: bytes, keys: bytes) -> bytes:
    """Decrypt 16 bytes: the same with the pairs of round keys in reverse."""
    words = struct.unpack("<32I", keys)
    return _crypt(block, [w for i in range(30, -1, -2) for w in words[i : i + 2]])


def expand_key(key: bytes) -> bytes:
    """Round keys of a 16-byte key, 128 bytes (RFC 4269 section 2.3)."""
    left, right = struct.unpack(">2Q", key)
    constant, out = GOLDEN_RATIO, b""
    for i in range(ROUNDS):
        a, b, c, d = left >> 32, left & 0xFFFFFFFF, right >> 32, right & 0xFFFFFFFF
        k0 = _g((a + c - constant) & 0xFFFFFFFF)
        k1 = _g((b - d + constant) & 0xFFFFFFFF)
        out += struct.pack("<2I", k0, k1)
        if i % 2:
            right = (right << 8 | right >> 56) & 2**64 - 1
        else:
            left = (left >> 8 | left << 56) & 2**64 - 1
        constant = (constant << 1 | constant >> 31) & 0xFFFFFFFF
    return out


# --- Kernels -------------------------------------------------------------------------------------

Function = Callable[[Bits], Bits]
"""G on a word."""
_BOXES = (Table("seed_s0", 8, tuple(S0)), Table("seed_s1", 8, tuple(S1)))


def _table(i: int) -> Table:
    """S-box of byte i (least significant first) with the masks of every byte of G."""
    entries = []
    for y in (S0, S1)[i % 2]:
        entries.append(sum((y & MASKS[(j + i) % 4]) << 8 * j for j in range(4)))
    return Table(f"seed_ss{i}", 32, tuple(entries))


_TABLES = tuple(_table(i) for i in range(4))


_sliced = sliced([S0, S1] * 2, [0] * 4)


def _by_bytes(x: Bits) -> Bits:
    return _masked_sums(concat(*(lookup(_BOXES[i % 2], x.byte(i)) for i in reversed(range(4)))))


def _by_slices(x: Bits) -> Bits:
    return _masked_sums(_sliced(x))


def _masked_sums(y: Bits) -> Bits:
    """G of the S-boxes' outputs: four rotations of the word under masks."""
    terms = []
    for s in range(4):
        mask = sum(MASKS[(2 * j + s) % 4] << 8 * j for j in range(4))
        terms.append(y.rotr(8 * s) & mask)
    return total(*terms)


def _by_tables(x: Bits) -> Bits:
    return total(*(lookup(t, x.byte(i)) for i, t in enumerate(_TABLES)))


def _cipher(g: Function, *, inverse: bool, unroll: bool | None = None) -> Cipher:
    def apply(k: Builder, words: Words, keys: Pointer) -> Words:
        first, step = (8 * (ROUNDS - 1), -8) if inverse else (0, 8)

        def one_round(i: Index, *x: Bits) -> Words:
            l0, l1, r0, r1 = x
            k0, k1 = load_words(k, keys, 2, step * i + first)
            c = r0 ^ k0
            d = g(r1 ^ k1 ^ c)
            c = g(c + d)
            d = g(d + c)
            return [r0, r1, l0 ^ (c + d), l1 ^ d]

        first_words = (swapped(w) for w in words)
        l0, l1, r0, r1 = k.loop(ROUNDS, one_round, *first_words, unroll=unroll)
        return [swapped(w) for w in (r0, r1, l0, l1)]

    return apply


def _variants(*, inverse: bool) -> dict[str, Variant]:
    return {
        "sbox": Variant(
            _cipher(_by_bytes, inverse=inverse), "two 256-byte S-box tables (RFC 4269)"
        ),
        "ttable": Variant(
            _cipher(_by_tables, inverse=inverse), "four 1 KiB tables of S-box and masks"
        ),
        "sliced": Variant(_cipher(_by_slices, inverse=inverse, unroll=UNROLL), SLICED),
    }


def _schedule(
    g: Function, *, unroll: bool | None = None
) -> Callable[[Builder, Pointer, Pointer], None]:
    def build(k: Builder, key: Pointer, keys: Pointer) -> None:
        def store(i: Index, half: int, constant: Bits, x: Sequence[Bits]) -> None:
            a, b, c, d = x
            k.store(keys, 16 * i + 8 * half, g(a + c - constant))
            k.store(keys, 16 * i + 8 * half + 4, g(b - d + constant))

        def two_rounds(i: Index, constant: Bits, *x: Bits) -> Words:
            a, b, c, d = x
            store(i, 0, constant, x)
            a, b = (a >> 8) | (b << 24), (b >> 8) | (a << 24)
            store(i, 1, constant.rotl(1), (a, b, c, d))
            c, d = (c << 8) | (d >> 24), (d << 8) | (c >> 24)
            return [constant.rotl(2), a, b, c, d]

        words = [swapped(w) for w in load_words(k, key, 4)]
        k.loop(ROUNDS // 2, two_rounds, const(GOLDEN_RATIO, 32), *words, unroll=unroll)

    return build


# --- Workloads -----------------------------------------------------------------------------------

SEED = BlockCipher(
    "seed",
    "RFC 4269",
    16,
    16,
    128,
    expand_key,
    encrypt_block,
    decrypt_block,
    _variants(inverse=False),
    _variants(inverse=True),
    {
        "sbox": ScheduleVariant(_schedule(_by_bytes), "two 256-byte S-box tables"),
        "ttable": ScheduleVariant(_schedule(_by_tables), "four 1 KiB tables"),
        "sliced": ScheduleVariant(_schedule(_by_slices, unroll=UNROLL), SLICED),
    },
    (
        Example(
            bytes(16),
            bytes(range(16)),
            bytes.fromhex("5ebac6e0054e166819aff1cc6d346cdb"),
            "RFC 4269 appendix B.1",
        ),
        Example(
            bytes(range(16)),
            bytes(16),
            bytes.fromhex("c11f22f20140505084483597e4370f43"),
            "RFC 4269 appendix B.2",
        ),
    ),
)
SEED.register()

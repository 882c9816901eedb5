"""SM4 (GB/T 32907-2016): encryption, decryption, key schedule, ECB, CBC and CTR.

Round keys are 32 words in the order of encryption. Words are big-endian in memory, everywhere, as
the standard prints them. Kernels hold them as `lw` reads them, first byte lowest, which is the
order that `sm4ed` and `sm4ks` take, so that no byte is reversed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from isa.bits import Bits, concat, const, lookup
from isa.kernel import Builder, Index, Pointer
from isa.sm4 import INVERTED_ZERO, sbox
from isa.sm4_block import CK, FK, ROUNDS, decrypt_block, encrypt_block, expand_key, rotl
from isa.table import Table
from workloads.block_cipher import (
    BlockCipher,
    Cipher,
    Counted,
    Example,
    Schedule,
    ScheduleVariant,
    Variant,
)
from workloads.gcm import Sealed
from workloads.sliced import SUMMARY as SLICED
from workloads.sliced import UNROLL, sliced
from workloads.words import Words, load_word, load_words, total
from workloads.xts import Sector


def _memory_order(x: int) -> int:
    """A word as `lw` reads it."""
    return int.from_bytes(x.to_bytes(4, "big"), "little")


_CK_TABLE = Table("sm4_ck", 32, tuple(map(_memory_order, CK)))
_CK_STEP = 0x1C1C1C1C
"""What each byte of a constant grows by: 28."""


# --- Kernels -------------------------------------------------------------------------------------


def _substituted(x: Bits) -> Bits:
    return concat(*(lookup(sbox(), x.byte(i)) for i in reversed(range(4))))


def _turned(x: Bits, amount: int) -> Bits:
    """Left rotation of a word in memory order: whole bytes move down, the rest within bytes."""
    skip, rest = divmod(amount, 8)
    if rest:
        kept = (0xFF << rest & 0xFF) * 0x01010101
        x = ((x << rest) & kept) | (x.rotr(16 - rest) & ~kept)
    return x.rotr(8 * skip)


_sliced = sliced([bytes(sbox().entries)] * 4, [INVERTED_ZERO] * 4)


def _mixed(b: Bits) -> Bits:
    """L on a word: x + x <<< 24 + (x + x <<< 8 + x <<< 16) <<< 2."""
    return total(b, _turned(b, 24), _turned(total(b, _turned(b, 8), _turned(b, 16)), 2))


def _by_bytes(x: Bits) -> Bits:
    return _mixed(_substituted(x))


def _by_slices(x: Bits) -> Bits:
    return _mixed(_sliced(x))


def _t_tables(name: str, *rotations: int) -> list[Table]:
    """S-box followed by one byte's share of a linear map, the first byte in memory first.

    Args:
        name: Prefix of the tables.
        rotations: Left rotations whose sum with the identity is the map.
    """

    def entry(s: int, i: int) -> int:
        placed = s << 24 - 8 * i
        word = placed
        for n in rotations:
            word ^= rotl(placed, n)
        return _memory_order(word)

    return [Table(f"{name}{i}", 32, tuple(entry(s, i) for s in sbox().entries)) for i in range(4)]


_ENCRYPTION_TABLES = _t_tables("sm4_t", 2, 10, 18, 24)
_SCHEDULE_TABLES = _t_tables("sm4_ks", 13, 23)


def _from_tables(tables: Sequence[Table], x: Bits) -> Bits:
    return total(*(lookup(t, x.byte(i)) for i, t in enumerate(tables)))


def _by_tables(x: Bits) -> Bits:
    return _from_tables(_ENCRYPTION_TABLES, x)


def _by_one_table(x: Bits) -> Bits:
    table = _ENCRYPTION_TABLES[0]
    return total(*(lookup(table, x.byte(i)).rotl(8 * i) for i in range(4)))


def _cipher(
    transform: Callable[[Bits], Bits], *, inverse: bool, unroll: bool | None = None
) -> Cipher:
    def apply(k: Builder, words: Words, keys: Pointer) -> Words:
        def one_round(i: Index, *x: Bits) -> Words:
            key = load_word(k, keys, (-4) * i + 4 * (ROUNDS - 1) if inverse else 4 * i)
            return [*x[1:], x[0] ^ transform(total(x[1], x[2], x[3], key))]

        return list(k.loop(ROUNDS, one_round, *words, unroll=unroll))[::-1]

    return apply


def _variants(*, inverse: bool) -> dict[str, Variant]:
    return {
        "sbox": Variant(
            _cipher(_by_bytes, inverse=inverse), "256-byte S-box table (GB/T 32907-2016)"
        ),
        "table": Variant(
            _cipher(_by_one_table, inverse=inverse), "one 1 KiB table of S-box and L, rotated"
        ),
        "ttable": Variant(_cipher(_by_tables, inverse=inverse), "four 1 KiB tables of S-box and L"),
        "sliced": Variant(_cipher(_by_slices, inverse=inverse, unroll=UNROLL), SLICED),
    }


Transform = Callable[[Bits], Bits]
"""S-boxes, then the linear map L or L'."""


def _schedule_mixed(t: Bits) -> Bits:
    return total(t, _turned(t, 13), _turned(t, 23))


def _schedule_by_bytes(x: Bits) -> Bits:
    return _schedule_mixed(_substituted(x))


def _schedule_by_slices(x: Bits) -> Bits:
    return _schedule_mixed(_sliced(x))


def _schedule_by_tables(x: Bits) -> Bits:
    return _from_tables(_SCHEDULE_TABLES, x)


def _schedule_step(transform: Transform, x: Sequence[Bits], constant: Bits) -> Words:
    return [*x[1:], x[0] ^ transform(total(x[1], x[2], x[3], constant))]


def _masked(k: Builder, key: Pointer) -> Words:
    return [w ^ _memory_order(f) for w, f in zip(load_words(k, key, 4), FK, strict=True)]


def _listed(transform: Transform) -> Schedule:
    """The constants from a table."""

    def build(k: Builder, key: Pointer, keys: Pointer) -> None:
        constants = k.constants(_CK_TABLE)

        def step(i: Index, *x: Bits) -> Words:
            new = _schedule_step(transform, x, load_word(k, constants, 4 * i))
            k.store(keys, 4 * i, new[3])
            return new

        k.loop(ROUNDS, step, *_masked(k, key))

    return build


def _computed(transform: Transform, *, unroll: bool | None = None) -> Schedule:
    """The constants by adding 28 to each byte."""

    def build(k: Builder, key: Pointer, keys: Pointer) -> None:
        def step(i: Index, constant: Bits, *x: Bits) -> Words:
            new = _schedule_step(transform, x, constant)
            k.store(keys, 4 * i, new[3])
            following = ((constant & 0x7F7F7F7F) + _CK_STEP) ^ (constant & 0x80808080)
            return [following, *new]

        first = const(_memory_order(CK[0]), 32)
        k.loop(ROUNDS, step, first, *_masked(k, key), unroll=unroll)

    return build


# --- Workloads -----------------------------------------------------------------------------------

_KEY = bytes.fromhex("0123456789abcdeffedcba9876543210")
_ROUND_KEYS = (
    "f12186f941662b615a6ab19a7ba92077367360f4776a0c61b6bb89b324763151"
    "a520307cb7584dbdc30753ed7ee55b576988608c30d895b744ba14af104495a1"
    "d120b42873b55fa3cc87496692244439e89e641f98ca015ac715906099e1fd2e"
    "b79bd80c1d2115b00e228aebf1780c81428d36546229349601cf72e59124a012"
)

SM4 = BlockCipher(
    "sm4",
    "GB/T 32907-2016",
    16,
    16,
    128,
    expand_key,
    encrypt_block,
    decrypt_block,
    _variants(inverse=False),
    _variants(inverse=True),
    {
        "sbox": ScheduleVariant(
            _listed(_schedule_by_bytes), "256-byte S-box table, constants from a table"
        ),
        "computed": ScheduleVariant(
            _computed(_schedule_by_bytes), "256-byte S-box table, constants computed"
        ),
        "ttable": ScheduleVariant(
            _listed(_schedule_by_tables),
            "four 1 KiB tables of S-box and L', constants from a table",
        ),
        "ttable-computed": ScheduleVariant(
            _computed(_schedule_by_tables), "four 1 KiB tables of S-box and L', constants computed"
        ),
        "sliced": ScheduleVariant(
            _computed(_schedule_by_slices, unroll=UNROLL), f"{SLICED}; constants computed"
        ),
    },
    (
        Example(
            _KEY,
            _KEY,
            bytes.fromhex("681edf34d206965e86b3e94f536e4246"),
            "GB/T 32907-2016 appendix A.1",
        ),
    ),
    (
        (
            _KEY,
            bytes.fromhex(_ROUND_KEYS),
            "GB/T 32907-2016 appendix A.1",
        ),
    ),
    counted=(
        Counted(
            _KEY,
            bytes(range(16)),
            b"".join(bytes([b]) * 8 for b in bytes.fromhex("aabbccddeeffaabb")),
            bytes.fromhex(
                "ac3236cb970cc20791364c395a1342d1a3cbc1878c6f30cd074cce385cdd70c7"
                "f234bc0e24c11980fd1286310ce37b926e02fcd0faa0baf38b2933851d824514"
            ),
            "draft-ribose-cfrg-sm4-10 A.2.5.1",
        ),
    ),
    sectors=(
        Sector(
            bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c"),
            bytes(range(16)),
            bytes(range(0xF0, 0x100)),
            bytes.fromhex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"),
            bytes.fromhex("e9538251c71d7b80bbe4483fef497bd1b3db1a3e60408c575d63ff7db39f8326"),
            "OpenSSL evpciph_sm4.txt, XTSStandard = IEEE, its first two blocks",
        ),
    ),
    sealed=(
        Sealed(
            _KEY,
            bytes.fromhex("00001234567800000000abcd"),
            bytes.fromhex("feedfacedeadbeeffeedfacedeadbeefabaddad2"),
            b"".join(bytes([b]) * 8 for b in bytes.fromhex("aabbccddeeffeeaa")),
            bytes.fromhex(
                "17f399f08c67d5ee19d0dc9969c4bb7d5fd46fd3756489069157b282bb200735"
                "d82710ca5c22f0ccfa7cbf93d496ac15a56834cbcf98c397b4024a2691233b8d"
            ),
            bytes.fromhex("83de3541e4c2b58177e065a9bf7b62ec"),
            "RFC 8998 appendix A.1",
        ),
    ),
)
SM4.register(ecb=1360, ctr=64)

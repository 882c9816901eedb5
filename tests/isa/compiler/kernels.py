"""AES-128 kernels written for these tests from FIPS 197, independent of workloads/."""

from __future__ import annotations

from functools import cache

from isa.aes import MIX, multiply, sbox
from isa.bits import Bits, concat, lookup
from isa.kernel import Builder, Index
from isa.table import Table


@cache
def t_table(turn: int) -> Table:
    """Column of MixColumns for one byte, turned by `turn` bytes."""
    entries = []
    for s in sbox().entries:
        column = sum(multiply(s, f) << 8 * i for i, f in enumerate(MIX))
        entries.append((column << 8 * turn | column >> 32 - 8 * turn) & 0xFFFFFFFF)
    return Table(f"T{turn}", 32, tuple(entries))


def aes_t_tables(k: Builder) -> None:
    """One block in place; 44 words of round keys."""
    block, keys = k.pointer("block"), k.pointer("round_keys")
    s = [k.load(block, 4 * i) ^ k.load(keys, 4 * i) for i in range(4)]

    def middle(i: Index, *s: Bits) -> tuple[Bits, ...]:
        out = []
        for c in range(4):
            column = k.load(keys, 16 * i + (16 + 4 * c))
            for r in range(4):
                column = column ^ lookup(t_table(r), s[(c + r) % 4].byte(r))
            out.append(column)
        return tuple(out)

    s = list(k.loop(9, middle, *s))
    for c in range(4):
        substituted = [lookup(sbox(), s[(c + r) % 4].byte(r)) for r in range(4)]
        k.store(block, 4 * c, concat(*reversed(substituted)) ^ k.load(keys, 160 + 4 * c))


def aes_bytes(k: Builder) -> None:
    """The same with the S-box table and MixColumns in arithmetic on packed bytes."""
    block, keys = k.pointer("block"), k.pointer("round_keys")
    s = [k.load(block, 4 * i) ^ k.load(keys, 4 * i) for i in range(4)]

    def shifted(s: tuple[Bits, ...], c: int) -> Bits:
        return concat(*(lookup(sbox(), s[(c + r) % 4].byte(r)) for r in reversed(range(4))))

    def times_two(x: Bits) -> Bits:
        high = (x >> 7) & 0x01010101
        return ((x & 0x7F7F7F7F) << 1) ^ ((high << 4) + (high << 3) + (high << 1) + high)

    def middle(i: Index, *s: Bits) -> tuple[Bits, ...]:
        out = []
        for c in range(4):
            w = shifted(s, c)
            d = times_two(w)
            mixed = d ^ (w ^ d).rotr(8) ^ w.rotr(16) ^ w.rotr(24)
            out.append(mixed ^ k.load(keys, 16 * i + (16 + 4 * c)))
        return tuple(out)

    s = k.loop(9, middle, *s)
    for c in range(4):
        k.store(block, 4 * c, shifted(s, c) ^ k.load(keys, 160 + 4 * c))


def aes_key_schedule(k: Builder) -> None:
    """All 44 words of round keys from a key."""
    key, keys = k.pointer("key"), k.pointer("round_keys")
    w = [k.load(key, 4 * i) for i in range(4)]
    for i, word in enumerate(w):
        k.store(keys, 4 * i, word)
    constant = 1
    for i in range(10):
        turned = w[3].rotr(8)
        substituted = concat(*(lookup(sbox(), turned.byte(r)) for r in reversed(range(4))))
        w[0] = w[0] ^ substituted ^ constant
        constant = multiply(constant, 2)
        for c in range(4):
            if c:
                w[c] = w[c] ^ w[c - 1]
            k.store(keys, 16 * (i + 1) + 4 * c, w[c])


def round_keys(key: bytes) -> bytes:
    """Key expansion (FIPS 197 section 5.2)."""
    words = [list(key[i : i + 4]) for i in range(0, 16, 4)]
    constant = 1
    for i in range(4, 44):
        word = list(words[-1])
        if i % 4 == 0:
            word = [sbox().entries[b] for b in word[1:] + word[:1]]
            word[0] ^= constant
            constant = multiply(constant, 2)
        words.append([a ^ b for a, b in zip(word, words[i - 4], strict=True)])
    return b"".join(map(bytes, words))

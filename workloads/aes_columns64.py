"""AES on two columns a register: kernels for RV64, whose AES instructions do half a round each.

The state is two 64-bit words, columns 0 and 1 and columns 2 and 3, the first byte lowest as `ld`
reads them. Half a round is a function of the two words; the other half is the same function of
them exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from isa.aes import inverse_sbox, sbox
from isa.bits import Bits, concat, const, lookup
from isa.kernel import Builder, Index, Pointer, UnsupportedKernel
from isa.table import Table
from workloads.aes_tables import t_tables
from workloads.words import Words, total

SUMMARY = "four 1 KiB tables, two columns a register, for RV64"
REQUIRES = frozenset({"ld", "sd"})
"""What reads and writes the state."""

Half = Callable[[Bits, Bits], Bits]
"""Two columns after half a round, from the word that holds them and the other one."""


def _half(tables: Sequence[Table], width: int, *, inverse: bool) -> Half:
    """SubBytes by tables, a table a row, and ShiftRows; entries of 32 bits stand for a column.

    Args:
        tables: For rows 0 to 3.
        width: Bits of an entry, 8 or 32.
        inverse: Whether it is a half of the inverse cipher.
    """
    step = -1 if inverse else 1

    def apply(here: Bits, there: Bits) -> Bits:
        shares: dict[Bits, list[Bits]] = {here: [], there: []}
        for column in range(2):
            for row, table in enumerate(tables):
                source = (column + step * row) % 4
                word = here if source < 2 else there
                entry = lookup(table, word.byte(4 * (source % 2) + row)).zext(64)
                shares[word].append(entry << 32 * column + (8 * row if width == 8 else 0))
        return total(*shares[here]) ^ total(*shares[there])

    return apply


def _load(k: Builder, pointer: Pointer, offset: Index | int = 0) -> Words:
    return [k.load(pointer, offset + i, 64) for i in (0, 8)]


def _store(k: Builder, pointer: Pointer, words: Sequence[Bits], offset: Index | int = 0) -> None:
    for i, word in enumerate(words):
        k.store(pointer, offset + 8 * i, word, 64)


def _check(k: Builder) -> None:
    if k.xlen != 64:
        raise UnsupportedKernel(f"kernel needs registers of 64 bits, not {k.xlen}")


def cipher(rounds: int, *, inverse: bool) -> Callable[[Builder, Words, Pointer], Words]:
    """A kernel of one block on two words, with the round keys in memory.

    Args:
        rounds: 10, 12 or 14.
        inverse: Whether it decrypts, with round keys of the equivalent inverse cipher.
    """
    middle = _half(t_tables(inverse=inverse), 32, inverse=inverse)
    last = _half([inverse_sbox() if inverse else sbox()] * 4, 8, inverse=inverse)

    def apply(k: Builder, s: Words, keys: Pointer) -> Words:
        def add_key(words: Words, offset: Index | int) -> Words:
            return [w ^ key for w, key in zip(words, _load(k, keys, offset), strict=True)]

        def one_round(i: Index, *s: Bits) -> Words:
            mixed = [middle(s[0], s[1]), middle(s[1], s[0])]
            return add_key(mixed, (-16) * i + 16 * (rounds - 1) if inverse else 16 * i + 16)

        s = add_key(s, 16 * rounds if inverse else 0)
        s = list(k.loop(rounds - 1, one_round, *s))
        return add_key([last(s[0], s[1]), last(s[1], s[0])], 0 if inverse else 16 * rounds)

    return apply


def on_words(rounds: int, *, inverse: bool) -> Callable[[Builder, Words, Pointer], Words]:
    """The same on a state of four 32-bit columns, as modes hold it."""
    function = cipher(rounds, inverse=inverse)

    def apply(k: Builder, s: Words, keys: Pointer) -> Words:
        _check(k)
        low, high = function(k, [concat(s[1], s[0]), concat(s[3], s[2])], keys)
        return [low.slice(0, 32), low.slice(32, 32), high.slice(0, 32), high.slice(32, 32)]

    return apply


def block(rounds: int, *, inverse: bool) -> Callable[[Builder], None]:
    """The kernel that processes one block from one buffer into another."""
    function = cipher(rounds, inverse=inverse)

    def build(k: Builder) -> None:
        _check(k)
        source, keys, target = k.pointer("input"), k.pointer("round_keys"), k.pointer("output")
        _store(k, target, function(k, _load(k, source), keys))

    return build


def _doubled(word: Bits) -> Bits:
    return concat(word, word)


def _running(word: Bits) -> Bits:
    """The first word, and its sum with the second."""
    return word ^ (word << 32)


def _last_word(word: Bits) -> Bits:
    return word.slice(32, 32)


def _rotated_and_substituted(word: Bits) -> Bits:
    """RotWord and SubWord of the second word."""
    return concat(*(lookup(sbox(), word.byte(4 + (i + 1) % 4)) for i in reversed(range(4))))


def schedule128(k: Builder) -> None:
    """The key schedule of a 128-bit key, two words of it a register."""
    _check(k)
    key, keys = k.pointer("key"), k.pointer("round_keys")
    words = _load(k, key)
    _store(k, keys, words)

    def step(i: Index, rcon: Bits, low: Bits, high: Bits) -> tuple[Bits, ...]:
        new_low = _doubled(_rotated_and_substituted(high) ^ rcon) ^ _running(low)
        new_high = _doubled(_last_word(new_low)) ^ _running(high)
        _store(k, keys, [new_low, new_high], 16 * i + 16)
        following = (rcon << 1) ^ ((const(0, 32) - (rcon >> 7)) & 0x11B)
        return (following, new_low, new_high)

    k.loop(10, step, const(1, 32), *words)

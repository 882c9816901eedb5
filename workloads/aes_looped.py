"""AES in few bytes: loops over columns and rows on a state in memory, one S-box table."""

from __future__ import annotations

from collections.abc import Callable

from isa.aes import sbox
from isa.bits import Bits, const, lookup
from isa.kernel import Builder, Index, Pointer
from workloads.words import load_word

SUMMARY = "small: loops over columns and bytes, 256-byte S-box table (FIPS 197)"


def block(rounds: int, mix: Callable[[Bits], Bits]) -> Callable[[Builder], None]:
    """Encryption of one block; `mix` is MixColumns of a column."""

    def build(k: Builder) -> None:
        source, keys, target = k.pointer("input"), k.pointer("round_keys"), k.pointer("output")
        other = k.scratch("substituted", 16)

        def add_key(c: Index, column: Bits, key: Index | int) -> tuple[Bits, ...]:
            k.store(target, 4 * c, column ^ load_word(k, keys, 4 * c + key))
            return ()

        def last(key: Index | int, mixed: Callable[[Bits], Bits]) -> None:
            _substitute(k, target, other)
            k.loop(4, lambda c: add_key(c, mixed(load_word(k, other, 4 * c)), key))

        def one_round(i: Index) -> tuple[Bits, ...]:
            last(16 * i + 16, mix)
            return ()

        k.loop(4, lambda c: add_key(c, load_word(k, source, 4 * c), 0))
        k.loop(rounds - 1, one_round, unroll=False)
        last(16 * rounds, lambda column: column)

    return build


def _substitute(k: Builder, source: Pointer, target: Pointer) -> None:
    """SubBytes and ShiftRows: byte r of column c comes from byte 4 c + 5 r, modulo 16."""

    def row(_: Index, place: Bits, column: Bits) -> tuple[Bits, ...]:
        byte = lookup(sbox(), k.load(source, 0, 8, index=place).slice(0, 8))
        return (place + 5) & 15, column >> 8 | byte.zext(32) << 24

    def one_column(c: Index) -> tuple[Bits, ...]:
        _, column = k.loop(4, row, (4 * c).bits(k.xlen), const(0, 32))
        k.store(target, 4 * c, column)
        return ()

    k.loop(4, one_column)

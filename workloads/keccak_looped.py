"""Keccak-f1600 in few bytes on RV32: bit-interleaved words in memory, every step in a loop.

A step works on words: word 2 (x + 5 y) + p holds the even bits (p = 0) or the odd bits (p = 1) of
lane (x, y). Where a word comes from and how far it turns in rho and pi stands in a table.
"""

from __future__ import annotations

from isa.bits import Bits
from isa.keccak import OFFSETS, ROUNDS
from isa.kernel import Builder, Index, Pointer
from isa.table import Table
from workloads.words import load_word, load_words, store_words, total

_ROW, _LANE = 40, 8
"""Bytes."""


def _moves() -> Table:
    """For each word after rho and pi, where it was in bytes and by how much it turns right."""
    entries = []
    for y in range(5):
        for x in range(5):
            lane = (x + 3 * y) % 5 + 5 * x
            half, odd = divmod(OFFSETS[lane], 2)
            for piece in range(2):
                came = piece ^ odd
                entries += [_LANE * lane + 4 * came, -(half + (odd & came)) % 32]
    return Table("keccak_moves", 8, (*entries, *[0] * (128 - len(entries))))


def permute(k: Builder, state: Pointer, constants: Pointer) -> None:
    """All rounds on a bit-interleaved state; round constants of 8 bytes each, interleaved."""
    moves = k.constants(_moves())
    parity = k.scratch("parities", 7 * _LANE)  # of columns 4, 0, 1, 2, 3, 4, 0
    moved = k.scratch("moved", 25 * _LANE)

    def column(j: Index) -> tuple[Bits, ...]:
        words = [load_word(k, state, 4 * j + _ROW * y) for y in range(5)]
        k.store(parity, 4 * j + _LANE, total(*words))
        return ()

    def theta(x: Index) -> tuple[Bits, ...]:
        left, right = (load_words(k, parity, 2, _LANE * x + place) for place in (0, 2 * _LANE))
        added = left[0] ^ right[1].rotl(1), left[1] ^ right[0]

        def lane(y: Index) -> tuple[Bits, ...]:
            place = _LANE * x + _ROW * y
            for piece, word in enumerate(added):
                k.store(state, place + 4 * piece, load_word(k, state, place + 4 * piece) ^ word)
            return ()

        k.loop(5, lane)
        return ()

    def rho_pi(j: Index) -> tuple[Bits, ...]:
        came, turn = (k.load(moves, 2 * j + i, 8) for i in range(2))
        word = k.load(state, 0, index=came)
        k.store(moved, 4 * j, word.rotr_var(turn.slice(0, 5)))
        return ()

    def chi(y: Index) -> tuple[Bits, ...]:
        def piece(p: Index) -> tuple[Bits, ...]:
            place = _ROW * y + 4 * p
            b = [load_word(k, moved, place + _LANE * x) for x in range(5)]
            for x in range(5):
                word = b[x] ^ (~b[(x + 1) % 5] & b[(x + 2) % 5])
                k.store(state, place + _LANE * x, word)
            return ()

        k.loop(2, piece)
        return ()

    def one_round(i: Index) -> tuple[Bits, ...]:
        k.loop(10, column)
        store_words(k, parity, load_words(k, parity, 2, 5 * _LANE), 0)
        store_words(k, parity, load_words(k, parity, 2, _LANE), 6 * _LANE)
        k.loop(5, theta)
        k.loop(50, rho_pi)
        k.loop(5, chi)
        first = zip(load_words(k, state, 2), load_words(k, constants, 2, 8 * i), strict=True)
        store_words(k, state, [word ^ constant for word, constant in first])
        return ()

    k.loop(ROUNDS, one_round, unroll=False)

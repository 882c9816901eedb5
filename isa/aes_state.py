"""AES on words that hold columns of the state: the pieces of which its instructions consist.

Column c of the state is word c, row r its byte r, byte 0 the least significant (FIPS 197, 3.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import xor

from isa.aes import times
from isa.bits import Bits, concat, const, lookup, mux
from isa.table import Table


def selected_byte(word: Bits, number: Bits) -> Bits:
    """The byte of a word that a two-bit number selects."""
    return word.shr_var(concat(number, const(0, 3))).slice(0, 8)


def placed_byte(word: Bits, number: Bits) -> Bits:
    """A word rotated left by a two-bit number of bytes."""
    return word.rotr_var(~concat(number, const(0, 3)) + 1)


def substitute(table: Table, x: Bits) -> Bits:
    """Apply an S-box to every byte."""
    return concat(*(lookup(table, x.byte(i)) for i in reversed(range(x.width // 8))))


def mixed_byte(column: Sequence[Bits], row: int, factors: Sequence[int]) -> Bits:
    """Row `row` of (Inv)MixColumns of the column with these bytes, row 0 first.

    Args:
        column: Four bytes.
        row: 0 to 3.
        factors: `isa.aes.MIX` or `isa.aes.INVERSE_MIX`.
    """
    return reduce(xor, (times(b, factors[(row - j) % 4]) for j, b in enumerate(column)))


def mix_columns(x: Bits, factors: Sequence[int]) -> Bits:
    """(Inv)MixColumns of each column in `x`; see `mixed_byte`."""
    parts = []
    for low in range(0, x.width, 32):
        column = [x.slice(low + 8 * j, 8) for j in range(4)]
        parts += [mixed_byte(column, row, factors) for row in range(4)]
    return concat(*reversed(parts))


def shifted_half(state: Bits, direction: int) -> Bits:
    """Columns 0 and 1 after ShiftRows (direction 1) or InvShiftRows (-1) of a 128-bit state."""
    parts = [
        state.byte(4 * ((column + direction * row) % 4) + row)
        for column in range(2)
        for row in range(4)
    ]
    return concat(*reversed(parts))


def round_constant(number: Bits) -> Bits:
    """Round constant x^number in GF(2^8) for a four-bit number of 0 to 9, else 0."""
    constant = const(0, 8)
    power = const(1, 8)
    for i in range(10):
        constant = mux(number.eq(i), power, constant)
        power = times(power, 2)
    return constant

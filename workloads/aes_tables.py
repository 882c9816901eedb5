"""AES tables of S-box and (Inv)MixColumns together (Daemen and Rijmen 1999, section 5.2.1)."""

from __future__ import annotations

from functools import cache

from isa.aes import INVERSE_MIX, MIX, inverse_sbox, multiply, sbox
from isa.table import Table


def _t_table(box: Table, column: tuple[int, ...], row: int) -> Table:
    entries = []
    for s in box.entries:
        entry = int.from_bytes(bytes(multiply(factor, s) for factor in column), "little")
        entries.append((entry << 8 * row | entry >> (32 - 8 * row)) & 0xFFFFFFFF)
    return Table(f"{box.name}_mix{row}", 32, tuple(entries))


@cache
def t_tables(*, inverse: bool) -> tuple[Table, ...]:
    """One table a row: the (inverse) S-box, then the share of that row's byte in the column."""
    box, column = (inverse_sbox(), INVERSE_MIX) if inverse else (sbox(), MIX)
    return tuple(_t_table(box, column, row) for row in range(4))

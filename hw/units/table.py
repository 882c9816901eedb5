"""S-boxes as tables: what a synthesiser makes of 256 constants."""

from __future__ import annotations

import pyrtl

from hw.rom import read_table
from hw.units import Build, register
from isa import aes, sm4
from isa.table import Table


def _reader(table: Table) -> Build:
    def build(x: pyrtl.WireVector) -> pyrtl.WireVector:
        return read_table(table, x)

    return build


for _table, _source in (
    (aes.sbox(), "FIPS 197 section 5.1.1"),
    (aes.inverse_sbox(), "FIPS 197 section 5.3.2"),
    (sm4.sbox(), "GB/T 32907-2016 section 6.2"),
):
    register(table=_table.name, name="table", source=f"{_source}, as 256 constants")(
        _reader(_table)
    )

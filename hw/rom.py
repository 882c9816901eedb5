"""ROM: a `Table` in hardware when no circuit is known for it."""

from __future__ import annotations

from typing import Any

import pyrtl

from isa.table import Table

__all__ = ["contents", "read_table"]


def read_table(table: Table, index: pyrtl.WireVector) -> pyrtl.WireVector:
    """Return entry `index` of `table`, in the working block.

    Simulated and exported as a read-only memory; `hw.bitblast` turns it into multiplexers.
    """
    rom = pyrtl.RomBlock(
        bitwidth=table.width,
        addrwidth=table.index_width,
        romdata=list(table.entries),
        asynchronous=True,
        max_read_ports=None,
    )
    entry = pyrtl.WireVector(bitwidth=table.width)
    entry <<= rom[index]
    return entry


def contents(rom: Any) -> list[int]:
    """Return every word of a RomBlock; words past its data are 0, as `pad_with_zeros` has them."""
    size = 1 << rom.addrwidth
    given = size if callable(rom.data) else min(size, len(rom.data))
    return [rom._get_read_data(i) for i in range(given)] + [0] * (size - given)

"""Layout: where constant tables stand in data memory, and the bases from which they are read.

Tables share a base register as far as the signed 12-bit offsets of loads reach, 2 KiB either way.
Only the start of a table need be in reach, so the smallest stand first.
"""

from __future__ import annotations

from collections.abc import Sequence

from isa.program import DATA_BASE
from isa.table import Table

REACH = 2048
"""Bytes that an offset reaches below a base; above it one less."""


def table_entry_bytes(table: Table) -> int:
    """Bytes of an entry in memory: the next power of two."""
    size = 1
    while 8 * size < table.width:
        size *= 2
    return size


class Layout:
    """Tables by size, in windows whose table starts span less than twice the reach.

    Attributes:
        anchors: Name of the base from which each table is read.
    """

    def __init__(self, tables: Sequence[Table]) -> None:
        self._windows: list[list[Table]] = []
        self._used: set[str] = set()
        self.anchors: dict[str, str] = {}
        span = 2 * REACH
        for table in sorted(tables, key=_size):
            if span >= 2 * REACH:
                self._windows.append([])
                span = 0
            self._windows[-1].append(table)
            self.anchors[table.name] = f"tables{len(self._windows) - 1}"
            span += _size(table)

    def use(self, table: Table) -> None:
        """Keep a table in the image; the others take no room."""
        self._used.add(table.name)

    def place(self) -> tuple[bytes, dict[str, int], dict[str, int]]:
        """Data image, addresses of tables, addresses of bases."""
        image = bytearray()
        places: dict[str, int] = {}
        anchors: dict[str, int] = {}
        for i, window in enumerate(self._windows):
            image += bytes(-len(image) % 4)
            start = last = len(image)
            for table in window:
                if table.name in self._used:
                    size = table_entry_bytes(table)
                    image += bytes(-len(image) % max(size, 4))
                    last = len(image)
                    places[table.name] = DATA_BASE + last
                    for entry in table.entries:
                        image += entry.to_bytes(size, "little")
            anchors[f"tables{i}"] = DATA_BASE + start + (REACH if last - start >= REACH else 0)
        return bytes(image), places, anchors


def _size(table: Table) -> int:
    return (len(table.entries) * table_entry_bytes(table) + 3) & ~3

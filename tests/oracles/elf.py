"""A statically linked executable of one segment, made without a toolchain."""

from __future__ import annotations

import struct
from collections.abc import Mapping

BASE = 0x20000000
"""Address of the segment; free both in a Linux process and on Spike's bus."""
_PAGE = 4096


def executable(
    xlen: int, segment: bytes, memory_size: int, entry: int, symbols: Mapping[str, int]
) -> bytes:
    """Wrap `segment`, loaded at `BASE` and extended with zeros to `memory_size` bytes.

    The segment may be read, written and executed. `symbols` are addresses by name, which Spike
    reads.
    """
    wide = xlen == 64
    word = "Q" if wide else "I"
    header_size, entry_size, section_size = (64, 56, 64) if wide else (52, 32, 40)
    symbol_size = 24 if wide else 16

    names = b"\0" + b"".join(n.encode() + b"\0" for n in (*symbols, ".symtab", ".strtab"))

    def place(name: str) -> int:
        return names.index(b"\0" + name.encode() + b"\0") + 1

    table = bytes(symbol_size)
    for name, address in symbols.items():
        absolute, is_global = 0xFFF1, 0x10
        if wide:
            table += struct.pack("<IBBHQQ", place(name), is_global, 0, absolute, address, 0)
        else:
            table += struct.pack("<IIIBBH", place(name), address, 0, is_global, 0, absolute)

    segment_at = _PAGE
    table_at = segment_at + len(segment)
    names_at = table_at + len(table)
    sections_at = names_at + len(names) + -(names_at + len(names)) % 8

    def section(
        name: int, kind: int, offset: int, size: int, link: int, info: int, entsize: int
    ) -> bytes:
        fields = (name, kind, 0, 0, offset, size, link, info, 8, entsize)
        return struct.pack(f"<II{word}{word}{word}{word}II{word}{word}", *fields)

    sections = section(0, 0, 0, 0, 0, 0, 0)
    sections += section(place(".symtab"), 2, table_at, len(table), 2, 1, symbol_size)
    sections += section(place(".strtab"), 3, names_at, len(names), 0, 0, 0)

    identification = b"\x7fELF" + bytes([2 if wide else 1, 1, 1]) + bytes(9)
    header = identification + struct.pack(
        f"<HHI{word}{word}{word}IHHHHHH",
        *(2, 243, 1, entry, header_size, sections_at, 0),
        *(header_size, entry_size, 1, section_size, 3, 2),
    )
    flags, load = 7, 1
    sizes = (len(segment), memory_size)
    if wide:
        program = struct.pack("<IIQQQQQQ", load, flags, segment_at, BASE, BASE, *sizes, _PAGE)
    else:
        program = struct.pack("<IIIIIIII", load, segment_at, BASE, BASE, *sizes, flags, _PAGE)
    whole = (header + program).ljust(_PAGE, b"\0") + segment + table + names
    return whole.ljust(sections_at, b"\0") + sections

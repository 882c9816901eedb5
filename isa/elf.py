"""ELF: reads a statically linked little-endian RISC-V executable as a `Program`.

Written from the ELF specification (System V ABI, chapters 4 and 5) and the RISC-V ELF psABI 1.0.
Every offset that the file states is checked against its length before it is used.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from isa.program import Program, packed

MAGIC = b"\x7fELF"
STACK_BYTES = 1 << 20
"""Room for heap and stack behind the program."""
LARGEST_BYTES = 1 << 28
"""Most memory that a program may span."""
_PAGE = 4096
_LOAD, _INTERPRETER, _EXECUTABLE = 1, 3, 1
_RISCV, _STATIC = 243, 2
_SYMBOLS = 2
_NO_TYPE, _FUNCTION = 0, 2


class ElfError(ValueError):
    """A file is no executable that can be run here."""


@dataclass(frozen=True)
class Elf:
    """An executable.

    Attributes:
        xlen: Register width, 32 or 64.
        program: Its code, data, and the symbols that lie in its code.
        is_compressed: It was compiled for compressed instructions.
    """

    xlen: int
    program: Program
    is_compressed: bool


@dataclass(frozen=True)
class _Segment:
    address: int
    size: int
    data: bytes
    is_executable: bool


class _File:
    """Bytes of a file, read with bounds checks; `wide` chooses the 64-bit layouts."""

    def __init__(self, data: bytes) -> None:
        if data[:4] != MAGIC or len(data) < 52:
            raise ElfError("file must be an ELF executable, not something else or cut short")
        if data[4] not in (1, 2) or data[5] != 1:
            raise ElfError("ELF must be little-endian of 32 or 64 bits")
        self.data = data
        self.wide = data[4] == 2

    def bytes(self, offset: int, size: int, what: str) -> bytes:
        if offset + size > len(self.data):
            raise ElfError(
                f"{what} of the ELF must lie within its {len(self.data)} bytes, "
                f"not at {offset:#x} to {offset + size:#x}"
            )
        return self.data[offset : offset + size]

    def unpack(self, offset: int, narrow: str, wide: str, what: str) -> tuple[int, ...]:
        form = "<" + (wide if self.wide else narrow)
        return struct.unpack(form, self.bytes(offset, struct.calcsize(form), what))

    def table(self, offset: int, count: int, size: int, what: str) -> Iterator[int]:
        """Offsets of the entries of a table."""
        self.bytes(offset, count * size, what)
        return iter(range(offset, offset + count * size, max(size, 1)))


def read_elf(data: bytes) -> Elf:
    """Read an executable.

    Raises:
        ElfError: It is malformed, not for RISC-V, not linked statically, or too large.
    """
    file = _File(data)
    header = file.unpack(16, "HHIIIIIHHHHHH", "HHIQQQIHHHHHH", "header")
    kind, machine, _, entry, segments_at, sections_at, flags = header[:7]
    _, segment_size, segment_count, section_size, section_count, _ = header[7:]
    if machine != _RISCV:
        raise ElfError(f"machine of the ELF must be RISC-V ({_RISCV}), not {machine}")
    if kind != _STATIC:
        raise ElfError(
            f"type of the ELF must be an executable ({_STATIC}), not {kind}; "
            "link it with -static and without -pie"
        )
    segments = []
    for at in file.table(segments_at, segment_count, segment_size, "program headers"):
        if file.wide:
            kind, access, offset, address, _, stored, size, _ = file.unpack(
                at, "", "IIQQQQQQ", "program header"
            )
        else:
            kind, offset, address, _, stored, size, access, _ = file.unpack(
                at, "IIIIIIII", "", "program header"
            )
        if kind == _INTERPRETER:
            raise ElfError("ELF must need no dynamic linker; link it with -static")
        if kind == _LOAD and size:
            if stored > size or address + size > 1 << (64 if file.wide else 32):
                raise ElfError(f"segment of the ELF must fit its memory, not {address:#x}")
            content = file.bytes(offset, stored, "segment")
            segments.append(_Segment(address, size, content, bool(access & _EXECUTABLE)))
    names = _symbols(file, sections_at, section_size, section_count)
    program = _program(segments, entry, names)
    return Elf(64 if file.wide else 32, program, bool(flags & 1))


def _program(segments: list[_Segment], entry: int, names: dict[str, int]) -> Program:
    code = [s for s in segments if s.is_executable]
    if not code:
        raise ElfError("ELF must have an executable segment")
    low = min(s.address for s in segments) // _PAGE * _PAGE
    high = max(s.address + s.size for s in segments)
    if high - low > LARGEST_BYTES:
        raise ElfError(
            f"segments of the ELF must lie within {LARGEST_BYTES:#x} bytes, not {low:#x} to "
            f"{high:#x}"
        )
    image = bytearray(max(s.address + len(s.data) for s in segments) - low)
    for s in segments:
        image[s.address - low : s.address - low + len(s.data)] = s.data
    first = min(s.address for s in code) // 4 * 4
    end = max(s.address + len(s.data) for s in code)
    words, padding = packed(bytes(image[first - low : end - low]))
    if not first <= entry < end:
        raise ElfError(f"entry of the ELF must lie in {first:#x} to {end:#x}, not {entry:#x}")
    return Program(
        words,
        bytes(image),
        {name: address for name, address in names.items() if first <= address < end},
        text_base=first,
        start=entry,
        data_base=low,
        memory_bytes=-(-(high - low) // _PAGE) * _PAGE + STACK_BYTES,
        padding_bytes=padding,
    )


def _symbols(file: _File, at: int, size: int, count: int) -> dict[str, int]:
    """Addresses of functions and labels, by name; an empty table is fine."""
    sections = []
    for offset in file.table(at, count, size, "section headers") if at else ():
        fields = file.unpack(offset, "IIIIIIIIII", "IIQQQQIIQQ", "section header")
        sections.append((fields[1], fields[4], fields[5], fields[6]))
    found: dict[str, int] = {}
    for kind, offset, length, link in sections:
        if kind != _SYMBOLS:
            continue
        if link >= len(sections):
            raise ElfError(f"names of the symbols must be in a section, not in number {link}")
        names = file.bytes(sections[link][1], sections[link][2], "names of symbols")
        step = 24 if file.wide else 16
        for place in file.table(offset, length // step, step, "symbols"):
            if file.wide:
                name_at, info, _, _, value, _ = file.unpack(place, "", "IBBHQQ", "symbol")
            else:
                name_at, value, _, info, _, _ = file.unpack(place, "IIIBBH", "", "symbol")
            name = names[name_at:].partition(b"\0")[0].decode("utf-8", "replace")
            kind_of_symbol = info & 15
            is_label = kind_of_symbol == _NO_TYPE and name[:1] not in (".", "$", "")
            if name and (kind_of_symbol == _FUNCTION or is_label):
                found[name] = value
    return found

"""Luts: a network of LUTs, as ABC writes it into an AIGER file."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

__all__ = ["Lut", "LutNetwork", "read_luts"]


class Lut(NamedTuple):
    """One LUT: the variable that it gives and those that it reads."""

    output: int
    inputs: tuple[int, ...]


@dataclass(frozen=True)
class LutNetwork:
    """LUTs over variables, fan-in first.

    Attributes:
        inputs: Variables 1 to `inputs` come from outside, in the order of the AIGER file.
        outputs: Literals of the outputs: twice the variable, plus 1 if complemented.
        luts: The LUTs. A function of 7 or 8 inputs is one `Lut`, and two or four LUTs of 6 with
            wide multiplexers.
    """

    inputs: int
    outputs: tuple[int, ...]
    luts: tuple[Lut, ...]

    @cached_property
    def count(self) -> int:
        """LUTs of a Xilinx 7-series part."""
        return sum(1 << max(0, len(lut.inputs) - 6) for lut in self.luts)

    @cached_property
    def wide_muxes(self) -> int:
        """MUXF7 and MUXF8 of the part."""
        return sum((1 << max(0, len(lut.inputs) - 6)) - 1 for lut in self.luts)


def read_luts(data: bytes) -> LutNetwork:
    """Read a binary AIGER file with the mapping that ABC's `&w` adds to it.

    AIGER 1.9 (A. Biere et al., FMV report 11/2, 2011) lets the comment hold anything. ABC puts
    sections there, each a letter, its length in 4 bytes and its content.

    Raises:
        ValueError: when the file is not of that kind.
    """
    header, _, rest = data.partition(b"\n")
    words = header.split()
    if len(words) < 6 or words[0] != b"aig":
        raise ValueError(f"an AIGER file must begin with 'aig' and counts, not {header[:40]!r}")
    inputs, outputs, ands = int(words[2]), int(words[4]), int(words[5])
    *lines, rest = rest.split(b"\n", outputs)
    position = 0
    for _ in range(2 * ands):
        while rest[position] & 128:
            position += 1
        position += 1
    while rest[position : position + 1] in (b"i", b"o"):
        position = rest.index(b"\n", position) + 1
    if rest[position : position + 2] != b"cm":
        raise ValueError("an AIGER file must hold a mapping in its comment, which ABC's &w writes")
    luts = tuple(_mapping(rest[position + 6 :]))
    return LutNetwork(inputs, tuple(int(line) for line in lines), luts)


def _mapping(section: bytes) -> Iterator[Lut]:
    """Yield the LUTs of the section, which holds words of 4 bytes, the highest byte first.

    Their number, the most inputs of one, and for each its variable, its inputs' number and these.
    """
    words = struct.unpack(f">{len(section) // 4}I", section[: len(section) // 4 * 4])
    position = 2
    for _ in range(words[0]):
        output, size = words[position], words[position + 1]
        yield Lut(output, words[position + 2 : position + 2 + size])
        position += 2 + size

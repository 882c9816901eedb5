"""Slot: a free place in the custom opcodes for an instruction of a given shape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from isa.encoding import Encoding
from isa.instruction_set import extension_names, extension_parameters, load_extension

OPCODES = (0x0A, 0x16, 0x1E, 0x02)
"""Bits 6..2 of custom-1, -2, -3 and -0, in the order in which they are filled; NLU-V has custom-0.
"""

_FREE = {1: (20, 31), 2: (25, 31), 3: (25, 26)}
"""Lowest and highest bit left beside opcode, funct3 and registers, by register operands read."""

MOST_OPERANDS = max(_FREE)
"""Most registers an instruction word can name beside the result."""

_RISCV_NAMES = {"bs": (31, 30)}
"""Immediates that riscv-opcodes has a name for, with their place."""


class NoRoom(ValueError):
    """An instruction has more operands than an instruction word can name."""


@dataclass(frozen=True)
class Slot:
    """An encoding.

    Attributes:
        line: In riscv-opcodes syntax.
        fields: (high, low) of immediates that riscv-opcodes has no name for.
        encoding: The line, parsed.
    """

    line: str
    fields: dict[str, tuple[int, int]]
    encoding: Encoding


def allocate(
    name: str,
    operands: int,
    immediates: Sequence[tuple[str, int]],
    taken: Iterable[Encoding],
    opcodes: Sequence[int] = OPCODES,
) -> Slot:
    """The first slot of the shape that overlaps none of the `taken` encodings.

    Args:
        name: Mnemonic.
        operands: Registers read.
        immediates: (name, width in bits) of each immediate.
        taken: Encodings in use.
        opcodes: Bits 6..2 of the opcodes, in the order in which they are filled.

    Raises:
        NoRoom: The operands do not fit, or no slot is free.
    """
    if operands not in _FREE:
        raise NoRoom(f"{name}: must read 1 to {MOST_OPERANDS} registers, not {operands}")
    low, high = _FREE[operands]
    fields: dict[str, tuple[int, int]] = {}
    words = []
    for immediate, width in immediates:
        if high - width + 1 < low:
            raise NoRoom(
                f"{name}: immediates must fit {_FREE[operands][1] - low + 1} bits beside "
                f"{operands} registers, not {sum(w for _, w in immediates)}"
            )
        place = (high, high - width + 1)
        if _RISCV_NAMES.get(immediate) != place:
            fields[immediate] = place
        words.append(immediate)
        high -= width
    registers = ["rd", *(f"rs{i}" for i in range(1, operands + 1))]
    head = " ".join([name, *registers, *words])
    used = list(taken)
    for rest in _functions(low, high, opcodes):
        line = f"{head} {rest}"
        encoding = Encoding.parse(line, fields)
        if not any(_overlap(encoding, other) for other in used):
            return Slot(line, fields, encoding)
    raise NoRoom(f"{name}: no custom encoding is free; propose fewer instructions")


def _functions(low: int, high: int, opcodes: Sequence[int]) -> Iterator[str]:
    """Fixed fields of the slots, in order."""
    width = high - low + 1
    for opcode, funct3, function in product(opcodes, range(8), range(min(1 << width, 128))):
        fixed = f"{high}..{low}={function} " if width else ""
        if width == 1:
            fixed = f"{low}={function} "
        yield f"{fixed}14..12={funct3} 6..2={opcode:#04x} 1..0=3"


def _overlap(a: Encoding, b: Encoding) -> bool:
    return not (a.match ^ b.match) & a.mask & b.mask


def encodings_in_use() -> list[Encoding]:
    """Encodings of every instruction of `isa/extensions/`, whatever its parameters."""
    found = []
    for name in extension_names():
        accepted = extension_parameters(name)
        for values in product(*accepted.values()):
            extension = load_extension(name, **dict(zip(accepted, values, strict=True)))
            found += [i.encoding for i in extension.instructions]
    return found

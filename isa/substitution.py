"""Substitution: a table as a linear map of a named S-box, so that hardware shares the S-box."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from isa.aes import multiply, times
from isa.bits import Bits, concat, const, lookup, topological
from isa.instruction_set import extension_names, extension_parameters, load_extension
from isa.table import Table

BYTE_VALUES = 256


@dataclass(frozen=True)
class Substitution:
    """The function x -> constant + columns * box(x) over GF(2).

    Attributes:
        box: A permutation of bytes with a name of its own; None for the identity.
        columns: Image of each bit of the box's result.
        constant: What is added.
        width: Bits of the result.
    """

    box: Table | None
    columns: tuple[int, ...]
    constant: int
    width: int

    def factors(self) -> tuple[int, ...] | None:
        """The product in the field of AES that each byte of the result is, lowest byte first.

        None where one is no such product.
        """
        if self.width % 8:
            return None
        found = []
        for low in range(0, self.width, 8):
            images = [column >> low & 0xFF for column in self.columns]
            factor = images[0]  # image of 1
            if any(multiply(factor, 1 << i) != image for i, image in enumerate(images)):
                return None
            found.append(factor)
        return tuple(found)

    def build(self, index: Bits) -> Bits:
        """The function of an 8-bit index as an expression."""
        value = index if self.box is None else lookup(self.box, index)
        factors = self.factors()
        if factors is not None:
            linear = concat(*(times(value, factor) for factor in reversed(factors)))
        else:
            linear = concat(*(self._row(value, bit) for bit in reversed(range(self.width))))
        return linear ^ self.constant

    def _row(self, value: Bits, bit: int) -> Bits:
        total = const(0, 1)
        for i, column in enumerate(self.columns):
            if column >> bit & 1:
                total = total ^ value.bit(i)
        return total

    def formula(self, index: str) -> str:
        """The function for people."""
        value = index if self.box is None else f"{self.box.name}[{index}]"
        factors = self.factors()
        if factors is not None and sum(1 for f in factors if f) == 1 and max(factors) == 1:
            low = 8 * factors.index(1)
            text = f"{value} << {low}" if low else value
        elif factors is not None:
            text = f"({', '.join(str(f) for f in factors)}) * {value}"
        else:
            text = f"M({value})"
        return f"{text} ^ {self.constant:#x}" if self.constant else text


@cache
def named_boxes() -> tuple[Table, ...]:
    """The byte permutations that known instructions look up, by name."""
    found: dict[str, Table] = {}
    for name in extension_names():
        first = {key: values[0] for key, values in extension_parameters(name).items()}
        extension = load_extension(name, **first)
        for instruction in extension.instructions:
            roots = instruction.effects(instruction.xlens[0]).values()
            for n in topological(roots):
                table = n.attr
                if isinstance(table, Table) and sorted(table.entries) == list(range(BYTE_VALUES)):
                    found[table.name] = table
    return tuple(found[name] for name in sorted(found))


def factor(entries: tuple[int, ...], width: int) -> Substitution | None:
    """Write 256 values as a linear map of the index or of a named S-box; None where none fits."""
    for box in (None, *named_boxes()):
        inverse = list(range(BYTE_VALUES))
        if box is not None:
            for x, y in enumerate(box.entries):
                inverse[y] = x
        constant = entries[inverse[0]]
        columns = tuple(entries[inverse[1 << i]] ^ constant for i in range(8))
        image = [constant]
        for i in range(8):
            image += [value ^ columns[i] for value in image]
        if all(entries[inverse[y]] == value for y, value in enumerate(image)):
            return Substitution(box, columns, constant, width)
    return None

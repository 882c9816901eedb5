"""Choice: how one word is computed, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from isa.compiler.patterns import Access, Pattern
from isa.compiler.words import Word
from isa.table import Table

IMPOSSIBLE = float("inf")
"""Cost of a word that no instruction computes."""


@dataclass(frozen=True, eq=False, slots=True)
class Choice:
    """How a word is computed.

    Attributes:
        cost: Cycles, those of the operands included as far as they are not shared.
        pattern: Instruction used; None where the word equals `same`, or is loaded.
        operands: Words in the register operands of the pattern.
        immediate: Field of the wide immediate.
        same: A word of equal value.
        access: Load instruction of a table entry.
        table: The table it is an entry of.
    """

    cost: float
    pattern: Pattern | None = None
    operands: tuple[tuple[str, Word], ...] = ()
    immediate: int | None = None
    same: Word | None = None
    access: Access | None = None
    table: Table | None = None


Way = Word | tuple[Pattern, tuple[tuple[str, Word], ...], int | None]
"""An equal word, or an instruction with its operands and its wide immediate."""


def way_of(pattern: Pattern, binding: Mapping[str, Word]) -> Way:
    """An instruction with its operands."""
    immediate = None
    if pattern.immediate is not None:
        immediate = pattern.immediate.solve(binding["immediate"].value)
    return pattern, tuple((h, binding[h]) for h in pattern.holes), immediate

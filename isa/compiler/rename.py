"""Rename: registers exchanged throughout a kernel, so that more instructions can be compressed.

Exchanging two registers everywhere changes nothing else. Which operands are equal stays as it is,
so all that an instruction asks for is that certain registers are among x8 to x15.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from isa.compiler.place import Word
from isa.compiler.short import LOW
from isa.instruction_set import InstructionSet

_HIGH = 16
"""A register that is not among them."""


def rename(words: Sequence[Word], fixed: Iterable[int], instructions: InstructionSet) -> None:
    """Exchange registers that `words` use, but for the `fixed` ones, as long as code gets shorter.

    The same registers are used afterwards. The search exchanges one pair after the other and ends
    where no pair shortens the code.
    """
    if not instructions.compressed:
        return
    used = {w.values[r] for w in words for r in w.instruction.encoding.registers}
    free = sorted(used - set(fixed))
    asked = Counter(_asked(w, free, instructions) for w in words)
    groups = sorted((sorted(a), n) for a, n in asked.items() if a)
    place = {r: r for r in free}

    def gain() -> int:
        return sum(n for a, n in groups if all(place[r] in LOW for r in a))

    best, improved = gain(), True
    while improved:
        improved = False
        for i, a in enumerate(free):
            for b in free[i + 1 :]:
                if (place[a] in LOW) == (place[b] in LOW):
                    continue
                place[a], place[b] = place[b], place[a]
                found = gain()
                if found > best:
                    best, improved = found, True
                else:
                    place[a], place[b] = place[b], place[a]
    for w in words:
        changed = {r: w.values[r] for r in w.instruction.encoding.registers}
        w.values = {**w.values, **{r: place.get(n, n) for r, n in changed.items()}}


def _asked(word: Word, free: Sequence[int], instructions: InstructionSet) -> frozenset[int]:
    """Registers that must be low for a word to be short; none if it is short or long anyway."""
    operands = word.instruction.encoding.registers
    values = dict(word.values)
    if word.jump is not None:  # as if it went to itself
        values.setdefault(word.jump.offset.name, 0)
    own = sorted({values[r] for r in operands} & set(free))

    def fits(place: dict[int, int]) -> bool:
        moved = {r: place.get(values[r], values[r]) for r in operands}
        return instructions.compress(word.instruction, {**values, **moved}) is not None

    taken = {values[r] for r in operands} - set(own)
    low = dict(zip(own, (r for r in LOW if r not in taken), strict=False))
    if not own or not fits(low):
        return frozenset()
    return frozenset(r for r in own if not fits({**low, r: _HIGH}))

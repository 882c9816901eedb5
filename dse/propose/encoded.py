"""Encoded: encodings of a set of candidates, given together so that few gates decode them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from dse.propose.candidate import Candidate
from dse.propose.slot import Slot, allocate
from isa.encoding import Encoding
from isa.instruction import Instruction

OPCODES = (0x1E, 0x16, 0x0A, 0x02)
"""Bits 6..2 of custom-3, -2, -1 and -0; published sets have most of custom-0, some of custom-1."""


def encoded(candidates: Sequence[Candidate], taken: Iterable[Encoding]) -> list[Candidate]:
    """The candidates with the first encodings that overlap none of `taken`, in their order.

    Those that read fewer registers are encoded first, so that function fields are counted up within
    one block; which encodings a set gets does not depend on the order of its members.
    """
    used = list(taken)
    pieces = [
        (_shape(instruction), instruction.name, i, k, instruction)
        for i, candidate in enumerate(candidates)
        for k, instruction in enumerate(candidate.instructions)
    ]
    slots: dict[tuple[int, int], tuple[Instruction, Slot]] = {}
    for _, name, i, k, instruction in sorted(pieces, key=lambda piece: piece[:2]):
        immediates = [(m.name, m.width) for m in instruction.encoding.immediates]
        slot = allocate(name, len(instruction.encoding.registers) - 1, immediates, used, OPCODES)
        used.append(slot.encoding)
        slots[i, k] = (replace(instruction, line=slot.line, encoding=slot.encoding), slot)
    found = []
    for i, candidate in enumerate(candidates):
        made = [slots[i, k] for k in range(len(candidate.instructions))]
        instructions, places = zip(*made, strict=True)
        found.append(replace(candidate, instructions=instructions, slots=places))
    return found


def _shape(instruction: Instruction) -> tuple[int, int]:
    """Registers read, and bits of immediates."""
    bits = sum(m.width for m in instruction.encoding.immediates)
    return len(instruction.encoding.registers), bits

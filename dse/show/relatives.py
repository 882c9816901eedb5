"""Relatives: the instructions whose meanings share most with a given one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from isa.bits import Bits, topological
from isa.instruction import Instruction
from isa.instruction_set import extension_names, load_extension

LEAST_SHARE = 0.2
"""Share of common operators below which two instructions are not called relatives."""


@dataclass(frozen=True)
class Relative:
    """How one instruction is related.

    Attributes:
        name: Its mnemonic.
        extension: Where it is declared.
        share: Operators in both over operators in either, 0 to 1; 1 means the same.
    """

    name: str
    extension: str
    share: float

    def __str__(self) -> str:
        what = "the same meaning" if self.share == 1 else f"{self.share:.0%} of operators shared"
        return f"{self.name} ({self.extension}): {what}"


def relatives(instruction: Instruction, xlen: int, most: int = 4) -> list[Relative]:
    """The nearest relatives, nearest first.

    Operators are nodes of the meanings over the operands as they are named; as equal expressions
    are one node, common ones are found without comparing graphs.
    """
    own = _operators(instruction, xlen)
    found: dict[str, Relative] = {}
    for extension, other in _all(xlen):
        theirs = _operators(other, xlen)
        if other.name == instruction.name or not own or not theirs or other.name in found:
            continue
        share = len(own & theirs) / len(own | theirs)
        if share >= LEAST_SHARE:
            found[other.name] = Relative(other.name, extension, share)
    ranked = sorted(found.values(), key=lambda r: (-r.share, r.name))
    return ranked[:most]


@cache
def _all(xlen: int) -> tuple[tuple[str, Instruction], ...]:
    """Every instruction with the extension that declares it; bundles come last."""
    loaded = [load_extension(name) for name in extension_names()]
    return tuple(
        (extension.name, i)
        for extension in sorted(loaded, key=lambda e: (bool(e.requires), e.name))
        for i in extension.instructions
        if xlen in i.xlens
    )


@cache
def _operators(instruction: Instruction, xlen: int) -> frozenset[Bits | tuple[object, ...]]:
    """Operators of a meaning, and what it does with their results."""
    effects = instruction.effects(xlen)
    found: set[Bits | tuple[object, ...]] = {n for n in topological(effects.values()) if n.args}
    if effects.rd is not None:
        found.add(("rd", id(effects.rd)))
    if effects.load is not None:
        found |= {("load",), ("load", effects.load.width, effects.load.signed)}
    if effects.store is not None:
        found |= {("store",), ("store", effects.store.value.width)}
    if effects.next_pc is not None:
        jump = effects.next_pc
        found.add(("pc", id(jump.target), None if jump.condition is None else id(jump.condition)))
    return frozenset(found | {(name, id(value)) for name, value in effects.state})

"""Idea: an instruction that could exist, made from one meaning or a family of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from dse.propose.group import Group
from dse.propose.work import Occurrence, disjoint
from isa.bits import Bits, arg, const, substitute


@dataclass(frozen=True, eq=False)
class Idea:
    """A candidate instruction.

    Attributes:
        root: What it computes, over `rs1`, `rs2`.. and its immediates.
        second: Its second result, which takes a second instruction; None where there is none.
        operands: Registers it reads.
        immediates: (name, width in bits) of each immediate.
        groups: The meanings it covers.
        settings: Values of the immediates for each group.
        formula: What it does, for people.
    """

    root: Bits
    operands: int
    immediates: tuple[tuple[str, int], ...]
    groups: tuple[Group, ...]
    settings: tuple[tuple[int, ...], ...]
    formula: str
    second: Bits | None = None

    @property
    def roots(self) -> tuple[Bits, ...]:
        """Its results."""
        return (self.root,) if self.second is None else (self.root, self.second)

    @cached_property
    def occurrences(self) -> list[Occurrence]:
        """Where it could stand, no two in each other's way."""
        return disjoint(o for group in self.groups for o in group.occurrences)

    @cached_property
    def bound(self) -> float:
        """Instructions it might save for one execution of each workload; an estimate."""
        return sum(o.saving for o in self.occurrences)

    def specialised(self, setting: tuple[int, ...]) -> Bits:
        """What it computes with its immediates fixed."""
        return substitute(
            self.root,
            {
                arg(name, width): const(value, width)
                for (name, width), value in zip(self.immediates, setting, strict=True)
            },
        )


Family = tuple[Idea, tuple[Group, ...]]
"""An instruction, and the meanings that need not be listed beside it."""

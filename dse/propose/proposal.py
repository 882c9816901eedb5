"""Proposal: an idea that became an instruction, with all that is known about it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dse.propose.formula import formula
from dse.propose.idea import Idea
from dse.propose.meaning import on_first_registers
from dse.propose.nearest import Nearest
from dse.propose.proof import Proof
from dse.propose.slot import Slot, allocate
from hw.area import Cost
from isa.bits import Bits, arguments, substitute, topological
from isa.encoding import Encoding
from isa.instruction import REGISTER_SOURCES, Extension, Instruction
from isa.proposal import write_proposal
from isa.table import Table
from isa.text import to_text

LONGEST_WORD = 10
"""Letters of a table's or operator's name in a mnemonic."""
_STEM_OPERATORS = ("add", "sub", "mul", "rotr", "rotr_var", "shl", "shr", "and", "or", "xor", "not")


@dataclass(frozen=True)
class Saving:
    """What a proposal does for one workload, alone.

    Attributes:
        workload: The workload.
        kernel: Kernel it is best used in.
        cycles: Cycles per run with it.
        saved: Cycles saved per run against the base set.
        code_bytes: Change of program memory; `data_bytes` of constant tables.
    """

    workload: str
    kernel: str
    cycles: int
    saved: int
    code_bytes: int
    data_bytes: int


@dataclass(frozen=True, eq=False)
class Proposal:
    """A proposed instruction, or a pair of them for the two results of one idea.

    Attributes:
        idea: What it does.
        instructions: One for each result, as records with an encoding in custom space.
        slots: Those encodings.
        nearest: The known instruction it equals or holds.
        proof: How it is known to equal what it replaces.
        cost: Area and delay as an extension of its own, decode and result mux included.
        latency: Cycles in EX.
        saved: Weighted cycles saved alone.
        savings: By workload.
        is_chosen: Part of the chosen set.
        cycles_after: Weighted cycles with it and all chosen before it.
        lost_without: Weighted cycles lost if it alone is left out of the chosen set.
        views: Other views of kernels (`isa.view`) whose measured programs use it.
    """

    idea: Idea
    instructions: tuple[Instruction, ...]
    slots: tuple[Slot, ...]
    nearest: Nearest
    proof: Proof
    cost: Cost
    latency: int
    saved: float
    savings: tuple[Saving, ...] = ()
    is_chosen: bool = False
    cycles_after: float | None = None
    lost_without: float | None = None
    views: tuple[str, ...] = ()
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Mnemonics."""
        return ", ".join(instruction.name for instruction in self.instructions)

    @property
    def instruction(self) -> Instruction:
        """The first."""
        return self.instructions[0]

    @property
    def slot(self) -> Slot:
        """Of the first."""
        return self.slots[0]

    @property
    def occurrences(self) -> int:
        """Places in the kernels where it could stand, none in another's way."""
        return len(self.idea.occurrences)

    def figures(self) -> dict[str, Any]:
        """What was measured, for files and reports."""
        return {
            "cycles_saved": self.saved,
            "workloads": {
                s.workload: {
                    "kernel": s.kernel,
                    "cycles": s.cycles,
                    "cycles_saved": s.saved,
                    "code_bytes": s.code_bytes,
                    "data_bytes": s.data_bytes,
                }
                for s in self.savings
            },
            "cycles_after": self.cycles_after,
            "lost_without": self.lost_without,
            "area_ge": round(self.cost.area_ge, 1),
            "delay_fo4": round(self.cost.delay_fo4, 2),
            "rung": self.cost.rung,
            "area_error": self.cost.area_error,
            "delay_error": self.cost.delay_error,
            "latency_cycles": self.latency,
            "cycles_saved_per_ge": self.saved / self.cost.area_ge if self.cost.area_ge else None,
        }

    def to_json(self, xlen: int) -> list[dict[str, Any]]:
        """The content of the file of each instruction; `isa.proposal.load_proposal` reads it."""
        places: dict[str, int] = {}
        for o in self.idea.occurrences:
            places[o.graph.name] = places.get(o.graph.name, 0) + 1
        views = {"views": list(self.views)} if self.views else {}
        pair = {"pair": [i.name for i in self.instructions]} if len(self.instructions) > 1 else {}
        return [
            write_proposal(
                instruction,
                xlen,
                slot.fields,
                formula=text,
                **pair,
                **views,
                nearest={
                    "relation": self.nearest.relation or "new",
                    "name": self.nearest.name,
                    "extension": self.nearest.extension,
                    "is_proven": self.nearest.is_proven,
                },
                proof={"method": self.proof.method, "spellings": self.proof.checked},
                occurrences=dict(sorted(places.items())),
                is_chosen=self.is_chosen,
                measured=self.figures(),
            )
            for instruction, slot, text in zip(
                self.instructions, self.slots, self.formulas, strict=True
            )
        ]

    @property
    def formulas(self) -> list[str]:
        """What each instruction does, over its own operands."""
        if len(self.instructions) == 1:
            return [self.idea.formula]
        return [formula(on_first_registers(root)) for root in self.idea.roots]


def make_instructions(
    idea: Idea, nearest: Nearest, taken: Sequence[Encoding], names: Iterable[str], source: str
) -> tuple[tuple[Instruction, ...], tuple[Slot, ...]]:
    """Give an idea names and encodings that overlap none of `taken`, for each result one.

    Raises:
        NoRoom: Its operands do not fit an instruction word.
    """
    name = _name(idea, nearest, frozenset(names))
    if idea.second is None:
        instruction, slot = _make(name, idea.root, idea.operands, idea.immediates, taken, source)
        return (instruction,), (slot,)
    made: list[tuple[Instruction, Slot]] = []
    for suffix, root in zip("ab", idea.roots, strict=True):
        half = on_first_registers(root)
        used = [*taken, *(slot.encoding for _, slot in made)]
        made.append(_make(f"{name}_{suffix}", half, len(arguments([half])), (), used, source))
    return tuple(i for i, _ in made), tuple(s for _, s in made)


def _make(
    name: str,
    root: Bits,
    operands: int,
    immediates: tuple[tuple[str, int], ...],
    taken: Sequence[Encoding],
    source: str,
) -> tuple[Instruction, Slot]:
    slot = allocate(name, operands, immediates, taken)
    extension = Extension(name, source=source, xlens=(root.width,))
    order = (*REGISTER_SOURCES, *(immediate for immediate, _ in immediates))
    holes = sorted(arguments([root]), key=lambda a: order.index(str(a.attr)))

    def meaning(*operands: Bits) -> Bits:
        return substitute(root, dict(zip(holes, operands, strict=True)))

    parameters = tuple(str(a.attr) for a in holes)
    extension.declare(slot.line, meaning, parameters, fields=slot.fields)
    return extension.instructions[0], slot


def _name(idea: Idea, nearest: Nearest, taken: frozenset[str]) -> str:
    """`x` and the known instruction it equals, or what it is made of and a digest."""
    if nearest.relation == "equals" and nearest.name.isidentifier():
        name = f"x{nearest.name}"
        if name not in taken:
            return name
    order = topological(idea.roots)
    boxes = [n.attr.name for n in order if isinstance(n.attr, Table)]
    operators = [n.op.removesuffix("_var") for n in order if n.op in _STEM_OPERATORS]
    words = list(dict.fromkeys([*boxes, *reversed(operators)]))[:2]
    stem = "op" if not words else "".join(word.replace("_", "")[:LONGEST_WORD] for word in words)
    digest = hashlib.blake2b(to_text(list(idea.roots)).encode(), digest_size=8).hexdigest()
    for length in range(3, len(digest)):
        name = f"x{stem}_{digest[:length]}"
        if name not in taken:
            return name
    raise AssertionError("digests of different meanings must differ")

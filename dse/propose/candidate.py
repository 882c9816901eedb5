"""Candidate: an idea that can be measured; a `Pool` measures sets of them within limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dse.propose.idea import Idea
from dse.propose.proof import Proof
from dse.propose.score import Score, Scorer
from dse.propose.slot import Slot
from hw.area import Cost
from isa.instruction import Instruction


@dataclass(frozen=True, eq=False)
class Candidate:
    """An idea that can be measured.

    Attributes:
        idea: The idea.
        instructions: It as an instruction for each result, with `slots` as encodings.
        kernels: Kernels of each workload worth compiling with it.
        proof: That it equals what it replaces.
        cost: Area and delay alone, estimated.
        alone: What it does alone, once measured.
    """

    idea: Idea
    instructions: tuple[Instruction, ...]
    slots: tuple[Slot, ...]
    kernels: Mapping[str, tuple[str, ...]]
    proof: Proof
    cost: Cost
    alone: Score | None = None

    @property
    def cycles(self) -> float:
        """Weighted cycles with it alone."""
        assert self.alone is not None
        return self.alone.cycles


@dataclass(frozen=True, eq=False)
class Pool:
    """Candidates to choose a set from; sets are sequences of positions among them.

    Attributes:
        candidates: All of them.
        scorer: Measures.
        base: What is reached without any.
        count: Most members of a set.
        area_ge: Most area of a set as one extension block, mapped; None is no limit.
        encode: Gives the members of a set encodings together.
    """

    candidates: Sequence[Candidate]
    scorer: Scorer
    base: Score
    count: int
    area_ge: float | None = None
    encode: Callable[[Sequence[Candidate]], Sequence[Candidate]] = lambda members: members
    _areas: dict[tuple[str, frozenset[int]], float] = field(default_factory=dict)

    def score(self, chosen: Iterable[int]) -> Score:
        """The best of all kernels that any of the chosen is used in."""
        chosen = sorted(chosen)
        kernels: dict[str, tuple[str, ...]] = {}
        for i in chosen:
            for workload, names in self.candidates[i].kernels.items():
                kernels[workload] = tuple(dict.fromkeys((*kernels.get(workload, ()), *names)))
        return self.scorer.score(self.instructions(chosen), kernels, self.base)

    def used(self, chosen: Iterable[int]) -> tuple[int, ...]:
        """Those that the best programs with them execute."""
        executed = self.score(chosen).used
        return tuple(
            i
            for i in sorted(chosen)
            if not executed.isdisjoint(one.name for one in self.candidates[i].instructions)
        )

    def instructions(self, chosen: Iterable[int]) -> list[Instruction]:
        """Those of a set."""
        return [one for i in chosen for one in self.candidates[i].instructions]

    def area(self, chosen: Iterable[int], rung: str = "mapped") -> float:
        """GE of a set as one extension block, 0 for an empty set."""
        key = (rung, frozenset(chosen))
        if key not in self._areas:
            members = self.encode([self.candidates[i] for i in sorted(key[1])])
            added = [one for member in members for one in member.instructions]
            self._areas[key] = self.scorer.cost(added, rung).area_ge if added else 0.0
        return self._areas[key]

    def has_room(self, chosen: Sequence[int]) -> bool:
        """Whether a set is within the limits."""
        if len(chosen) > self.count:
            return False
        return self.area_ge is None or self.area(chosen) <= self.area_ge

    def rank(self, chosen: Sequence[int]) -> tuple[float, int, float]:
        """What makes a set better: cycles, then operands read, then area."""
        operands = sum(self.candidates[i].idea.operands for i in chosen)
        return self.score(chosen).cycles, operands, self.area(chosen)

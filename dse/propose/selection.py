"""Selection: a set of instructions that together save most, each choice measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dse.propose.idea import Idea
from dse.propose.proof import Proof
from dse.propose.score import Score, Scorer
from dse.propose.slot import Slot
from hw.area import Cost
from isa.instruction import Instruction

IMPROVEMENT_PROGRAMS = 40
"""Programs after which a choice is not improved further."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """An idea that can be measured.

    Attributes:
        idea: The idea.
        instruction: It as an instruction, with `slot` as encoding.
        kernels: Kernels of each workload worth compiling with it.
        proof: That it equals what it replaces.
        cost: Area and delay alone, estimated.
        alone: What it does alone, once measured.
    """

    idea: Idea
    instruction: Instruction
    slot: Slot
    kernels: Mapping[str, tuple[str, ...]]
    proof: Proof
    cost: Cost
    alone: Score | None = None

    @property
    def cycles(self) -> float:
        """Weighted cycles with it alone."""
        assert self.alone is not None
        return self.alone.cycles


@dataclass(frozen=True)
class Selection:
    """A chosen set.

    Attributes:
        order: Positions of the chosen candidates, in the order they were chosen.
        after: Weighted cycles after each choice.
        lost_without: Weighted cycles lost when each alone is left out of the set.
        score: The whole set.
        area_ge: Its area as one extension block, mapped; 0 for an empty set.
    """

    order: tuple[int, ...]
    after: tuple[float, ...]
    lost_without: tuple[float, ...]
    score: Score
    area_ge: float


def select(
    candidates: Sequence[Candidate],
    scorer: Scorer,
    base: Score,
    count: int,
    area_ge: float | None = None,
    starts: Sequence[Sequence[int]] = (),
) -> Selection:
    """Choose greedily: each time the candidate with which the set so far takes fewest cycles.

    Every step compiles and runs with the whole set, so that candidates in each other's way are
    seen for what they add. A candidate is not tried again while what it added to a smaller set is
    less than what another adds now, nor once it added nothing. Ties go to fewer operands, then to
    the smaller area. A choice that later ones made useless is dropped. Under a limit of area the
    same is done by cycles saved for each GE added. Sets in `starts` (the known instructions of one
    extension) are grown too, so that a choice is not worse than they are. Then each choice in turn
    is banned and the rest grown again, as long as that gives a better set and for so many programs.
    Not proven best.
    """

    def rank(selection: Selection) -> tuple[float, int, float]:
        operands = sum(candidates[i].idea.operands for i in selection.order)
        return selection.score.cycles, operands, selection.area_ge

    def fits(start: Sequence[int]) -> bool:
        added = [candidates[i].instruction for i in start]
        return area_ge is None or scorer.cost(added, "mapped").area_ge <= area_ge

    def grow(start: Sequence[int], banned: frozenset[int]) -> Selection:
        found = [
            _Greedy(candidates, scorer, base, count, area_ge, start, banned, by_area=mode).run()
            for mode in ((False,) if area_ge is None else (False, True))
        ]
        return min(found, key=rank)

    best = grow((), frozenset())
    for start in starts:
        if len(start) <= count and fits(start):
            best = min(best, grow(start, frozenset()), key=rank)
    last = scorer.runs + IMPROVEMENT_PROGRAMS
    improved = True
    while improved:
        improved = False
        for i in best.order:
            rest = tuple(j for j in best.order if j != i)
            for start in {rest: None, (): None}:
                if scorer.runs >= last:
                    return best
                found = grow(start, frozenset([i]))
                if rank(found) < rank(best):
                    best, improved = found, True
            if improved:
                break
    return best


class _Greedy:
    """One greedy choice, growing `order`."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        scorer: Scorer,
        base: Score,
        count: int,
        area_ge: float | None,
        start: Sequence[int],
        banned: frozenset[int],
        *,
        by_area: bool,
    ) -> None:
        self.candidates = candidates
        self.scorer = scorer
        self.base = base
        self.count = count
        self.area_ge = area_ge
        self.by_area = by_area
        self.order = list(start)
        self.score = self._together(self.order)
        self.gains = {
            i: base.cycles - c.cycles
            for i, c in enumerate(candidates)
            if i not in banned and i not in start
        }

    def run(self) -> Selection:
        """Grow and drop until neither changes anything."""
        lost: list[float] = []
        while True:
            added = self._grow()
            lost = self._lost()
            while lost and min(lost) <= 0:
                del self.order[lost.index(min(lost))]
                self.score = self._together(self.order)
                lost = self._lost()
            if not added or len(self.order) == self.count:
                break
        steps = range(1, len(self.order) + 1)
        after = [self._together(self.order[:length]).cycles for length in steps]
        area = self._area(self.order, "mapped")
        return Selection(tuple(self.order), tuple(after), tuple(lost), self.score, area)

    def _grow(self) -> bool:
        """Add the best until nothing gains; a candidate is added once at most."""
        added = False
        while len(self.order) < self.count:
            best: tuple[float, float, int, float, int] | None = None
            best_score = self.score
            before = self._area(self.order, "estimate")
            for i in sorted(self.gains, key=lambda i: (-self.gains[i], i)):
                if self.gains[i] <= 0 or (
                    best is not None
                    and not self.by_area
                    and self.gains[i] < self.score.cycles - best[1]
                ):
                    break
                found = self._together([*self.order, i])
                gain = self.gains[i] = self.score.cycles - found.cycles
                if gain <= 0 or self._is_too_large(i):
                    continue
                area = self._area([*self.order, i], "estimate")
                worth = -gain / max(area - before, 1.0) if self.by_area else 0.0
                rank = (worth, found.cycles, self.candidates[i].idea.operands, area, i)
                if best is None or rank < best:
                    best, best_score = rank, found
            if best is None:
                break
            self.order.append(best[-1])
            del self.gains[best[-1]]
            self.score, added = best_score, True
        return added

    def _is_too_large(self, candidate: int) -> bool:
        if self.area_ge is None:
            return False
        return self._area([*self.order, candidate], "mapped") > self.area_ge

    def _area(self, chosen: Sequence[int], rung: str) -> float:
        if not chosen:
            return 0.0
        return self.scorer.cost([self.candidates[i].instruction for i in chosen], rung).area_ge

    def _lost(self) -> list[float]:
        """Cycles lost when each of the set alone is left out."""
        found = []
        for i in self.order:
            rest = [j for j in self.order if j != i]
            found.append(self._together(rest).cycles - self.score.cycles)
        return found

    def _together(self, chosen: Sequence[int]) -> Score:
        """The best of all kernels that any of the chosen is used in."""
        kernels: dict[str, tuple[str, ...]] = {}
        for i in chosen:
            for workload, names in self.candidates[i].kernels.items():
                kernels[workload] = tuple(dict.fromkeys((*kernels.get(workload, ()), *names)))
        added = [self.candidates[i].instruction for i in chosen]
        return self.scorer.score(added, kernels, self.base)

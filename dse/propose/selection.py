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
) -> Selection:
    """Choose greedily: each time the candidate with which the set so far takes fewest cycles.

    Every step compiles and runs with the whole set, so that candidates in each other's way are
    seen for what they add. A candidate is not tried again while what it added to a smaller set is
    less than what another adds now, nor once it added nothing. Ties go to fewer operands, then to
    the smaller area. A choice that later ones made useless is dropped. Greedy: not proven best.
    """
    order: list[int] = []
    score = base
    gains = {i: base.cycles - c.cycles for i, c in enumerate(candidates)}
    lost: list[float] = []
    while True:
        added = _grow(order, gains, candidates, scorer, base, score, count, area_ge)
        score = _together([candidates[i] for i in order], scorer, base)
        lost = _lost(order, candidates, scorer, base, score)
        while lost and min(lost) <= 0:
            del order[lost.index(min(lost))]
            score = _together([candidates[i] for i in order], scorer, base)
            lost = _lost(order, candidates, scorer, base, score)
        if not added or len(order) == count:
            break
    after = []
    for length in range(1, len(order) + 1):
        after.append(_together([candidates[i] for i in order[:length]], scorer, base).cycles)
    area = (
        scorer.cost([candidates[i].instruction for i in order], "mapped").area_ge if order else 0.0
    )
    return Selection(tuple(order), tuple(after), tuple(lost), score, area)


def _grow(
    order: list[int],
    gains: dict[int, float],
    candidates: Sequence[Candidate],
    scorer: Scorer,
    base: Score,
    score: Score,
    count: int,
    area_ge: float | None,
) -> bool:
    """Add to `order`, best first, until nothing gains; a candidate is added once at most."""
    added = False
    while len(order) < count:
        best: tuple[float, int, float, int] | None = None
        best_score = score
        for i in sorted(gains, key=lambda i: (-gains[i], i)):
            if gains[i] <= 0 or (best is not None and gains[i] < score.cycles - best[0]):
                break
            chosen = [candidates[j] for j in (*order, i)]
            found = _together(chosen, scorer, base)
            gains[i] = score.cycles - found.cycles
            if gains[i] <= 0 or (best is not None and found.cycles > best[0]):
                continue
            area = scorer.cost([c.instruction for c in chosen]).area_ge
            if area_ge is not None and area > area_ge:
                continue
            rank = (found.cycles, candidates[i].idea.operands, area, i)
            if best is None or rank < best:
                best, best_score = rank, found
        if best is None:
            break
        order.append(best[-1])
        del gains[best[-1]]
        score, added = best_score, True
    return added


def _lost(
    order: Sequence[int],
    candidates: Sequence[Candidate],
    scorer: Scorer,
    base: Score,
    score: Score,
) -> list[float]:
    """Cycles lost when each of a set alone is left out."""
    found = []
    for i in order:
        rest = [candidates[j] for j in order if j != i]
        found.append(_together(rest, scorer, base).cycles - score.cycles)
    return found


def _together(chosen: Sequence[Candidate], scorer: Scorer, base: Score) -> Score:
    """The best of all kernels that any of the chosen is used in."""
    kernels: dict[str, tuple[str, ...]] = {}
    for candidate in chosen:
        for workload, names in candidate.kernels.items():
            kernels[workload] = tuple(dict.fromkeys((*kernels.get(workload, ()), *names)))
    return scorer.score([c.instruction for c in chosen], kernels, base)

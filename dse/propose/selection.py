"""Selection: a set of instructions that together save most, each choice measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dse.propose.branching import Bound, branch_and_bound
from dse.propose.candidate import Pool
from dse.propose.greedy import grow, lost_without
from dse.propose.score import Score

IMPROVEMENT_PROGRAMS = 20
"""Programs after which a greedy choice is not improved further."""
BRANCHING_PROGRAMS = 60
"""Programs after which it is not known whether a choice is the best."""


@dataclass(frozen=True)
class Selection:
    """A chosen set.

    Attributes:
        order: Positions of the chosen candidates, the one that would be missed most first.
        after: Weighted cycles with the first, the first two, and so on.
        lost_without: Weighted cycles lost when each alone is left out of the set.
        score: The whole set.
        area_ge: Its area as one extension block, mapped; 0 for an empty set.
        bound: How far it can be from the best.
    """

    order: tuple[int, ...]
    after: tuple[float, ...]
    lost_without: tuple[float, ...]
    score: Score
    area_ge: float
    bound: Bound

    @property
    def gap(self) -> float:
        """Share of the cycles that a better set of these candidates might save; 0 if optimal."""
        return self.bound.gap(self.score.cycles)


def select(pool: Pool, starts: Sequence[Sequence[int]] = ()) -> Selection:
    """Choose a set: greedily, then improved, then by branch and bound until it is proven best.

    Every step compiles and runs with the whole set, so that candidates in each other's way are
    seen for what they add. Sets in `starts` (the known instructions of one extension) are grown
    too, so that a choice is not worse than they are.
    """
    best = grow(pool)
    for start in starts:
        if pool.has_room(start):
            best = min(best, grow(pool, start), key=pool.rank)
    best = _improved(pool, best)
    best, bound = branch_and_bound(pool, best, BRANCHING_PROGRAMS)
    lost = dict(zip(best, lost_without(pool, best), strict=True))
    order = sorted(best, key=lambda i: (-lost[i], i))
    after = [pool.score(order[: n + 1]).cycles for n in range(len(order))]
    return Selection(
        tuple(order),
        tuple(after),
        tuple(lost[i] for i in order),
        pool.score(order),
        pool.area(order),
        bound,
    )


def _improved(pool: Pool, best: tuple[int, ...]) -> tuple[int, ...]:
    """Ban each choice in turn and grow the rest again, as long as that gives a better set."""
    last = pool.scorer.runs + IMPROVEMENT_PROGRAMS
    improved = True
    while improved:
        improved = False
        for i in best:
            rest = tuple(j for j in best if j != i)
            for start in {rest: None, (): None}:
                if pool.scorer.runs >= last:
                    return best
                found = grow(pool, start, frozenset([i]))
                if pool.rank(found) < pool.rank(best):
                    best, improved = found, True
            if improved:
                break
    return best

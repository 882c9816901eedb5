"""Branching: the best set of instructions by branch and bound, every set measured.

From the whole pool downwards: one program tells what the compiler reaches when it may use all of
the `allowed` candidates, and which it uses. That program stands for every set between those two.
All other sets leave out some used one: the first branch leaves out the first, the next keeps that
and leaves out the second, and so on.

A branch is bounded by the cycles of the set above it, for a smaller set can hardly take fewer. But
a compiler that is offered more sometimes chooses worse, so every bound is lowered by `SUSPICION`,
or by the largest such excess that was seen if that is more.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from dse.propose.candidate import Pool

SUSPICION = 0.05
"""Share of cycles that a set is supposed to take at most above the best set inside it."""


@dataclass(frozen=True)
class Bound:
    """How far a choice can be from the best.

    Attributes:
        cycles: No set within the limits takes fewer, if the compiler exceeds by `excess` at most.
        excess: `SUSPICION`, or what was seen if that is more.
        sets: Sets measured to know that.
    """

    cycles: float
    excess: float
    sets: int

    def gap(self, cycles: float) -> float:
        """Share of `cycles` that a better set might save; 0 means that they are optimal."""
        return max(0.0, 1 - self.cycles / cycles) if cycles else 0.0


def branch_and_bound(
    pool: Pool, incumbent: tuple[int, ...], programs: int
) -> tuple[tuple[int, ...], Bound]:
    """Improve a set until it is known to be the best, or so many programs were compiled.

    Args:
        pool: The candidates and the limits.
        incumbent: The best set known.
        programs: Most programs to compile and run.

    Returns:
        The best set, and the bound.
    """
    return _Branching(pool, incumbent).run(pool.scorer.runs + programs)


class _Branching:
    """Open branches: (bound, number, kept members, allowed members), least bound first."""

    def __init__(self, pool: Pool, incumbent: tuple[int, ...]) -> None:
        self.pool = pool
        self.best = incumbent
        self.best_cycles = pool.score(incumbent).cycles
        self.excess = SUSPICION
        self.sets = 0
        everything = frozenset(range(len(pool.candidates)))
        self.open: list[tuple[float, int, frozenset[int], frozenset[int]]] = [
            (0.0, 0, frozenset(), everything)
        ]

    def run(self, last: int) -> tuple[tuple[int, ...], Bound]:
        """Visit branches until none can be better than the best, or after `last` programs."""
        pushed = 1
        while self.open and self.least < self.best_cycles and self.pool.scorer.runs < last:
            bound, _, kept, allowed = heapq.heappop(self.open)
            cycles, used = self._measure(bound, allowed)
            for smaller, narrowed in self._branches(used, kept, allowed):
                heapq.heappush(self.open, (cycles, pushed, smaller, narrowed))
                pushed += 1
        least = self.least if self.open else self.best_cycles
        return self.best, Bound(min(self.best_cycles, least), self.excess, self.sets)

    @property
    def least(self) -> float:
        """Cycles that no open branch goes below."""
        return self.open[0][0] / (1 + self.excess)

    def _measure(self, bound: float, allowed: frozenset[int]) -> tuple[float, tuple[int, ...]]:
        """Cycles and used members of a set; these become the best if they are."""
        pool = self.pool
        cycles, used = pool.score(allowed).cycles, pool.used(allowed)
        self.sets += 1
        if cycles <= self.best_cycles and pool.has_room(used):
            self.best = min(self.best, used, key=pool.rank)
            self.best_cycles = pool.score(self.best).cycles
            cycles = min(cycles, pool.score(used).cycles)
        if allowed.issuperset(self.best):
            self.excess = max(self.excess, cycles / self.best_cycles - 1)
        self.excess = max(self.excess, bound / cycles - 1)
        return cycles, used

    def _branches(
        self, used: tuple[int, ...], kept: frozenset[int], allowed: frozenset[int]
    ) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
        """Each leaves out one used member, what saves most alone first, and keeps those before."""
        pool = self.pool
        for i in sorted(set(used) - kept, key=lambda i: (pool.candidates[i].cycles, i)):
            if not pool.has_room(sorted(kept)):
                return
            if len(kept) == pool.count:
                if kept != allowed:
                    yield kept, kept
                return
            yield kept, allowed - {i}
            kept |= {i}

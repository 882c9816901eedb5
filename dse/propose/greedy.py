"""Greedy: a set of instructions grown one by one, each choice measured with the set so far."""

from __future__ import annotations

from collections.abc import Iterable

from dse.propose.candidate import Pool


def grow(
    pool: Pool, start: Iterable[int] = (), banned: frozenset[int] = frozenset()
) -> tuple[int, ...]:
    """Grow `start` without those that are banned; the better of two ways where area is limited.

    Each step adds the candidate with which the set so far takes fewest cycles; ties go to fewer
    operands, then to the smaller area. Under a limit of area the same is done by cycles saved for
    each GE added. A choice that later ones made useless is dropped.
    """
    ways = (False,) if pool.area_ge is None else (False, True)
    sets = [_Growth(pool, start, banned, by_area=by_area).run() for by_area in ways]
    return min(sets, key=pool.rank)


class _Growth:
    """One set while it grows.

    A candidate is not tried again while what it added to a smaller set is less than what another
    adds now, nor once it added nothing.
    """

    def __init__(
        self, pool: Pool, start: Iterable[int], banned: frozenset[int], *, by_area: bool
    ) -> None:
        self.pool = pool
        self.by_area = by_area
        self.order = list(start)
        self.gains = {
            i: pool.base.cycles - c.cycles
            for i, c in enumerate(pool.candidates)
            if i not in banned and i not in self.order
        }

    def run(self) -> tuple[int, ...]:
        """Grow and drop until neither changes anything."""
        while True:
            added = self._grow()
            self._drop()
            if not added or len(self.order) == self.pool.count:
                return tuple(self.order)

    def _grow(self) -> bool:
        """Add the best until nothing gains; a candidate is added once at most."""
        added = False
        while len(self.order) < self.pool.count:
            best = self._best()
            if best is None:
                break
            self.order.append(best)
            del self.gains[best]
            added = True
        return added

    def _best(self) -> int | None:
        """The candidate to add next; None if none gains anything or has room."""
        pool = self.pool
        best: tuple[float, float, int, float, int] | None = None
        now = pool.score(self.order).cycles
        before = pool.area(self.order, "estimate")
        for i in sorted(self.gains, key=lambda i: (-self.gains[i], i)):
            is_behind = best is not None and not self.by_area and self.gains[i] < now - best[1]
            if self.gains[i] <= 0 or is_behind:
                break
            grown = [*self.order, i]
            area = pool.area(grown, "estimate") if self.by_area else 0.0
            added = max(area - before, 1.0)
            if self.by_area and best is not None and self.gains[i] / added < -best[0]:
                continue
            cycles = pool.score(grown).cycles
            gain = self.gains[i] = now - cycles
            if gain <= 0 or not pool.has_room(grown):
                continue
            area = pool.area(grown, "estimate")
            worth = -gain / added if self.by_area else 0.0
            rank = (worth, cycles, pool.candidates[i].idea.operands, area, i)
            if best is None or rank < best:
                best = rank
        return best[-1] if best is not None else None

    def _drop(self) -> None:
        """Leave out what adds nothing, the least useful first."""
        while self.order:
            lost = lost_without(self.pool, self.order)
            if min(lost) > 0:
                return
            del self.order[lost.index(min(lost))]


def lost_without(pool: Pool, chosen: Iterable[int]) -> list[float]:
    """Cycles lost when each of a set alone is left out."""
    chosen = list(chosen)
    whole = pool.score(chosen).cycles
    return [pool.score(j for j in chosen if j != i).cycles - whole for i in chosen]

"""Pareto local search on an estimator, and the choice of a batch by hypervolume."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dse.learn.encoding import Rows, first_positions
from dse.learn.estimator import Candidates, Estimator
from dse.learn.structure import Floats
from dse.pareto import NADIR_MARGIN

WHOLE = 8_192
"""Spaces of at most so many combinations are predicted whole."""
_ROUNDS = 6
_EXPANDED = 64  # designs whose neighbours are looked at in a round
_CROSSINGS = 64
_SHORTLIST = 48
_HOPE = 0.5  # standard deviations


class LocalSearch:
    """Proposes the designs that an estimator expects to extend the front most."""

    def __init__(self, estimator: Estimator, is_known: Callable[[Rows], bool]) -> None:
        self.estimator = estimator
        self.is_known = is_known
        self._archive = estimator.reduce(estimator.front)
        self._whole = self._every()

    def propose(self, count: int, seed: int) -> list[Rows]:
        """Up to `count` rows that are not known; the estimator must be fitted."""
        estimator = self.estimator
        if self._whole is not None:
            found, expected = self._whole, estimator.predict(self._whole)
        else:
            found, expected = self._climb(np.random.default_rng(seed))
        near = self._fresh(found.rows, _ranked(expected, estimator.front_losses))
        found, expected = found.take(near), expected[near]
        hopeful = estimator.predict(found, _HOPE)
        picked = _by_hypervolume(expected, hopeful, estimator.front_losses, count)
        return [found.rows[index] for index in picked]

    def _fresh(self, rows: Rows, ranked: NDArray[np.intp]) -> NDArray[np.intp]:
        """The first that are not known, nor known to come down to what is."""
        found: list[int] = []
        for position in ranked:
            if len(found) == _SHORTLIST:
                break
            if not self.is_known(rows[position]):
                found.append(int(position))
        return np.array(found, dtype=np.intp)

    def _every(self) -> Candidates | None:
        encoding = self.estimator.encoding
        if encoding.space.raw_size > WHOLE:
            return None
        return self.estimator.reduce(encoding.every())

    def _climb(self, generator: np.random.Generator) -> tuple[Candidates, Floats]:
        """What local search sees, and what is expected of it.

        It goes from the front and its last archive towards better ones.
        """
        import moocore

        front = self.estimator.reduce(self.estimator.front)
        best = seen = front.join(self._archive).distinct()
        expected = losses = self.estimator.predict(best)
        expanded: set[bytes] = set()
        for _ in range(_ROUNDS):
            kept = moocore.is_nondominated(losses)
            best, losses = best.take(kept), losses[kept]
            fresh = [i for i, row in enumerate(best.rows) if row.tobytes() not in expanded]
            if not fresh:
                break
            chosen = generator.permutation(fresh)[:_EXPANDED]
            expanded |= {best.rows[i].tobytes() for i in chosen}
            around = self._around(best.rows[chosen], best.rows, generator)
            predicted = self.estimator.predict(around)
            seen, expected = seen.join(around), np.concatenate([expected, predicted])
            best, losses = best.join(around), np.concatenate([losses, predicted])
        self._archive = best.take(moocore.is_nondominated(losses))
        once = first_positions(seen.rows)
        return seen.take(once), expected[once]

    def _around(self, rows: Rows, mates: Rows, generator: np.random.Generator) -> Candidates:
        """Rows with one parameter changed, and crossings with one more change."""
        sizes = self.estimator.encoding.sizes
        found = []
        for column, size in enumerate(sizes):
            for step in range(1, int(size)):
                changed = rows.copy()
                changed[:, column] = (changed[:, column] + step) % size
                found.append(changed)
        one = rows[generator.integers(len(rows), size=_CROSSINGS)]
        two = mates[generator.integers(len(mates), size=_CROSSINGS)]
        mixed = np.where(generator.random(one.shape) < 0.5, one, two)
        columns = generator.integers(len(sizes), size=_CROSSINGS)
        mixed[np.arange(_CROSSINGS), columns] = generator.integers(0, sizes[columns])
        found.append(mixed)
        return self.estimator.reduce(np.concatenate(found))


def _ranked(losses: Floats, front: Floats) -> NDArray[np.intp]:
    """Positions by how little the front dominates them."""
    if not len(front):
        return np.arange(len(losses))
    low = front.min(axis=0)
    span = np.maximum(front.max(axis=0) - low, 1e-12)
    columns = np.ascontiguousarray(((losses - low) / span).T)
    margin = np.full(len(losses), -np.inf)
    for point in (front - low) / span:
        excess = columns[0] - point[0]
        for column, value in zip(columns[1:], point[1:], strict=True):
            np.minimum(excess, column - value, out=excess)
        np.maximum(margin, excess, out=margin)
    return np.argsort(margin, kind="stable")


def _by_hypervolume(expected: Floats, hopeful: Floats, front: Floats, count: int) -> list[int]:
    """Positions that enlarge the front's hypervolume most, one after another.

    Every second one is judged by what it may reach, the others by what is expected of them; each
    counts as expected once it is picked.
    """
    usable = np.nonzero(np.isfinite(expected).all(axis=1))[0]
    if not len(usable):
        return list(range(min(count, len(expected))))
    front = front if len(front) else expected[usable]
    box = _Box(np.vstack([front, expected[usable]]))
    points = box.inside(front)
    views = [box.scaled(np.where(np.isfinite(v), v, 1e300)) for v in (expected, hopeful)]
    picked: list[int] = []
    bounds = [{int(i): np.inf for i in usable} for _ in views]
    while len(picked) < min(count, len(usable)):
        turn = len(picked) % 2
        best = _lazily(views[turn], points, bounds[turn], box)
        for bound in bounds:
            bound.pop(best)
        picked.append(best)
        points = np.vstack([points, box.clipped(views[0][best : best + 1])])
    return picked


def _lazily(view: Floats, points: Floats, bounds: dict[int, float], box: _Box) -> int:
    """The row of most gain; gains only shrink, so that few need to be computed anew."""
    whole = box.volume(points)
    order = sorted(bounds, key=lambda i: (-bounds[i], i))
    best, gain = order[0], -np.inf
    for index in order:
        if bounds[index] <= gain:
            break
        row = box.clipped(view[index : index + 1])
        bounds[index] = box.volume(np.vstack([points, row])) - whole if len(row) else 0.0
        if bounds[index] > gain:
            best, gain = index, bounds[index]
    return best


class _Box:
    """A unit cube from the ideal point of a front to its reference point."""

    def __init__(self, losses: Floats) -> None:
        import moocore

        front = losses[moocore.is_nondominated(losses)]
        nadir = front.max(axis=0)
        self.low = front.min(axis=0)
        beyond = (NADIR_MARGIN - 1) * np.maximum(nadir - self.low, np.abs(nadir))
        self.span = np.maximum(nadir + beyond - self.low, 1e-12)

    def scaled(self, losses: Floats) -> Floats:
        found: Floats = (losses - self.low) / self.span
        return found

    def clipped(self, points: Floats) -> Floats:
        """Those inside; what lies below the ideal point counts as on it."""
        found: Floats = np.maximum(points[(points < 1).all(axis=1)], -0.2)
        return found

    def inside(self, losses: Floats) -> Floats:
        return self.clipped(self.scaled(losses))

    def volume(self, points: Floats) -> float:
        import moocore

        return (
            float(moocore.hypervolume(points, ref=np.ones(len(self.low)))) if len(points) else 0.0
        )

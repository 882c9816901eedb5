"""Pareto fronts: dominance, hypervolume, knee and ties. Losses are minimised throughout."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Loss = tuple[float, ...]
NADIR_MARGIN = 1.1


def front_indices(losses: Sequence[Loss]) -> list[int]:
    """Indices of the non-dominated points, by loss; of equal points the first alone."""
    order = sorted(range(len(losses)), key=lambda i: (losses[i], i))
    front: list[int] = []
    for index in order:
        # sorted, so that only points already kept can dominate this one
        if not any(_covers(losses[kept], losses[index]) for kept in front):
            front.append(index)
    return front


def _covers(one: Loss, other: Loss) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))


class Archive:
    """The non-dominated points of a growing sequence."""

    def __init__(self) -> None:
        self.points: list[Loss] = []

    def add(self, loss: Loss) -> bool:
        """Take a point; False where a present one is as good in everything."""
        if any(_covers(point, loss) for point in self.points):
            return False
        self.points = [point for point in self.points if not _covers(loss, point)]
        self.points.append(loss)
        return True


@dataclass(frozen=True)
class Frame:
    """The box in which hypervolume is measured, scaled to a unit cube.

    `reference` is 1.1 x the nadir of the points the frame was made for (or a tenth of the span
    beyond it, where the nadir is not positive).
    """

    ideal: Loss
    reference: Loss

    @classmethod
    def around(cls, losses: Sequence[Loss]) -> Frame:
        """The frame of a union of fronts."""
        columns = list(zip(*losses, strict=True))
        ideal = tuple(min(column) for column in columns)
        nadir = tuple(max(column) for column in columns)
        margin = NADIR_MARGIN - 1
        reference = (
            NADIR_MARGIN * n if n > 0 else n + margin * ((n - i) or 1.0)
            for i, n in zip(ideal, nadir, strict=True)
        )
        return cls(ideal, tuple(reference))

    def hypervolume(self, losses: Sequence[Loss], *, is_open: bool = False) -> float:
        """Share of the frame's volume that the points dominate, from 0 to 1.

        In an open frame what lies beyond the ideal point counts too, and 1 is no limit.
        """
        import moocore
        import numpy as np

        low, high = np.array(self.ideal), np.array(self.reference)
        points = (np.array(losses, dtype=float).reshape(-1, len(low)) - low) / (high - low)
        inside = np.clip(points[(points < 1).all(axis=1)], None if is_open else 0.0, None)
        if not len(inside):
            return 0.0
        return float(moocore.hypervolume(inside, ref=np.ones(len(low))))


def knee_index(losses: Sequence[Loss]) -> int:
    """The point farthest from the chord through the front's extremes, towards the ideal.

    Each axis is scaled to 0..1, logarithmically where all its losses are positive; the distance
    to the chord then falls with the sum of the coordinates, in two dimensions and in three.
    """
    columns = [_scaled(column) for column in zip(*losses, strict=True)]
    sums = [math.fsum(point) for point in zip(*columns, strict=True)]
    return min(range(len(sums)), key=lambda i: (sums[i], losses[i]))


def _scaled(column: Sequence[float]) -> list[float]:
    values = [math.log(v) for v in column] if min(column) > 0 else list(column)
    low, high = min(values), max(values)
    return [(v - low) / (high - low) if high > low else 0.0 for v in values]


def ties(losses: Sequence[Loss], errors: Sequence[Sequence[float]]) -> list[tuple[int, ...]]:
    """For each point, the others that the stated relative errors cannot tell from it.

    Two points tie when in every objective their difference is at most the sum of both absolute
    errors; `errors[i][k]` is the relative error of point i in objective k, 0 where exact.
    """

    def tied(i: int, j: int) -> bool:
        return all(
            abs(a - b) <= abs(a) * e + abs(b) * f
            for a, b, e, f in zip(losses[i], losses[j], errors[i], errors[j], strict=True)
        )

    indices = range(len(losses))
    return [tuple(j for j in indices if j != i and tied(i, j)) for i in indices]

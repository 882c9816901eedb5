"""`Surrogate`: what evaluated designs tell about the others, as means and standard deviations.

A Gaussian process over rows of choices. Its kernel sums an effect of each parameter by itself, a
correlation that falls with the number of parameters two designs differ in, and a linear term in
the features that a `Structure` predicts. Without a structure that is an additive or, where
logarithms fit better, multiplicative model of what was seen. What only some parameters decide,
such as an area, is modelled from these alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.encoding import Encoding, Rows
from dse.structure import Floats

_DECAYS = (0.1, 0.3, 0.8)  # of the correlation, for each parameter that differs
_NUGGETS = (1e-5, 1e-2)  # noise, of the variance
_MAIN = 2.0  # variance of the parameters' own effects, over that of their interplay
_TREND = 25.0  # variance of the linear term


@dataclass(frozen=True)
class _Scale:
    """How targets are turned before they are modelled: logarithms (of which sign) or not."""

    sign: int
    mean: float
    deviation: float

    @classmethod
    def of(cls, values: Floats, sign: int) -> _Scale:
        raw = sign * np.log(sign * values) if sign else values
        return cls(sign, float(raw.mean()), float(raw.std()) or 1.0)

    def apply(self, values: Floats) -> Floats:
        raw = self.sign * np.log(self.sign * values) if self.sign else values
        scaled: Floats = (raw - self.mean) / self.deviation
        return scaled

    def undo(self, scaled: Floats) -> Floats:
        raw = self.mean + self.deviation * scaled
        if not self.sign:
            return raw
        turned: Floats = self.sign * np.exp(np.minimum(self.sign * raw, 300.0))
        return turned


@dataclass(frozen=True)
class _Fit:
    decay: float
    scale: _Scale
    weights: Floats
    factor: Floats


class Surrogate:
    """Fitted to rows, features and targets, one column of targets each on its own.

    `columns` are the parameters that decide the targets, all of them unless said otherwise.
    """

    def __init__(self, encoding: Encoding, columns: Sequence[int] | None = None) -> None:
        self._encoding = encoding
        self._columns = range(len(encoding.names)) if columns is None else columns
        self._heeded = np.zeros(encoding.width, dtype=np.float32)
        for column in self._columns:
            start = encoding.offsets[column]
            self._heeded[start : start + encoding.sizes[column]] = 1.0
        self._marks = np.zeros((0, encoding.width), dtype=np.float32)
        self._features: Floats = np.zeros((0, 0))
        self._centre: Floats = np.zeros(0)
        self._spread: Floats = np.ones(0)
        self._fits: list[_Fit] = []

    def fit(self, rows: Rows, features: Floats, targets: Floats) -> None:
        """Learn from designs; `targets` has a row for each design and a column for each value."""
        self._marks = self._encoding.marks(rows) * self._heeded
        self._centre = features.mean(axis=0)
        self._spread = np.maximum(features.std(axis=0), 1e-9)
        self._features = (features - self._centre) / self._spread
        base, differing = self._compare(self._marks, self._features)
        solved = [
            (decay, *_factored(base + np.exp(-decay * differing), nugget))
            for decay in _DECAYS
            for nugget in _NUGGETS
        ]
        self._fits = [_best(solved, targets[:, k]) for k in range(targets.shape[1])]

    def predict(self, rows: Rows, features: Floats, deviations: float = 0.0) -> Floats:
        """The expected targets of other designs, or so many standard deviations below."""
        scaled = (features - self._centre) / self._spread
        base, differing = self._compare(self._encoding.marks(rows), scaled)
        own = _MAIN + 1.0 + _TREND * (scaled**2).sum(axis=1) / max(1, scaled.shape[1])
        found = np.empty((len(rows), len(self._fits)))
        kernels: dict[float, Floats] = {}
        for index, fit in enumerate(self._fits):
            if fit.decay not in kernels:
                kernels[fit.decay] = base + np.exp(-fit.decay * differing)
            kernel = kernels[fit.decay]
            value = kernel @ fit.weights
            if deviations:
                explained = ((kernel @ fit.factor) ** 2).sum(axis=1)
                value = value - deviations * np.sqrt(np.maximum(own - explained, 0.0))
            found[:, index] = fit.scale.undo(value)
        return found

    def _compare(self, marks: NDArray[np.float32], features: Floats) -> tuple[Floats, Floats]:
        """The additive part of the kernel, and in how many parameters designs differ."""
        parameters = max(1, len(self._columns))
        differing = parameters - (marks @ self._marks.T).astype(np.float64)
        trend = features @ self._features.T / max(1, features.shape[1])
        return _MAIN * (1 - differing / parameters) + _TREND * trend, differing


def _factored(kernel: Floats, nugget: float) -> tuple[Floats, Floats]:
    """U with U U' the inverse of the kernel with noise, and the diagonal of that inverse."""
    lower = np.linalg.cholesky(kernel + nugget * (1 + _MAIN) * np.eye(len(kernel)))
    factor: Floats = np.linalg.inv(lower).T
    return factor, (factor**2).sum(axis=1)


def _best(solved: list[tuple[float, Floats, Floats]], values: Floats) -> _Fit:
    """The fit that predicts each design best from the others."""
    sign = 1 if (values > 0).all() else -1 if (values < 0).all() else 0
    scales = [_Scale.of(values, s) for s in sorted({0, sign})]
    best: tuple[float, _Fit] | None = None
    for decay, factor, diagonal in solved:
        for scale in scales:
            target = scale.apply(values)
            weights = factor @ (factor.T @ target)
            left_out = scale.undo(target - weights / diagonal)
            error = float(np.abs(left_out - values).mean())
            if best is None or error < best[0]:
                best = (error, _Fit(decay, scale, weights, factor))
    assert best is not None
    return best[1]

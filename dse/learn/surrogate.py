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

from dse.learn.encoding import Encoding, Rows
from dse.learn.structure import Floats

_DECAYS = (0.1, 0.3, 0.8)  # of the correlation, for each parameter that differs
_NUGGETS = (1e-5, 1e-2)  # noise, of the variance
_MAIN = 2.0  # variance of the parameters' own effects, over that of their interplay
_TREND = 25.0  # variance of the linear term
_BORDER = 1e9  # larger than any squared target by far
_LEAST_VARIANCE = 1e-12  # of targets that the kernel explains wholly


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

    def log_slope(self, values: Floats) -> float:
        """Sum of the logarithms of how much `apply` stretches at each value."""
        stretched = float(np.log(np.abs(values)).sum()) if self.sign else 0.0
        return -len(values) * float(np.log(self.deviation)) - stretched


@dataclass(frozen=True)
class _Solved:
    """A kernel's Cholesky factor, and for each target what it makes of it."""

    decay: float
    lower: Floats
    whitened: Floats

    @classmethod
    def of(cls, kernel: Floats, nugget: float, decay: float, targets: Floats) -> _Solved:
        """Factor the kernel with noise; the targets ride along as a border of the matrix."""
        count, border = targets.shape
        whole = np.zeros((count + border, count + border))
        whole[:count, :count] = kernel
        whole[count:, :count] = targets.T
        noise = np.full(count, nugget * (1 + _MAIN))
        whole[np.diag_indices(count + border)] += np.concatenate([noise, np.full(border, _BORDER)])
        lower = np.linalg.cholesky(whole)
        return cls(decay, lower[:count, :count], lower[count:, :count])


@dataclass(frozen=True)
class _Fit:
    """One target's model; `spread` is the standard deviation of the process."""

    scale: _Scale
    solved: _Solved
    weights: Floats
    spread: float

    def weighted(self) -> _Fit:
        """With weights of kernel values instead of the whitened target."""
        weights = np.linalg.solve(self.solved.lower.T, self.weights).astype(float)
        return _Fit(self.scale, self.solved, weights, self.spread)


class Surrogate:
    """Fitted to rows, features and targets, one column of targets each on its own.

    `columns` are the parameters that decide the targets, all of them unless said otherwise.
    """

    def __init__(self, encoding: Encoding, columns: Sequence[int] | None = None) -> None:
        self._encoding = encoding
        self._count = len(encoding.names) if columns is None else len(columns)
        self._heeded = np.zeros(encoding.width, dtype=np.float32)
        for column in range(len(encoding.names)) if columns is None else columns:
            start = encoding.offsets[column]
            self._heeded[start : start + encoding.sizes[column]] = 1.0
        self._marks = np.zeros((0, encoding.width), dtype=np.float32)
        self._features: Floats = np.zeros((0, 0))
        self._centre: Floats = np.zeros(0)
        self._spread: Floats = np.ones(0)
        self._fits: list[_Fit] = []
        differing = np.arange(self._count + 1)
        own = _MAIN * (1 - differing / max(1, self._count))
        self._falling = {decay: own + np.exp(-decay * differing) for decay in _DECAYS}

    def fit(self, rows: Rows, features: Floats, targets: Floats) -> None:
        """Learn from designs; `targets` has a row for each design and a column for each value."""
        self._marks = self._encoding.marks(rows) * self._heeded
        self._centre = features.mean(axis=0)
        self._spread = np.maximum(features.std(axis=0), 1e-9)
        self._features = self._scaled(features)
        scales = [(k, scale) for k, values in enumerate(targets.T) for scale in _scales(values)]
        turned = np.column_stack([scale.apply(targets[:, k]) for k, scale in scales])
        differing, trend = self._compare(self._marks, self._features)
        solved = [
            _Solved.of(self._falling[decay][differing] + trend, nugget, decay, turned)
            for decay in _DECAYS
            for nugget in _NUGGETS
        ]
        fits: dict[int, tuple[float, _Fit]] = {}
        for position, (k, scale) in enumerate(scales):
            slope = scale.log_slope(targets[:, k])
            for candidate in solved:
                evidence, spread = _evidence(candidate, position)
                if k not in fits or evidence + slope > fits[k][0]:
                    fits[k] = (
                        evidence + slope,
                        _Fit(scale, candidate, candidate.whitened[position], spread),
                    )
        self._fits = [fits[k][1].weighted() for k in range(targets.shape[1])]

    def predict(self, rows: Rows, features: Floats, deviations: float = 0.0) -> Floats:
        """The expected targets of other designs, or so many standard deviations below."""
        scaled = self._scaled(features)
        differing, trend = self._compare(self._encoding.marks(rows), scaled)
        own = _MAIN + 1.0 + (scaled**2).sum(axis=1)
        found = np.empty((len(rows), len(self._fits)))
        kernels: dict[float, Floats] = {}
        for index, fit in enumerate(self._fits):
            decay = fit.solved.decay
            if decay not in kernels:
                kernels[decay] = self._falling[decay][differing] + trend
            value = kernels[decay] @ fit.weights
            if deviations:
                explained = (np.linalg.solve(fit.solved.lower, kernels[decay].T) ** 2).sum(axis=0)
                doubt = fit.spread * np.sqrt(np.maximum(own - explained, 0.0))
                value = value - deviations * doubt
            found[:, index] = fit.scale.undo(value)
        return found

    def _scaled(self, features: Floats) -> Floats:
        """Features such that their products are the linear term of the kernel."""
        factor = (_TREND / max(1, features.shape[1])) ** 0.5
        scaled: Floats = factor * (features - self._centre) / self._spread
        return scaled

    def _compare(
        self, marks: NDArray[np.float32], features: Floats
    ) -> tuple[NDArray[np.intp], Floats]:
        """In how many parameters designs differ from those learned, and the linear term."""
        equal = (marks @ self._marks.T).astype(np.intp)
        return self._count - equal, features @ self._features.T


def _scales(values: Floats) -> Sequence[_Scale]:
    sign = 1 if (values > 0).all() else -1 if (values < 0).all() else 0
    return [_Scale.of(values, s) for s in sorted({0, sign})]


def _evidence(solved: _Solved, position: int) -> tuple[float, float]:
    """Logarithm of the likelihood of one target, and the deviation at which it is largest."""
    count = len(solved.lower)
    variance = float((solved.whitened[position] ** 2).mean()) + _LEAST_VARIANCE
    spread_out = float(np.log(np.diag(solved.lower)).sum())
    return -count * float(np.log(variance)) / 2 - spread_out, variance**0.5

"""`Estimator`: predicts losses of designs from measured segments and from evaluated designs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dse.coprocessor import ENTRY
from dse.learn.encoding import Encoding, Rows, first_positions
from dse.learn.structure import Floats, Structure
from dse.learn.surrogate import Surrogate
from dse.metrics import HARDWARE
from dse.pareto import Loss

_MOST = 1e30  # a loss expected; what is extrapolated may be any number
MOST_LEARNED = 400
"""Designs a fit takes in; beyond that those far from the front are left out."""


class Candidates(NamedTuple):
    """Reduced rows, and the features of their programs."""

    rows: Rows
    features: Floats

    def take(self, positions: NDArray[np.intp] | NDArray[np.bool_]) -> Candidates:
        """Some of them."""
        return Candidates(self.rows[positions], self.features[positions])

    def join(self, other: Candidates) -> Candidates:
        """These, then others."""
        rows = np.concatenate([self.rows, other.rows])
        return Candidates(rows, np.concatenate([self.features, other.features]))

    def distinct(self) -> Candidates:
        """Each row once, in an order that depends on the rows alone."""
        return self.take(first_positions(self.rows))


class Estimator:
    """Learns from outcomes; its predictions depend on what it was told alone.

    Attributes:
        known: Rows that need not be proposed again, as bytes.
        front: Rows of the non-dominated designs that were feasible.
        front_losses: Their losses.
    """

    def __init__(self, encoding: Encoding, structure: Structure) -> None:
        self.encoding = encoding
        self.structure = structure
        self.known: set[bytes] = set()
        self.front: Rows = np.zeros((0, len(encoding.names)), dtype=np.int16)
        self.front_losses: Floats = np.zeros((0, 0))
        self._rows: dict[bytes, tuple[Rows, Loss | None, tuple[float, ...]]] = {}
        self._models: list[_Model] = []
        self._failure: Surrogate | None = None
        self._objectives = len(encoding.space.objectives)

    @property
    def count(self) -> int:
        """Distinct designs it was told of."""
        return len(self._rows)

    def observe(
        self, asked: Rows, canonical: Rows, losses: Loss | None, violations: tuple[float, ...]
    ) -> None:
        """Take note of an evaluated design."""
        self.known |= {asked.tobytes(), canonical.tobytes()}
        self._rows.setdefault(canonical.tobytes(), (canonical, losses, violations))

    def fit(self) -> bool:
        """Model what was observed; False while that is not enough."""
        import moocore

        entries = list(self._rows.values())
        measured = [entry for entry in entries if entry[1] is not None]
        if len(measured) < 2:
            return False
        rows = np.array([row for row, _, _ in measured])
        losses = np.array([loss for _, loss, _ in measured], dtype=float)
        violations = np.array([v for _, _, v in measured], dtype=float).reshape(len(measured), -1)
        is_feasible = (violations <= 0).all(axis=1)
        if is_feasible.any():
            kept = np.nonzero(is_feasible)[0]
            kept = kept[moocore.is_nondominated(losses[kept])]
            self.front, self.front_losses = rows[kept], losses[kept]
        near = self._nearest(losses)
        targets = np.column_stack([losses, violations])[near]
        _, features = self.structure.predict(rows[near])
        self._models = _models(self.encoding, targets.shape[1])
        for model in self._models:
            model.fit(rows[near], features, targets)
        self._failure = None
        if len(measured) < len(entries):
            every = entries[-MOST_LEARNED:]
            rows = np.array([row for row, _, _ in every])
            failed = np.array([[float(loss is None)] for _, loss, _ in every])
            self._failure = Surrogate(self.encoding)
            self._failure.fit(rows, self.structure.predict(rows)[1], failed)
        return True

    def reduce(self, rows: Rows) -> Candidates:
        """Distinct rows without what is taken to make no difference."""
        reduced, features = self.structure.predict(self.encoding.reduce(rows))
        return Candidates(reduced, features).distinct()

    def predict(self, candidates: Candidates, deviations: float = 0.0) -> Floats:
        """Losses expected of candidates, or so many standard deviations better.

        Those that are not expected to be feasible get infinite losses.
        """
        found = np.empty((len(candidates.rows), sum(len(model.targets) for model in self._models)))
        for model in self._models:
            found[:, model.targets] = model.predict(candidates, deviations)
        # rounded: the last bits are those of a library for matrices and must decide nothing
        losses = np.clip(found[:, : self._objectives], -_MOST, _MOST)
        losses = losses.astype(np.float32).astype(float)
        is_out = (found[:, self._objectives :] > 0).any(axis=1)
        if self._failure is not None:
            failure = self._failure.predict(candidates.rows, candidates.features)
            is_out |= failure[:, 0] > 0.5
        losses[is_out] = np.inf
        return losses

    def _nearest(self, losses: Floats) -> Sequence[int] | NDArray[np.intp]:
        """Positions of the designs nearest to the front."""
        if len(losses) <= MOST_LEARNED or not len(self.front_losses):
            return np.arange(len(losses))[-MOST_LEARNED:]
        low = self.front_losses.min(axis=0)
        span = np.maximum(self.front_losses.max(axis=0) - low, 1e-12)
        front, points = (self.front_losses - low) / span, (losses - low) / span
        excess = np.max([(points - f).min(axis=1) for f in front], axis=0)
        return np.sort(np.argsort(excess, kind="stable")[:MOST_LEARNED])


@dataclass(frozen=True)
class _Model:
    """What predicts some of the targets: those of hardware from its parameters alone."""

    targets: list[int]
    surrogate: Surrogate
    is_of_hardware: bool

    def fit(self, rows: Rows, features: Floats, targets: Floats) -> None:
        self.surrogate.fit(rows, self._heeded(features), targets[:, self.targets])

    def predict(self, candidates: Candidates, deviations: float) -> Floats:
        features = self._heeded(candidates.features)
        return self.surrogate.predict(candidates.rows, features, deviations)

    def _heeded(self, features: Floats) -> Floats:
        return features[:, :0] if self.is_of_hardware else features


def _models(encoding: Encoding, count: int) -> list[_Model]:
    """Models of so many targets: the objectives of a space, its constraints, and what else."""
    space = encoding.space
    kinds = [objective.metric in HARDWARE for objective in space.objectives]
    kinds += [constraint.metric in HARDWARE for constraint in space.constraints]
    kinds += [False] * (count - len(kinds))
    models = []
    for is_of_hardware in sorted(set(kinds)):
        targets = [index for index, kind in enumerate(kinds) if kind == is_of_hardware]
        surrogate = Surrogate(encoding, hardware_columns(encoding) if is_of_hardware else None)
        models.append(_Model(targets, surrogate, is_of_hardware))
    return models


def hardware_columns(encoding: Encoding) -> list[int]:
    """The parameters that decide what is built.

    None of them is the compiler's; of the kernels only those count that a co-processor may run, for
    it holds the engines that its kernels need.
    """
    on_device = {
        f"kernel.{use.workload}"
        for use in encoding.space.workloads
        if any(ENTRY in needs for needs in use.requires.values())
    }
    return [
        column
        for column, name in enumerate(encoding.names)
        if name in on_device or not name.startswith(("kernel.", "compiler."))
    ]

"""`EstimatorSampler`: Pareto local search on an estimator, as an Optuna sampler."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.samplers import BaseSampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from dse.learn.encoding import Encoding, Rows
from dse.learn.estimator import Estimator
from dse.learn.local_search import LocalSearch
from dse.learn.structure import Structure
from dse.reductions import Reductions
from dse.sampler import CANONICAL, batch_seed
from dse.space import Space

_LEAST = 4  # designs planned together
_GROWTH = 8  # planned together: one for so many that are known


class EstimatorSampler(BaseSampler):
    """Proposes what an `Estimator` expects to extend the front most; learns from finished trials.

    Everything follows from the seed and the trials told. Trials may carry the design they came
    down to as the user attribute `canonical`.
    """

    def __init__(
        self,
        space: Space,
        seed: int,
        structure: Structure | None = None,
        reductions: Reductions | None = None,
        distributions: Mapping[str, BaseDistribution] | None = None,
    ) -> None:
        self.encoding = structure.encoding if structure else Encoding(space)
        self.estimator = Estimator(self.encoding, structure or Structure(self.encoding))
        self.seed = seed
        self._search: LocalSearch | None = None
        self._planned: deque[Rows] = deque()
        self._reductions = reductions or Reductions(space)
        self._barren = -1  # how many designs were known when there was nothing to plan
        self._distributions: dict[str, BaseDistribution] = dict(distributions or {}) or {
            p.name: CategoricalDistribution(p.choices) for p in space.free
        }

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """All free parameters of the space, always."""
        return self._distributions

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The next planned design; a random one while too little is known."""
        while self._planned and self._is_known(self._planned[0]):
            self._planned.popleft()
        if not self._planned:
            self._plan(trial.number)
        if self._planned:
            row = self._planned.popleft()
            self.estimator.known.add(row.tobytes())
        else:
            generator = np.random.default_rng(batch_seed(self.seed, trial.number))
            row = generator.integers(0, self.encoding.sizes).astype(np.int16)
        return self.encoding.values(row)

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """A parameter that is not of the space: its first choice."""
        assert isinstance(param_distribution, CategoricalDistribution)
        return param_distribution.choices[0]

    def after_trial(
        self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        """Learn what a design came to."""
        if not self._distributions.keys() <= trial.params.keys():
            return
        asked = self.encoding.row(trial.params)
        stated = trial.user_attrs.get(CANONICAL)
        canonical = self.encoding.row(json.loads(stated)) if stated else asked
        losses = tuple(values) if values is not None else None
        violations = tuple(trial.constraints.values()) if losses is not None else ()
        self.estimator.observe(asked, canonical, losses, violations)

    def _plan(self, number: int) -> None:
        known = self.estimator.count
        if known == self._barren or not self.estimator.fit():
            return
        self._search = self._search or LocalSearch(self.estimator, self._is_known)
        count = max(_LEAST, known // _GROWTH)
        self._planned.extend(self._search.propose(count, batch_seed(self.seed, number)))
        self._barren = -1 if self._planned else known

    def _is_known(self, row: Rows) -> bool:
        """Whether a reduced row, or what it is known to come down to, was proposed before."""
        known = self.estimator.known
        if row.tobytes() in known:
            return True
        design = self.encoding.plain_design(row)
        reduced = self._reductions.apply(design)
        return reduced is not design and self.encoding.row(reduced).tobytes() in known

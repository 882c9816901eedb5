"""The Optuna samplers a search may use, by name."""

from __future__ import annotations

import hashlib
import importlib.util
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler

    from dse.choices import Choices
    from dse.learn.structure import Structure
    from dse.reductions import Reductions
    from dse.space import Space

    Build = Callable[[int, "Known"], BaseSampler]

CANONICAL = "canonical"
"""User attribute of a trial: the parameters that its design came down to, as JSON."""


@dataclass(frozen=True)
class Known:
    """What a sampler may know beside the trials: Optuna's own make no use of it."""

    space: Space
    structure: Structure | None
    reductions: Reductions

    @cached_property
    def distributions(self) -> Mapping[str, Choices]:
        """The free parameters, as those of every trial."""
        from dse.choices import Choices

        return {p.name: Choices(p.choices) for p in self.space.free}


@dataclass(frozen=True)
class SamplerKind:
    """How to build a sampler.

    `is_reseeded` ones start afresh from (seed, batch) in every batch; `needs` names libraries
    that only the extra `samplers` installs; `uses_structure` ones are given the segments of the
    programs.
    """

    description: str
    build: Build
    is_reseeded: bool = True
    needs: tuple[str, ...] = ()
    uses_structure: bool = False


def _estimator(seed: int, known: Known) -> BaseSampler:
    from dse.learn.estimator_sampler import EstimatorSampler

    return EstimatorSampler(
        known.space, seed, known.structure, known.reductions, known.distributions
    )


def _uniform(seed: int, known: Known) -> BaseSampler:
    from dse.uniform_sampler import UniformSampler

    return UniformSampler(seed, known.distributions)


def _named(name: str, **options: Any) -> Build:
    def build(seed: int, known: Known) -> BaseSampler:
        import optuna

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            sampler: BaseSampler = getattr(optuna.samplers, name)(seed=seed, **options)
        return sampler

    return build


# Multivariate TPE leads to about 1,000 trials and slows with their number. Never Optuna's default
# for several objectives: univariate, it does no better than random and repeats 2 designs in 5.
_TPE = _named("TPESampler", multivariate=True)
SAMPLERS: dict[str, SamplerKind] = {
    "auto": SamplerKind(
        "all designs where there are no more than trials, else estimator",
        _estimator,
        is_reseeded=False,
        uses_structure=True,
    ),
    "estimator": SamplerKind(
        "Pareto local search on an estimator", _estimator, is_reseeded=False, uses_structure=True
    ),
    "tpe": SamplerKind("multivariate TPE", _TPE),
    "nsga2": SamplerKind("NSGA-II, population 50", _named("NSGAIISampler", population_size=50)),
    "nsga3": SamplerKind("NSGA-III, population 50", _named("NSGAIIISampler", population_size=50)),
    "gp": SamplerKind("Gaussian process", _named("GPSampler"), needs=("torch", "scipy")),
    "qmc": SamplerKind(
        "quasi-Monte-Carlo",
        _named("QMCSampler", scramble=True),
        is_reseeded=False,
        needs=("scipy",),
    ),
    "random": SamplerKind("uniformly random", _uniform),
}


def missing_library(sampler: str) -> str | None:
    """The first library that a sampler needs and that is not installed, or None."""
    return next((n for n in SAMPLERS[sampler].needs if importlib.util.find_spec(n) is None), None)


def batch_seed(seed: int, batch: int) -> int:
    """A 32-bit seed of its own for every batch, so that a resumed search repeats no numbers."""
    digest = hashlib.blake2b(f"{seed}:{batch}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big")

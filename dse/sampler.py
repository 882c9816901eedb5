"""The Optuna samplers a search may use, by name."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler


@dataclass(frozen=True)
class SamplerKind:
    """How to build a sampler, and whether it starts afresh from (seed, batch) in every batch."""

    description: str
    build: Callable[[int], BaseSampler]
    is_reseeded: bool = True


def _named(name: str, **options: Any) -> Callable[[int], BaseSampler]:
    def build(seed: int) -> BaseSampler:
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
    "auto": SamplerKind("multivariate TPE", _TPE),
    "tpe": SamplerKind("multivariate TPE", _TPE),
    "nsga2": SamplerKind("NSGA-II, population 50", _named("NSGAIISampler", population_size=50)),
    "nsga3": SamplerKind("NSGA-III, population 50", _named("NSGAIIISampler", population_size=50)),
    "gp": SamplerKind("Gaussian process (needs torch)", _named("GPSampler")),
    "qmc": SamplerKind("quasi-Monte-Carlo", _named("QMCSampler", scramble=True), is_reseeded=False),
    "random": SamplerKind("uniformly random", _named("RandomSampler")),
}


def batch_seed(seed: int, batch: int) -> int:
    """A 32-bit seed of its own for every batch, so that a resumed search repeats no numbers."""
    digest = hashlib.blake2b(f"{seed}:{batch}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big")

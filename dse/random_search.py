"""Random sampling at equal budget: the yardstick that every search is reported against."""

from __future__ import annotations

import random
from collections.abc import Iterator

from dse.design import Design
from dse.evaluator import Evaluator
from dse.sampler import batch_seed
from dse.search import Found, Log, Observer, listed_search
from dse.space import Space

_STREAM = -1  # apart from every batch of the sampler
_TRIES_PER_DESIGN = 200


def random_search(
    evaluator: Evaluator, count: int, seed: int, observer: Observer, log: Log | None = None
) -> Found:
    """Evaluate `count` distinct designs, each drawn uniformly from the raw combinations."""
    drawn = (("random", design) for design in random_designs(evaluator.space, seed))
    found = listed_search(evaluator, drawn, count, log, observer, phase="random")
    found.is_whole = False  # the drawing may have ended, not the space
    return found


def random_designs(space: Space, seed: int) -> Iterator[Design]:
    """Distinct reduced designs in random order; ends when new ones have become rare."""
    generator = random.Random(batch_seed(seed, _STREAM))
    seen: set[str] = set()
    misses = 0
    while misses < _TRIES_PER_DESIGN:
        values = {p.name: generator.choice(p.choices) for p in space.parameters}
        design = space.reduce(values)
        if design.digest in seen:
            misses += 1
            continue
        misses = 0
        seen.add(design.digest)
        yield design

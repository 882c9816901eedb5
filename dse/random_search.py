"""Random sampling at equal budget: the yardstick that every search is reported against."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dse.design import Design
from dse.evaluator import Evaluator
from dse.learn.encoding import Encoding
from dse.sampler import batch_seed
from dse.search import Found, Log, Observer, listed_search
from dse.space import Space

_STREAM = -1  # apart from every batch of the sampler
_TRIES_PER_DESIGN = 200
_TOGETHER = 256  # drawn and reduced at once


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
    encoding = Encoding(space)
    generator = np.random.default_rng(batch_seed(seed, _STREAM))
    seen: set[bytes] = set()
    misses = 0
    while misses < _TRIES_PER_DESIGN:
        drawn = generator.integers(0, encoding.sizes, size=(_TOGETHER, len(encoding.sizes)))
        for row in encoding.reduce(drawn.astype(np.int16)):
            is_new = row.tobytes() not in seen
            misses = 0 if is_new else misses + 1
            if is_new:
                seen.add(row.tobytes())
                yield encoding.plain_design(row)

"""The exact front of a space by evaluating every design, where that fits a time budget."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dse.design import Design
from dse.evaluator import Evaluator
from dse.learn.encoding import Encoding
from dse.search import Found, Log, Observer, listed_search
from dse.space import Space

MAX_DESIGNS = 200_000
MOST_COMBINATIONS = 20_000_000
"""More do not fit into memory at once."""
# of the budget, spent before giving up: parts shared between designs make later ones cheaper
_PATIENCE = 0.25
_MARGIN = 1.2  # projections are no better
_HOPELESS = 5.0  # times the budget: not begun
_SAMPLE = 200  # designs looked at to tell how many are settled


@dataclass(frozen=True)
class Exact:
    """What enumeration came to.

    Attributes:
        found: Everything, where all designs were evaluated; else None.
        designs: Reduced designs in the space, or raw combinations where these are too many.
        projected_seconds: For all of them, as measured so far.
    """

    found: Found | None
    designs: int
    projected_seconds: float
    is_interrupted: bool = False


def is_within(space: Space, count: int) -> bool:
    """Whether the space has at most so many reduced designs."""
    return len(list(itertools.islice(space.designs(), count + 1))) <= count


def exhaustive_search(evaluator: Evaluator, log: Log | None, observer: Observer) -> Found:
    """Evaluate every design of the space, however long it takes."""
    designs = largest_first(evaluator.space)
    every = (("exhaustive", design) for design in designs)
    return listed_search(evaluator, every, len(designs), log, observer, phase="exhaustive")


def enumerate_within(
    evaluator: Evaluator, budget_seconds: float, seconds_per_design: float, observer: Observer
) -> Exact:
    """Evaluate every design unless that takes longer than the budget.

    The time for all is projected from the latest designs, and from how many of the others are
    settled by reductions; `seconds_per_design` of the search before it tells beforehand where it
    is out of the question.
    """
    space = evaluator.space
    if space.raw_size > MAX_DESIGNS:
        return Exact(None, space.raw_size, space.raw_size * seconds_per_design)
    designs = largest_first(space)
    projected = seconds_per_design * _unknown(evaluator, designs)
    if budget_seconds == 0 or projected > _HOPELESS * budget_seconds:
        return Exact(None, len(designs), projected)
    started = last = time.perf_counter()
    taken = 0
    computed = evaluator.computed

    def taking() -> Iterator[tuple[str, Design]]:
        nonlocal taken
        for design in designs:
            taken += 1
            yield "exact", design

    def is_late(found: Found) -> bool:
        nonlocal projected, last, computed
        now = time.perf_counter()
        if evaluator.computed > computed:
            seconds = (now - last) / (evaluator.computed - computed)
            projected = now - started + seconds * _unknown(evaluator, designs[taken:])
        last, computed = now, evaluator.computed
        is_over = projected > _MARGIN * budget_seconds and taken < len(designs)
        return is_over and now - started > _PATIENCE * budget_seconds

    found = listed_search(
        evaluator, taking(), len(designs), None, observer, phase="exact front", deadline=is_late
    )
    is_complete = taken == len(designs) and not found.is_interrupted
    whole = found if is_complete else None
    return Exact(whole, len(designs), projected, found.is_interrupted)


def _unknown(evaluator: Evaluator, designs: Sequence[Design]) -> float:
    """About how many of the designs are not settled by reductions."""
    sample = designs[:: max(1, len(designs) // _SAMPLE)]
    unknown = sum(evaluator.reductions.apply(design) == design for design in sample)
    return len(designs) * unknown / max(1, len(sample))


def largest_first(space: Space) -> list[Design]:
    """Every reduced design, in random order but for the number of instructions.

    Those with most come first: what their programs leave unused settles many of the others.
    """
    encoding = Encoding(space)
    rows = np.random.default_rng(0).permutation(encoding.every())
    chosen = rows[:, list(encoding.entry_columns.values())].sum(axis=1)
    return [encoding.plain_design(row) for row in rows[np.argsort(-chosen, kind="stable")]]

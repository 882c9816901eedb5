"""The exact front of a space by evaluating every design, where that fits a time budget."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass

from dse.design import Design
from dse.evaluator import Evaluator
from dse.search import Found, Log, Observer, listed_search
from dse.space import Space

MAX_DESIGNS = 200_000
# of the budget, spent before giving up: parts shared between designs make later ones cheaper
_PATIENCE = 0.25
_MARGIN = 1.2  # projections are no better
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
    settled by reductions;
    `seconds_per_design` serves where even listing the designs is too much.
    """
    space = evaluator.space
    if space.raw_size > MAX_DESIGNS:
        return Exact(None, space.raw_size, space.raw_size * seconds_per_design)
    designs = largest_first(space)
    if budget_seconds == 0:
        return Exact(None, len(designs), len(designs) * seconds_per_design)
    started = last = time.perf_counter()
    taken = 0
    computed = evaluator.computed
    projected = 0.0

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
            rest = designs[taken :: max(1, (len(designs) - taken) // _SAMPLE)]
            unknown = sum(evaluator.reductions.apply(design) == design for design in rest)
            share = unknown / max(1, len(rest))
            projected = now - started + seconds * share * (len(designs) - taken)
        last, computed = now, evaluator.computed
        is_over = projected > _MARGIN * budget_seconds and taken < len(designs)
        return is_over and now - started > _PATIENCE * budget_seconds

    found = listed_search(
        evaluator, taking(), len(designs), None, observer, phase="exact front", deadline=is_late
    )
    is_complete = taken == len(designs) and not found.is_interrupted
    whole = found if is_complete else None
    return Exact(whole, len(designs), projected, found.is_interrupted)


def largest_first(space: Space) -> list[Design]:
    """Every reduced design, in random order but for the number of instructions.

    Those with most come first: what their programs leave unused settles many of the others.
    """
    designs = list(space.designs())
    random.Random(0).shuffle(designs)
    names = [entry.name for entry in space.entries]
    return sorted(designs, key=lambda design: -sum(design[name] is True for name in names))

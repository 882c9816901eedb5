"""Measure samplers on spaces whose exact front is known.

    python -m benchmarks.samplers [--seeds N] [--jobs N] [--only SPACE] [--cache DIR]

Four spaces: `aes` and `sha2`, every design of which is evaluated for real first (cached; the first
time takes a quarter of an hour), and two of `benchmarks/selection.py`: one whose segments the
default sampler may look into, and one with three objectives where it may not. A score is the
hypervolume of the distinct designs so far over that of the exact front, the reference point at
1.1 x its nadir. Prints a table for docs/search.md.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path

from benchmarks import selection
from dse.backend import Backend
from dse.bundled import find_space
from dse.cache import default_folder
from dse.design import Design
from dse.discovery import MOST_RUNS, discover
from dse.evaluation import Evaluation
from dse.evaluator import Evaluator
from dse.exact import exhaustive_search
from dse.pareto import Frame, Loss
from dse.proposer import Proposer
from dse.random_search import random_search
from dse.sampler import SAMPLERS, missing_library
from dse.search import Progress, sampled_search
from dse.seeds import FEW, seed_designs
from dse.space import Space, load_space

CHECKPOINTS = (50, 150, 300)
SPACES = ("aes", "sha2", "selection", "opaque")
DEFAULT = "estimator"
UNSEEDED = "random alone"  # draws only; the others start from the same seeds
BUDGET = CHECKPOINTS[-1]


@dataclass(frozen=True)
class Score:
    """One run of one sampler.

    Attributes:
        shares: Of the exact hypervolume after each number of designs; the last stands for the
            rest where the space has ended.
        runs: Runs of single programs before the first design.
        repeats: Designs that were counted twice.
        seconds: Processor time of the search, per design.
    """

    shares: tuple[float, ...]
    runs: int
    repeats: int
    seconds: float

    def at(self, designs: int) -> float:
        """The share after so many designs."""
        return self.shares[min(designs, len(self.shares)) - 1]


class _Trials:
    """A log that keeps what the score needs."""

    def __init__(self) -> None:
        self.evaluations: list[Evaluation] = []

    def trial(self, number: int, origin: str, asked: Design, evaluation: Evaluation) -> None:
        self.evaluations.append(evaluation)

    def repeat(self, asked: Design, evaluation: Evaluation) -> None:
        pass

    def sync(self) -> None:
        pass


def _ignore(progress: Progress) -> None:
    pass


def instance(name: str) -> tuple[Space, Backend]:
    """A space and what evaluates it."""
    if name == "selection":
        return selection.space_of(20, 14, 7, ["time_ns", "area_ge"]), selection.BACKEND
    if name == "opaque":
        objectives = ["time_ns", "area_ge", "code_bytes"]
        return selection.space_of(14, 10, 11, objectives), selection.OPAQUE
    return load_space(find_space(name)), Backend()


def evaluator_of(name: str, folder: Path) -> Evaluator:
    """An evaluator in this process, its baseline set."""
    space, backend = instance(name)
    is_real = name in ("aes", "sha2")
    evaluator = Evaluator(space, backend, folder if is_real else None, 0)
    evaluator.set_baseline()
    return evaluator


@cache
def exact(name: str, folder: Path) -> tuple[Loss, ...]:
    """The exact front."""
    evaluator = evaluator_of(name, folder)
    try:
        if name in ("aes", "sha2"):
            return tuple(exhaustive_search(evaluator, None, _ignore).losses())
        return tuple(selection.exact_front(evaluator.space))
    finally:
        evaluator.close()


def score(name: str, sampler: str, seed: int, folder: Path) -> Score:
    """Run a sampler for 300 designs, or to the end of the space."""
    evaluator = evaluator_of(name, folder)
    front = exact(name, folder)
    frame = Frame.around(front)
    whole = frame.hypervolume(front)
    log = _Trials()
    runs = 0
    start = time.process_time()
    if sampler == UNSEEDED:
        random_search(evaluator, BUDGET, seed, _ignore, log)
    else:
        structure = None
        if SAMPLERS[sampler].uses_structure:
            structure, runs = discover(evaluator, MOST_RUNS, _ignore)
        assert evaluator.baseline is not None
        most = FEW if structure else None
        seeds = seed_designs(evaluator.space, evaluator.baseline.canonical, most)
        proposer = Proposer(evaluator.space, sampler, seed, seeds, evaluator.reductions, structure)
        sampled_search(evaluator, proposer, BUDGET, log, _ignore)
    took = time.process_time() - start
    evaluator.close()
    points: list[Loss] = []
    shares = []
    for evaluation in log.evaluations:
        losses = evaluator.losses(evaluation)
        if evaluation.feasible and losses is not None:
            points.append(losses)
        shares.append(frame.hypervolume(points) / whole)
    distinct = {evaluation.canonical.digest for evaluation in log.evaluations}
    repeats = len(log.evaluations) - len(distinct)
    return Score(tuple(shares), runs, repeats, took / len(log.evaluations))


def rows(name: str, scores: dict[str, list[Score]]) -> Iterator[str]:
    """The table of one space: medians, with the least and the largest of all seeds."""
    for sampler, found in scores.items():
        cells = [_spread([s.at(n) for s in found]) for n in CHECKPOINTS]
        runs = max(s.runs for s in found)
        counted = _spread([s.at(max(1, 150 - s.runs)) for s in found]) if runs else cells[1]
        milliseconds = 1000 * statistics.median(s.seconds for s in found)
        repeats = sum(s.repeats for s in found)
        cells += [str(runs or ""), counted, f"{milliseconds:.1f}", str(repeats)]
        yield f"| {name} | {sampler} | " + " | ".join(cells) + " |"


def _spread(shares: Sequence[float]) -> str:
    middle, low, high = statistics.median(shares), min(shares), max(shares)
    return f"**{100 * middle:.1f}** ({100 * low:.1f}-{100 * high:.1f})"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", choices=SPACES)
    parser.add_argument("--samplers", nargs="*")
    parser.add_argument("--cache", type=Path, default=default_folder(os.environ))
    options = parser.parse_args()
    known = [n for n in SAMPLERS if n not in ("auto", "gp") and not missing_library(n)]
    samplers = options.samplers or [*known, UNSEEDED]
    print(
        "| space | sampler | 50 designs | 150 | 300 | runs | 150 with runs | ms each | repeats |\n"
        "|---|---|---|---|---|---|---|---|---|"
    )
    context = get_context("spawn")
    with ProcessPoolExecutor(options.jobs, mp_context=context) as pool:
        for name in [options.only] if options.only else SPACES:
            exact(name, options.cache)
            for sampler in samplers:
                seeds = range(options.seeds)
                count = len(seeds)
                found = pool.map(
                    score, [name] * count, [sampler] * count, seeds, [options.cache] * count
                )
                for row in rows(name, {sampler: list(found)}):
                    print(row, flush=True)


if __name__ == "__main__":
    main()

"""Measure samplers on spaces whose exact front is known.

    python -m benchmarks.samplers [--seeds N] [--minutes N] [--only SPACE] [--samplers NAME ...]
                                  [--again] [--cache DIR]

Four spaces: `aes` and `sha2`, every design of which is evaluated for real first (cached; the first
time takes a quarter of an hour), and two of `benchmarks/selection.py`: one whose segments the
default sampler may look into, and one with three objectives where it may not. A score is the
hypervolume of the distinct designs so far over that of the exact front, the reference point at
1.1 x its nadir.

Scores are kept in `benchmarks/data/samplers.json`, each as soon as it is there; those present are
not measured again unless `--again` says so. Prints the table of docs/search.md from them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks import selection
from dse.backend import Backend
from dse.bundled import find_space
from dse.cache import default_folder
from dse.design import Design
from dse.evaluation import Evaluation
from dse.evaluator import Evaluator
from dse.exact import exhaustive_search
from dse.learn.discovery import MOST_RUNS, discover
from dse.pareto import Frame, Loss
from dse.proposer import Proposer
from dse.random_search import random_search
from dse.sampler import SAMPLERS, missing_library
from dse.search import Progress, sampled_search
from dse.seeds import first_designs
from dse.space import Space, load_space

CHECKPOINTS = (50, 150, 300)
SPACES = ("aes", "sha2", "selection", "opaque")
DEFAULT = "estimator"
UNSEEDED = "random alone"  # draws only; the others start from the same seeds
BUDGET = CHECKPOINTS[-1]
_COUNTED = 150
SCORES = Path(__file__).parent / "data" / "samplers.json"


@dataclass(frozen=True)
class Score:
    """One run of one sampler.

    Attributes:
        shares: Of the exact hypervolume, by number of designs; where the space has ended before,
            the last.
        runs: Runs of single programs before the first design.
        counted: Share at 150 with these runs counted as designs.
        repeats: Designs that were counted twice.
        milliseconds: Processor time of the search, per design.
    """

    shares: Mapping[str, float]
    runs: int
    counted: float
    repeats: int
    milliseconds: float


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
    import optuna  # noqa: F401 - not to be counted as time of the search

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
        seeds = first_designs(evaluator.space, evaluator.baseline.canonical, structure)
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

    def at(designs: int) -> float:
        return round(shares[min(max(1, designs), len(shares)) - 1], 5)

    return Score(
        {str(n): at(n) for n in CHECKPOINTS},
        runs,
        at(_COUNTED - runs),
        len(log.evaluations) - len(distinct),
        round(1000 * took / len(log.evaluations), 2),
    )


def row(space: str, sampler: str, found: Sequence[Mapping[str, Any]]) -> str:
    """A line of the table: medians, with the least and the largest of all seeds."""
    cells = [_spread([s["shares"][str(n)] for s in found]) for n in CHECKPOINTS]
    runs = max(s["runs"] for s in found)
    cells += [str(runs), _spread([s["counted"] for s in found])] if runs else ["", ""]
    cells += [
        f"{statistics.median(s['milliseconds'] for s in found):.1f}",
        str(sum(s["repeats"] for s in found)),
        str(len(found)),
    ]
    return f"| {space} | {sampler} | " + " | ".join(cells) + " |"


def _spread(shares: Sequence[float]) -> str:
    middle, low, high = statistics.median(shares), min(shares), max(shares)
    return f"**{100 * middle:.1f}** ({100 * low:.1f}-{100 * high:.1f})"


class Scores:
    """What was measured: by space, sampler and seed, in a file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.found: dict[str, dict[str, dict[str, Any]]] = (
            json.loads(file.read_text()) if file.exists() else {}
        )

    def of(self, space: str, sampler: str) -> dict[str, Any]:
        """Scores of one sampler on one space, by seed."""
        return self.found.setdefault(space, {}).setdefault(sampler, {})

    def put(self, space: str, sampler: str, seed: int, score: Score) -> None:
        """Take a score and write the file whole."""
        self.of(space, sampler)[str(seed)] = asdict(score)
        aside = self.file.with_suffix(".part")
        aside.write_text(json.dumps(self.found, indent=1) + "\n")
        aside.replace(self.file)

    def table(self) -> Iterator[str]:
        """Everything, as Markdown."""
        yield (
            "| space | sampler | 50 designs | 150 | 300 | runs | 150 with runs | ms each | repeats "
            "| seeds |\n|---|---|---|---|---|---|---|---|---|---|"
        )
        for space in SPACES:
            for sampler, seeds in self.found.get(space, {}).items():
                if seeds:
                    yield row(space, sampler, list(seeds.values()))


def main() -> None:
    """Measure what is not known yet, seed by seed, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no seed after")
    parser.add_argument("--only", choices=SPACES, nargs="*")
    parser.add_argument("--samplers", nargs="*")
    parser.add_argument("--again", action="store_true", help="measure what is known anew")
    parser.add_argument("--scores", type=Path, default=SCORES)
    parser.add_argument("--cache", type=Path, default=default_folder(os.environ))
    options = parser.parse_args()
    known = [n for n in SAMPLERS if n not in ("auto", "gp") and not missing_library(n)]
    samplers = options.samplers or [*known, UNSEEDED]
    scores = Scores(options.scores)
    end = time.monotonic() + 60 * options.minutes
    asked = itertools.product(range(options.seeds), options.only or SPACES, samplers)
    for seed, space, sampler in asked:
        if time.monotonic() > end:
            break
        if options.again or str(seed) not in scores.of(space, sampler):
            scores.put(space, sampler, seed, score(space, sampler, seed, options.cache))
    print(*scores.table(), sep="\n")


if __name__ == "__main__":
    main()

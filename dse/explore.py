"""The whole job behind `dse search`: search, compare, confirm, and write the run folder."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dse.backend import Backend
from dse.dask_pool import ClusterError
from dse.evaluation import Evaluation
from dse.evaluator import Evaluator, SearchError
from dse.exact import MOST_COMBINATIONS, Exact, enumerate_within, exhaustive_search, is_within
from dse.fingerprint import versions
from dse.front import Front, make_front
from dse.interrupt import noted
from dse.learn.discovery import MOST_RUNS, discover
from dse.learn.prove import LIMIT_SECONDS as PROOF_SECONDS
from dse.learn.prove import check_provable, prove
from dse.learn.structure import Structure
from dse.measure.confirmation import Confirmation
from dse.pareto import Frame
from dse.pool import LIMIT_SECONDS
from dse.proposer import Proposer
from dse.random_search import random_search
from dse.run import FRONT, MANIFEST, Run, to_text
from dse.sampler import SAMPLERS, missing_library
from dse.search import BATCH, Found, Observer, Progress, sampled_search
from dse.seeds import first_designs
from dse.show.export import write_exports
from dse.show.points import place
from dse.space import Space

EXACT_BUDGET_SECONDS = 60.0


@dataclass(frozen=True)
class Options:
    """What the command line decides; None where the space's own setting holds."""

    out: Path
    cache_folder: Path | None
    jobs: int = 1
    trials: int | None = None
    seed: int | None = None
    sampler: str | None = None
    resume: bool = False
    exhaustive: bool = False
    prove: bool = False
    proof_seconds: float = PROOF_SECONDS
    batch: int | None = None
    plateau: int | None = None
    limit_seconds: float = LIMIT_SECONDS
    cluster: str | None = None
    exact_budget_seconds: float = EXACT_BUDGET_SECONDS
    command: str = ""


@dataclass
class Exploration:
    """What `explore` found and wrote.

    `result` is the plain summary kept in the manifest: counts, hypervolumes, comparison, times.
    """

    front: Front
    result: dict[str, Any]
    files: tuple[Path, ...]
    notes: list[str] = field(default_factory=list)
    is_interrupted: bool = False

    @property
    def is_confirmed(self) -> bool:
        """Whether every row of the front was confirmed on its netlist."""
        return all(row.confirmation.ok for row in self.front.rows)


@noted()
def explore(space: Space, options: Options, backend: Backend, observer: Observer) -> Exploration:
    """Search a space and write everything about it to the run folder.

    The front depends on the space, sampler, seed and number of trials alone: not on the number of
    jobs, the state of the cache, or how often the search was killed and resumed.

    Raises:
        RunError: The folder cannot be used.
        SearchError: The sampler is not installed, or the baseline or an objective not measurable.
    """
    settings = space.search
    trials = settings.trials if options.trials is None else options.trials
    seed = settings.seed if options.seed is None else options.seed
    sampler = options.sampler or settings.sampler
    manifest = {
        "space": space.name,
        "space_file": str(space.file.resolve()),
        "space_digest": space.digest,
        "objectives": [objective.metric for objective in space.objectives],
        "sampler": sampler,
        "seed": seed,
        "trials": trials,
        "batch": options.batch or BATCH,
        "exhaustive": options.exhaustive,
        "code_digest": backend.digest,
        "versions": versions(),
        "command": options.command,
        "status": "running",
    }
    missing = missing_library(sampler)
    if missing:
        raise SearchError(
            f"sampler {sampler} needs {missing}, which is not installed; install it with "
            "`pip install 'riscv-dse[samplers]'`, or take another sampler"
        )
    if options.exhaustive and space.raw_size > MOST_COMBINATIONS:
        raise SearchError(
            f"--exhaustive must have at most {MOST_COMBINATIONS:,} combinations, not "
            f"{space.raw_size:,}; leave out choices, or search with trials"
        )
    if options.prove:
        check_provable(space)
    run = Run.claim(options.out, manifest, resume=options.resume)
    limit = options.limit_seconds
    try:
        evaluator = Evaluator(
            space, backend, options.cache_folder, options.jobs, limit, options.cluster
        )
    except ClusterError as error:
        run.close()
        raise SearchError(str(error)) from None
    try:
        evaluator.known = run.known()
        clock = _Clock()
        observer(Progress("baseline", 0, 1))
        baseline = evaluator.set_baseline()
        observer(Progress("baseline", 1, 1, evaluator.hits))
        clock.lap("baseline")
        run.begin(manifest, space.text)
        runs = 0
        structure = None
        if options.exhaustive or (sampler == "auto" and is_within(space, trials)):
            found = exhaustive_search(evaluator, run, observer)
        else:
            if SAMPLERS[sampler].uses_structure:
                structure, runs = discover(evaluator, min(MOST_RUNS, trials), observer)
                clock.lap("segments")
            seeds = first_designs(space, baseline.canonical, structure)
            proposer = Proposer(space, sampler, seed, seeds, evaluator.reductions, structure)
            found = sampled_search(
                evaluator, proposer, trials, run, observer, options.batch or BATCH, options.plateau
            )
        clock.lap("search")
        result = {**_counts(found, evaluator, clock.seconds["search"]), "segment_runs": runs}
        if options.prove and found.front and not found.is_interrupted:
            result |= _proof(evaluator, structure, found, run, observer, options, trials)
            clock.lap("proof")
        result["history"] = _history(found)
        if not found.is_interrupted and found.front:
            result |= _comparison(evaluator, found, baseline, seed, options, observer, clock)
        if not found.is_interrupted and found.front:
            result |= _points(evaluator, found, run, baseline)
            clock.lap("points")
        rows = found.rows()
        confirmations = _confirm(evaluator, rows, observer, found)
        clock.lap("confirmation")
        front = make_front(
            space, baseline, rows, confirmations,
            is_exact=found.is_whole and not found.is_interrupted, history=found.history,
        )  # fmt: skip
        run.write(FRONT, to_text(front.to_json()))
        files = write_exports(run, front, ("csv", "png", "svg"))
        clock.lap("files")
        result["seconds"] = clock.seconds
        status = "interrupted" if found.is_interrupted else "complete"
        run.write(MANIFEST, to_text({**manifest, "status": status, "result": result}))
        written = (*files, run.folder / FRONT, run.folder / MANIFEST)
        if found.is_flat:
            evaluator.notes.append(
                f"stopped after {len(found.counted)} designs: the last {options.plateau} enlarged "
                "the hypervolume by less than 0.1 %"
            )
        notes = [*evaluator.notes, *_failures(evaluator)]
        return Exploration(front, result, tuple(sorted(written)), notes, found.is_interrupted)
    finally:
        evaluator.close()
        run.close()


def _proof(
    evaluator: Evaluator,
    structure: Structure | None,
    found: Found,
    run: Run,
    observer: Observer,
    options: Options,
    trials: int,
) -> dict[str, Any]:
    """The front of the model and what it adds; nothing where every design was evaluated."""
    if found.is_whole:
        evaluator.notes.append("--prove has nothing to add: every design was evaluated")
        return {}
    try:
        if structure is None:
            structure, _ = discover(evaluator, min(MOST_RUNS, trials), observer)
        # those of this search alone: what a proof before it evaluated must not change this one
        trials_made = itertools.islice(run.trials(), len(found.counted))
        evaluations = [Evaluation.from_json(trial) for trial in trials_made]
        limit = options.proof_seconds
        proof = prove(evaluator, structure, found, evaluations, run, observer, limit)
    except KeyboardInterrupt:
        found.is_interrupted = True
        return {}
    return {
        "proof": proof,
        "designs": len(found.counted),
        "feasible": found.feasible,
        "front": len(found.front),
        "cache_hits": evaluator.hits,
        "computed": evaluator.computed,
        "busy_seconds": round(evaluator.busy_seconds, 3),
        "failed": len(evaluator.failures),
    }


def _points(evaluator: Evaluator, found: Found, run: Run, baseline: Evaluation) -> dict[str, Any]:
    """Where the named points of the space stand."""
    try:
        return {"points": place(evaluator, run.trials(), baseline)}
    except KeyboardInterrupt:
        found.is_interrupted = True
        return {}


def _comparison(
    evaluator: Evaluator,
    found: Found,
    baseline: Evaluation,
    seed: int,
    options: Options,
    observer: Observer,
    clock: _Clock,
) -> dict[str, Any]:
    """How the front stands against the exact one and against random search, in one frame."""
    busy = evaluator.busy_seconds / max(1, options.jobs)
    per_design = busy / evaluator.computed if evaluator.computed else 0.0
    if found.is_whole:
        exact = Exact(found, len(found.counted), 0.0)
    else:
        exact = enumerate_within(evaluator, options.exact_budget_seconds, per_design, observer)
    clock.lap("exact front")
    if exact.is_interrupted:
        found.is_interrupted = True
        return {}
    drawn = None
    if not options.exhaustive:  # as many designs at random would be all of them, too
        drawn = random_search(evaluator, len(found.counted), seed, observer)
    clock.lap("random")
    if drawn is not None and drawn.is_interrupted:
        found.is_interrupted = True
        return {}
    union = [*found.losses(), *(drawn.losses() if drawn else [])]
    if exact.found:
        union += exact.found.losses()
    base = evaluator.losses(baseline)
    frame = Frame.around([*union, base] if base is not None else union)
    volume = frame.hypervolume(found.losses())
    result: dict[str, Any] = {
        "frame": {"ideal": frame.ideal, "reference": frame.reference},
        "hypervolume": volume,
        "exact": {
            "designs": exact.designs,
            "projected_seconds": round(exact.projected_seconds, 1),
            "budget_seconds": options.exact_budget_seconds,
        },
    }
    if drawn is not None:
        result["random"] = {
            "designs": len(drawn.counted),
            "front": len(drawn.front),
            "hypervolume": frame.hypervolume(drawn.losses()),
        }
    if exact.found:
        result["exact"] |= _against(exact, found, frame, volume)
    return result


def _against(exact: Exact, found: Found, frame: Frame, volume: float) -> dict[str, Any]:
    assert exact.found is not None
    points = exact.found.losses()
    whole = frame.hypervolume(points)
    return {
        "canonical_designs": len(exact.found.counted),
        "front": len(points),
        "share_found": len(set(points) & set(found.losses())) / len(points) if points else 1.0,
        "hypervolume": whole,
        "hypervolume_ratio": volume / whole if whole else 1.0,
    }


def _confirm(
    evaluator: Evaluator, rows: list[Evaluation], observer: Observer, found: Found
) -> list[Confirmation]:
    done = 0

    def on_result() -> None:
        nonlocal done
        done += 1
        observer(Progress("confirming", done, len(rows), front=len(rows)))

    observer(Progress("confirming", 0, len(rows), front=len(rows)))
    if not found.is_interrupted:
        try:
            return evaluator.confirm([row.canonical for row in rows], on_result=on_result)
        except KeyboardInterrupt:
            found.is_interrupted = True
    reason = "the search was interrupted"
    return [Confirmation(False, 0, 0, reason, was_run=False) for _ in rows]


def _counts(found: Found, evaluator: Evaluator, seconds: float) -> dict[str, Any]:
    return {
        "designs": len(found.counted),
        "feasible": found.feasible,
        "front": len(found.front),
        "cache_hits": evaluator.hits,
        "computed": evaluator.computed,
        "designs_per_second": round(len(found.counted) / max(seconds, 1e-9), 1),
        "busy_seconds": round(evaluator.busy_seconds, 3),
        "failed": len(evaluator.failures),
    }


def _history(found: Found) -> list[list[float]]:
    """(distinct designs, share of the last hypervolume) where the number of designs doubles."""
    kept: list[list[float]] = []
    for index, (count, volume) in enumerate(found.history):
        is_last = index == len(found.history) - 1
        if is_last or not kept or count >= 2 * kept[-1][0]:
            kept.append([count, volume / (found.history[-1][1] or 1.0)])
    return kept


def _failures(evaluator: Evaluator) -> list[str]:
    failed: Mapping[str, Any] = evaluator.failures
    reasons = sorted({result.error for result in failed.values()})
    shown = "; ".join(reasons[:3])
    return [f"{len(failed)} designs could not be evaluated: {shown}"] if failed else []


class _Clock:
    """Wall time of the phases of a run."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, phase: str) -> None:
        now = time.perf_counter()
        self.seconds[phase] = round(now - self._last, 3)
        self._last = now

"""`Evaluator`: designs in, judged evaluations out, from the cache where it has them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dse.backend import Backend
from dse.cache import Cache, digest_of
from dse.constraint import judge
from dse.dask_pool import DaskPool
from dse.design import Design
from dse.evaluation import Evaluation
from dse.learn.segment import Segment
from dse.measure.confirmation import Confirmation
from dse.metrics import METRICS, Quantity
from dse.pareto import Loss
from dse.pool import LIMIT_SECONDS, Pool
from dse.reductions import Reductions
from dse.space import Space
from dse.worker import Result, Setup, Task, evaluation_key


class SearchError(ValueError):
    """A space that cannot be searched as written; the message says why."""


@dataclass
class Pending:
    """Designs under way: what is known of them by position, and who waits for the others."""

    space: Space
    designs: Sequence[Design]
    found: dict[int, Evaluation]
    tickets: dict[int, int]


class Evaluator:
    """Evaluates designs of one space against its baseline and constraints.

    Attributes:
        can_dissect: The backend tells segments of programs.
        reductions: Which designs are known to come down to others; they are not evaluated.
        hits: Designs answered from the cache.
        computed: Designs that were compiled, run and priced.
        busy_seconds: Time those took in their workers, summed.
        failures: Errors of the backend, by design digest.
        notes: What the user should be told, each once.
    """

    def __init__(
        self,
        space: Space,
        backend: Backend,
        cache_folder: Path | None,
        jobs: int,
        limit_seconds: float = LIMIT_SECONDS,
        cluster: str | None = None,
    ) -> None:
        self.space = space
        version = digest_of(backend.digest, backend.evaluate, backend.confirm)
        self.cache = Cache(cache_folder, version)
        folder = None if cache_folder is None else str(cache_folder)
        setup = Setup(space.text, str(space.file), backend, folder, version)
        self.pool: Pool | DaskPool = (
            DaskPool(setup, cluster) if cluster else Pool(setup, jobs, limit_seconds)
        )
        self.can_dissect = bool(backend.segments)
        self.reductions = Reductions(space)
        self.known: dict[str, Evaluation] = {}
        self.baseline: Evaluation | None = None
        self.hits = 0
        self.computed = 0
        self.busy_seconds = 0.0
        self.failures: dict[str, Result] = {}
        self.notes: list[str] = []

    def evaluate(
        self,
        designs: Sequence[Design],
        *,
        workload: str | None = None,
        chunk: int = 1,
        on_result: Callable[[], None] = lambda: None,
    ) -> list[Evaluation]:
        """Evaluate designs, in their order; `on_result` is called after each."""
        return self.finish(self.begin(designs, workload=workload, chunk=chunk), on_result)

    def begin(
        self, designs: Sequence[Design], *, workload: str | None = None, chunk: int = 1
    ) -> Pending:
        """Have designs evaluated, `chunk` at a time by a worker, while the caller goes on."""
        space = self.space.for_workload(workload) if workload else self.space
        if not workload:
            designs = [self.reductions.apply(design) for design in designs]
        found: dict[int, Evaluation] = {}
        missing: list[int] = []
        for index, design in enumerate(designs):
            evaluation = None if workload else self.known.get(design.digest)
            if evaluation is None:
                data = self.cache.get("evaluation", evaluation_key(space, design))
                evaluation = Evaluation.from_json(data) if data is not None else None
            if evaluation is None:
                missing.append(index)
            else:
                found[index] = evaluation
        self._note(self.cache.notes)
        tasks = [Task("evaluate", designs[i].to_json(), workload) for i in missing]
        tickets = self.pool.put(tasks, chunk=chunk)
        return Pending(space, designs, found, dict(zip(tickets, missing, strict=True)))

    def finish(
        self, pending: Pending, on_result: Callable[[], None] = lambda: None
    ) -> list[Evaluation]:
        """Wait for designs that were begun; their evaluations, in order."""
        space, designs, found = pending.space, pending.designs, pending.found
        for _ in found:
            self.hits += 1
            on_result()
        for ticket, result in self.pool.take(pending.tickets):
            index = pending.tickets[ticket]
            found[index] = self._take(space, designs[index], result)
            on_result()
        if space is self.space:
            for index, design in enumerate(designs):
                self.reductions.learn(design, found[index].canonical)
        return [self._judged(found[index]) for index in range(len(designs))]

    def confirm(
        self,
        designs: Sequence[Design],
        *,
        is_fresh: bool = False,
        on_result: Callable[[], None] = lambda: None,
    ) -> list[Confirmation]:
        """Run each design's programs on its netlist, in parallel.

        Successes are remembered in the cache; `is_fresh` runs them again.
        """
        tasks = [Task("confirm", design.to_json(), is_fresh=is_fresh) for design in designs]
        found = [
            Confirmation(False, 0, 0, result.error)
            if result.data is None
            else Confirmation.from_json(result.data)
            for result in self._results("confirmation", tasks, on_result)
        ]
        self._note(self.cache.notes)
        return found

    def segments(self, asked: Sequence[tuple[str, Design]]) -> list[list[Segment]]:
        """The segments of workloads under designs; none where a program cannot be compiled."""
        tasks = [Task("segments", design.to_json(), workload) for workload, design in asked]
        found = []
        for result in self._results("segments", tasks):
            listed = result.data["segments"] if result.data is not None else []
            found.append([Segment.from_json(data) for data in listed])
        return found

    def set_baseline(self) -> Evaluation:
        """Evaluate the space's baseline; gains are counted against it from here on.

        Raises:
            SearchError: No variant of the baseline can be evaluated.
        """
        design = self.best_kernels(self.space.neutral.replace(self.space.baseline))
        baseline = self.evaluate([design])[0]
        if not baseline.metrics:
            failure = self.failures.get(design.digest)
            cause = RuntimeError(failure.details) if failure else None
            raise SearchError(f"baseline must be feasible, not: {baseline.reason}") from cause
        self.baseline = baseline
        return self._judged(baseline)

    def best_kernels(self, design: Design, fixed: Mapping[str, object] | None = None) -> Design:
        """`design` with the kernels of fewest cycles, then fewest bytes, that are feasible.

        `fixed` are parameters not to touch; by default those the baseline states.
        """
        kept = self.space.baseline if fixed is None else fixed
        changes = {}
        for use in self.space.workloads:
            name = f"kernel.{use.workload}"
            if name in kept or len(use.kernels) == 1:
                continue
            names = [p.name for p in self.space.for_workload(use.workload).parameters]
            own = {parameter: design[parameter] for parameter in names}
            candidates = [Design({**own, name: kernel}) for kernel in use.kernels]
            found = self.evaluate(candidates, workload=use.workload)
            ranks = [(_preference(evaluation), i) for i, evaluation in enumerate(found)]
            changes[name] = use.kernels[min(ranks)[1]]
        return design.replace(changes)

    def losses(self, evaluation: Evaluation) -> Loss | None:
        """The objectives, smaller is better; None where they were not all measured."""
        metrics = evaluation.metrics
        if any(o.metric not in metrics for o in self.space.objectives):
            return None
        return tuple(o.loss(metrics[o.metric].value) for o in self.space.objectives)

    def close(self) -> None:
        """End the workers and close the cache."""
        self.pool.close()
        self.cache.close()

    def _results(
        self, kind: str, tasks: Sequence[Task], on_result: Callable[[], None] = lambda: None
    ) -> list[Result]:
        """Results in the order of their tasks; no worker is bothered for what the cache holds."""
        found: dict[int, Result] = {}
        for index, task in enumerate(tasks):
            space = self.space.for_workload(task.workload) if task.workload else self.space
            key = evaluation_key(space, Design(task.design))
            data = None if task.is_fresh else self.cache.get(kind, key)
            if data is not None:
                found[index] = Result(data)
                on_result()
        missing = [index for index in range(len(tasks)) if index not in found]
        for position, result in self.pool.stream([tasks[index] for index in missing]):
            self._note(result.notes)
            found[missing[position]] = result
            on_result()
        return [found[index] for index in range(len(tasks))]

    def _take(self, space: Space, design: Design, result: Result) -> Evaluation:
        self._note(result.notes)
        if result.data is None:
            self.failures[design.digest] = result
            return Evaluation(design, feasible=False, reason=f"failed: {result.error}")
        self.computed += 1
        self.busy_seconds += result.seconds
        if self.cache.folder is None:
            canonical = Design(result.data["design"])
            for key in {evaluation_key(space, d) for d in (design, canonical)}:
                self.cache.put("evaluation", key, result.data)
        return Evaluation.from_json(result.data)

    def _judged(self, evaluation: Evaluation) -> Evaluation:
        is_alone = self.baseline is None
        if self.baseline is not None and evaluation.metrics:
            evaluation = relate(evaluation, self.baseline)
        constraints = [c for c in self.space.constraints if not (is_alone and c.is_relative)]
        evaluation = judge(evaluation, constraints)
        if is_alone or not evaluation.feasible:
            return evaluation
        absent = [o.metric for o in self.space.objectives if o.metric not in evaluation.metrics]
        if absent:
            technology = self.space.technology.name
            raise SearchError(
                f"objective {absent[0]} is not measured in technology {technology}; choose another"
            )
        losses = self.losses(evaluation)
        if losses is None or not all(math.isfinite(loss) for loss in losses):
            return replace(evaluation, feasible=False, reason="an objective is not a finite number")
        return evaluation

    def _note(self, notes: Sequence[str]) -> None:
        self.notes += [note for note in dict.fromkeys(notes) if note not in self.notes]


def relate(evaluation: Evaluation, baseline: Evaluation) -> Evaluation:
    """`evaluation` with the metrics that are relative to the baseline."""
    metrics = dict(evaluation.metrics)
    mine, theirs = metrics.get("time_ns"), baseline.metrics.get("time_ns")
    if mine is not None and theirs is not None and theirs.value > 0:
        errors = [q.error for q in (mine, theirs) if q.error is not None]
        error = sum(errors) if errors else None
        metrics["gain"] = Quantity(
            1 - mine.value / theirs.value, METRICS["gain"].unit, mine.rung, error
        )
    drawn, reference = metrics.get("switched"), baseline.metrics.get("switched")
    if drawn is not None and reference is not None:
        metrics["energy_rel"] = replace(drawn, value=drawn.value / reference.value, unit="")
    speedups = [
        baseline.workloads[name]["cycles"] / data["cycles"]
        for name, data in sorted(evaluation.workloads.items())
        if data.get("cycles") and baseline.workloads.get(name, {}).get("cycles")
    ]
    if speedups and len(speedups) == len(baseline.workloads):
        mean = math.exp(math.fsum(map(math.log, speedups)) / len(speedups))
        metrics["geomean_speedup"] = Quantity(mean, "", "exact")
    return replace(evaluation, metrics=metrics)


def _preference(evaluation: Evaluation) -> tuple[bool, float, float]:
    metrics = evaluation.metrics
    cycles = metrics["cycles"].value if "cycles" in metrics else math.inf
    size = sum(metrics[n].value for n in ("code_bytes", "data_bytes") if n in metrics)
    return (not evaluation.feasible, cycles, size)

"""How many designs the whole loop takes in a second: cached, cold, with two workers, on Dask.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.throughput [cached] [cold] [one] [two] [dask]
                                                           [--space SPACE] [--designs N]

`cached`: every sampler on `benchmarks/selection.py`, the cache filled before, the trial log
written. `cold`: the median of random designs of SPACE in an empty cache. `one`, `two` and `dask`:
the default sampler on SPACE in an empty cache, with one worker process, two, and two workers of a
Dask cluster that it starts on loopback; from the times of the tasks follows how long one and two
workers that have a processor each take, the parent's own time between them included. Where `one`
comes before `two` or `dask`, these say how many times as long it took by the wall clock: to be
heeded on a machine that is idle else. Times are processor time, of this process, its workers and
the synthesis they start, unless called wall time.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.samplers import UNSEEDED, instance
from dse.backend import Backend
from dse.bundled import find_space
from dse.cache import Cache
from dse.design import Design
from dse.evaluation import Evaluation
from dse.evaluator import Evaluator, Pending
from dse.exact import exhaustive_search
from dse.learn.discovery import MOST_RUNS, discover
from dse.measure.evaluate import evaluate
from dse.proposer import Proposer
from dse.random_search import random_search
from dse.run import Run
from dse.sampler import SAMPLERS, missing_library
from dse.search import Found, Progress, sampled_search
from dse.seeds import first_designs
from dse.space import Space, load_space
from dse.worker import Result

KINDS = ("cached", "cold", "one", "two", "dask")
ENUMERATION = "enumeration"
DEFAULT = "estimator"
_MANIFEST = dict.fromkeys(
    ("space_digest", "code_digest", "sampler", "seed", "batch", "exhaustive"), ""
)


def processor_seconds() -> float:
    """Processor time of this process and all its descendants, also those that still run."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        process = int(file.parent.name)
        parents[process] = int(fields[1])
        ticks[process] = sum(map(int, fields[11:15]))  # own and those of children waited for
    family = {os.getpid()}
    while grown := {child for child, parent in parents.items() if parent in family} - family:
        family |= grown
    return sum(ticks[process] for process in family) / os.sysconf("SC_CLK_TCK")


def _ignore(progress: Progress) -> None:
    pass


class Observed(Evaluator):
    """An evaluator that remembers when designs were begun and waited for, and their times.

    `events` are, in order: tasks that were begun, and how many of the oldest were waited for; each
    with the parent's processor time until then.
    """

    def __init__(self, *options: object, **named: object) -> None:
        super().__init__(*options, **named)  # type: ignore[arg-type]
        self.seconds: dict[str, float] = {}
        self.events: list[tuple[float, str, list[str]]] = []

    def begin(
        self, designs: Sequence[Design], *, workload: str | None = None, chunk: int = 1
    ) -> Pending:
        """As inherited, and remembered."""
        pending = super().begin(designs, workload=workload, chunk=chunk)
        self._note_event("begin", pending)
        return pending

    def finish(
        self, pending: Pending, on_result: Callable[[], None] = lambda: None
    ) -> list[Evaluation]:
        """As inherited, and remembered."""
        self._note_event("finish", pending)
        return super().finish(pending, on_result)

    def _note_event(self, kind: str, pending: Pending) -> None:
        digests = [pending.designs[index].digest for index in pending.tickets.values()]
        self.events.append((time.process_time(), kind, digests))

    def _take(self, space: Space, design: Design, result: Result) -> Evaluation:
        self.seconds[design.digest] = result.seconds
        return super()._take(space, design, result)

    def makespan(self, workers: int) -> float:
        """Seconds the recorded tasks take with so many workers that nothing else keeps busy."""
        free = [0.0] * workers
        ends: dict[str, float] = {}
        now, before = 0.0, self.events[0][0]
        for moment, kind, digests in self.events:
            now, before = now + moment - before, moment
            for digest in digests:
                if kind == "begin":
                    worker = free.index(min(free))
                    ends[digest] = free[worker] = max(now, free[worker]) + self.seconds[digest]
                else:
                    now = max(now, ends[digest])
        return now


def search(evaluator: Evaluator, sampler: str, designs: int, folder: Path) -> tuple[Found, int]:
    """Look into the programs and search, with the log written; also the runs of programs."""
    run = Run.claim(folder, _MANIFEST, resume=False)
    run.begin(_MANIFEST, evaluator.space.text)
    runs = 0
    try:
        if sampler == ENUMERATION:
            return exhaustive_search(evaluator, run, _ignore), runs
        if sampler == UNSEEDED:
            return random_search(evaluator, designs, 1, _ignore, run), runs
        structure = None
        if SAMPLERS[sampler].uses_structure:
            structure, runs = discover(evaluator, MOST_RUNS, _ignore)
        assert evaluator.baseline is not None
        seeds = first_designs(evaluator.space, evaluator.baseline.canonical, structure)
        proposer = Proposer(evaluator.space, sampler, 1, seeds, evaluator.reductions, structure)
        return sampled_search(evaluator, proposer, designs, run, _ignore), runs
    finally:
        run.close()


def cached(designs: int) -> None:
    """Print designs a second for every sampler, all evaluations from the cache."""
    import moocore  # noqa: F401 - not to be counted as time of the search
    import optuna  # noqa: F401

    names = [n for n in SAMPLERS if n not in ("auto", "gp") and not missing_library(n)]
    for sampler in (ENUMERATION, UNSEEDED, *names):
        with tempfile.TemporaryDirectory() as folder:
            took = 0.0
            for name in ("filling", "filled"):
                space, backend = instance("opaque" if sampler == ENUMERATION else "selection")
                if sampler == ENUMERATION:
                    space = _small(space)
                evaluator = Evaluator(space, backend, Path(folder) / "cache", int(name == "filled"))
                evaluator.set_baseline()
                start = processor_seconds()
                found, runs = search(evaluator, sampler, designs, Path(folder) / name)
                took = processor_seconds() - start
                evaluator.close()
            assert evaluator.computed == 0
            count = len(found.counted)
            print(
                f"cached  {sampler:14} {count / took:7.0f} designs/s of processor "
                f"({1000 * took / count:.2f} ms each; {count} designs, {runs} runs of programs)",
                flush=True,
            )


def _small(space: Space) -> Space:
    """The instance of 9 instructions: small enough to enumerate."""
    from benchmarks import selection

    return selection.space_of(9, 10, 11, [objective.metric for objective in space.objectives])


def cold(space: Space, designs: int) -> None:
    """Print the median time of random designs in an empty cache; each canonical one counts once."""
    drawn = list(space.designs())
    random.Random(1).shuffle(drawn)
    times: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder))
        for design in drawn:
            start = processor_seconds()
            found = evaluate(space=space, design=design, cache=cache)
            times.setdefault(found.canonical.digest, processor_seconds() - start)
            if len(times) == designs:
                break
        cache.close()
    ordered = sorted(times.values())
    tenth = ordered[9 * len(ordered) // 10]
    print(
        f"cold    {space.name}: median {statistics.median(ordered):.2f} s, 90 % within {tenth:.2f} "
        f"s, all {sum(ordered) / len(ordered):.2f} s a design ({len(ordered)} designs)"
    )


def parallel(space: Space, kind: str, designs: int, alone: float | None) -> float:
    """Print what a cold search costs the parent and its workers, and how well they are used.

    `alone` is the wall time of one worker process, in seconds; returns that of this search.
    """
    with tempfile.TemporaryDirectory() as folder, _cluster(kind) as address:
        jobs = 2 if kind == "two" else 1
        options = (space, Backend(), Path(folder) / "cache", jobs)
        evaluator = Observed(*options, cluster=address)
        evaluator.set_baseline()
        wall, own, start = time.perf_counter(), time.process_time(), processor_seconds()
        evaluator.events.clear()
        found, runs = search(evaluator, DEFAULT, designs, Path(folder) / "run")
        wall, own = time.perf_counter() - wall, time.process_time() - own
        every = processor_seconds() - start
        one, two = evaluator.makespan(1), evaluator.makespan(2)
        evaluator.close()
    count = len(found.counted)
    report = {
        "designs": count,
        "computed": evaluator.computed,
        "runs of programs": runs,
        "wall s": round(wall, 1),
        "processor s": round(every, 1),
        "of the parent, ms a design": round(1000 * own / count, 2),
        "two workers over one, from the times of the tasks": round(one / two, 2),
    }
    if alone is not None:
        report["one worker over this, wall time"] = round(alone / wall, 2)
    print(f"{kind:7} {space.name}: {json.dumps(report)}", flush=True)
    return wall


@contextmanager
def _cluster(kind: str) -> Iterator[str | None]:
    """A scheduler and two workers on loopback, where that is asked for."""
    if kind != "dask":
        yield None
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    started: list[subprocess.Popen[bytes]] = []

    def start(program: str, *words: str) -> None:
        command = [sys.executable, "-m", f"distributed.cli.{program}", *words, "--no-dashboard"]
        quiet = subprocess.DEVNULL
        started.append(subprocess.Popen(command, stdout=quiet, stderr=quiet))

    start("dask_scheduler", "--host", "127.0.0.1", "--port", address.rpartition(":")[2])
    for _ in range(2):
        start("dask_worker", address, "--no-nanny", "--nthreads", "1")
    try:
        yield address
    finally:
        for process in started:
            process.kill()
            process.wait()


def main() -> None:
    """Print what is asked for, all of it by default."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []])
    parser.add_argument("--space", default="aes")
    parser.add_argument("--designs", type=int, help="cached: 300; else 60")
    options = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # of the workers
    alone = None
    for kind in options.kinds or KINDS:
        if kind == "cached":
            cached(options.designs or 300)
            continue
        space, designs = load_space(find_space(options.space)), options.designs or 60
        if kind == "cold":
            cold(space, designs)
        else:
            wall = parallel(space, kind, designs, alone)
            alone = wall if kind == "one" else alone


if __name__ == "__main__":
    main()

"""Which small runs tell most about the segments of a space's programs.

A run compiles and executes the programs of one design, without any hardware. It shows, for every
segment, the best variant under that design's instructions. Leaving out one instruction of each
segment's best variant shows the next, so that few runs show most variants of all segments at once.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from dse.design import Design
from dse.encoding import Encoding, Rows
from dse.evaluator import Evaluator
from dse.search import Observer, Progress
from dse.segment import Segment
from dse.structure import Structure

MOST_RUNS = 80
_TOGETHER = 16
_TRIES = 24  # sets of instructions looked at before the most telling of them is run


def discover(evaluator: Evaluator, most: int, observer: Observer) -> tuple[Structure, int]:
    """Look into the programs of a space by at most so many runs; what they show, and how many."""
    encoding = Encoding(evaluator.space)
    structure = Structure(encoding)
    discovery = Discovery(encoding)
    runs = 0
    while evaluator.can_dissect and runs < most:
        questions = discovery.plan(min(_TOGETHER, most - runs))
        if not questions:
            break
        answers = evaluator.segments([(q.workload, q.design) for q in questions])
        for question, segments in zip(questions, answers, strict=True):
            discovery.learn(question, segments)
            structure.learn(encoding.row(question.design), segments)
        runs += len(questions)
        observer(Progress("segments", runs, most))
    return structure, runs


@dataclass(frozen=True)
class Question:
    """A run worth doing: one workload of one design; `removed` are the entries left out of it."""

    program: int
    workload: str
    design: Design
    removed: frozenset[str]


@dataclass
class _Program:
    """What is known of one kernel of one workload under the compiler's options.

    `answers` holds, for each set of entries left out, the entries that each segment used.
    """

    workload: str
    row: Rows
    answers: dict[frozenset[str], dict[str, frozenset[str]]] = field(default_factory=dict)

    def known(self, removed: frozenset[str]) -> dict[str, frozenset[str]]:
        """Segments whose variant without `removed` follows from what was run."""
        found: dict[str, frozenset[str]] = {}
        for asked, answer in self.answers.items():
            if asked <= removed:
                for name, uses in answer.items():
                    if not uses & removed:
                        found[name] = uses
        return found

    @property
    def segment_names(self) -> list[str]:
        return sorted({name for answer in self.answers.values() for name in answer})


class Discovery:
    """Proposes runs, best first, and takes their results; deterministic."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding
        self._random = random.Random(0)
        self._programs = list(self._contexts())

    def plan(self, count: int) -> list[Question]:
        """Up to `count` runs, at most one for each program; none when they would tell nothing."""
        found: list[Question] = []
        for index, program in enumerate(self._programs):
            removed = self._next(program) if len(found) < count else None
            if removed is not None:
                design = self.encoding.design(self._row(program, removed))
                found.append(Question(index, program.workload, design, removed))
        return found

    def learn(self, question: Question, segments: Sequence[Segment]) -> None:
        """Take the result of a run; no segments where its program could not be compiled."""
        answer = {s.name: frozenset(s.uses) for s in segments if s.workload == question.workload}
        self._programs[question.program].answers[question.removed] = answer

    def _contexts(self) -> Iterator[_Program]:
        """One program for every kernel and choice of the compiler's, all entries in."""
        encoding = self.encoding
        names = encoding.names
        full = np.zeros(len(names), dtype=np.int16)
        full[list(encoding.entry_columns.values())] = 1
        for use in encoding.space.workloads:
            varied = [
                column
                for column, name in enumerate(names)
                if name == f"kernel.{use.workload}" or name.startswith("compiler.")
            ]
            rows = [full]
            for column in varied:
                rows = [
                    np.concatenate([row[:column], [choice], row[column + 1 :]]).astype(np.int16)
                    for choice in range(encoding.sizes[column])
                    for row in rows
                ]
            for row, reduced in zip(rows, encoding.reduce(np.array(rows)), strict=True):
                if (row == reduced)[varied].all():  # else a kernel that no design here admits
                    yield _Program(use.workload, row)

    def _row(self, program: _Program, removed: frozenset[str]) -> Rows:
        row = program.row.copy()
        row[[self.encoding.entry_columns[entry] for entry in removed]] = 0
        return row

    def _next(self, program: _Program) -> frozenset[str] | None:
        """The set to leave out that shows most; None where all that follows is known."""
        answers = program.answers
        none, every = frozenset[str](), frozenset(self._removable(program))
        for removed in (none, every):
            if removed not in answers:
                return removed
        best: tuple[int, int, list[str]] | None = None
        for _ in range(_TRIES):
            tried = self._telling(program)
            if not tried or tried in answers:
                continue
            new = len(program.segment_names) - len(program.known(tried))
            key = (-new, len(tried), sorted(tried))
            if new > 0 and (best is None or key < best):
                best = key
        return frozenset(best[2]) if best else None

    def _telling(self, program: _Program) -> frozenset[str]:
        """Leave out one more used entry for one segment after another, until each is unknown."""
        removable = self._removable(program)
        removed: set[str] = set()
        names = program.segment_names
        self._random.shuffle(names)
        for name in names:
            uses = program.known(frozenset(removed)).get(name)
            choices = sorted(uses & removable) if uses else []
            if choices:
                removed.add(self._random.choice(choices))
        return frozenset(removed)

    def _removable(self, program: _Program) -> frozenset[str]:
        """Entries that the kernel can do without."""
        encoding = self.encoding
        use = next(u for u in encoding.space.workloads if u.workload == program.workload)
        column = f"kernel.{use.workload}"
        kernel = str(encoding.values(program.row).get(column, use.kernels[0]))
        needs = set(use.requires.get(kernel, ()))
        entries = {entry.name: entry for entry in encoding.space.entries}
        return frozenset(
            name for name in encoding.entry_columns if not needs & {name, *entries[name].provides}
        )

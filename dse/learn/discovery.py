"""Which small runs tell most about the segments of a space's programs.

A run compiles and executes the programs of one design, without any hardware. It shows, for every
segment, the best variant under that design's instructions. Leaving out one instruction of each
segment's best variant shows the next, so that few runs show most variants of all segments at once.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from dse.design import Design
from dse.evaluator import Evaluator
from dse.learn.encoding import Encoding, Rows
from dse.learn.segment import Segment
from dse.learn.structure import Structure
from dse.search import Observer, Progress
from dse.space import WorkloadUse

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

    `answers` holds, for each set of entries left out, the entries that each segment used; sets are
    masks of the entries that may be chosen.
    """

    workload: str
    row: Rows
    removable: int
    answers: dict[int, dict[str, int]] = field(default_factory=dict)

    def uses(self, name: str, removed: int) -> int | None:
        """What a segment uses without `removed`, where that follows from what was run."""
        for asked, answer in self.answers.items():
            used = answer.get(name)
            if not asked & ~removed and used is not None and not used & removed:
                return used
        return None

    @property
    def segment_names(self) -> list[str]:
        return sorted({name for answer in self.answers.values() for name in answer})


class Discovery:
    """Proposes runs, best first, and takes their results; deterministic."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding
        self._random = random.Random(0)
        self._bits = {name: 1 << n for n, name in enumerate(sorted(encoding.entry_columns))}
        self._programs = list(self._contexts())

    def plan(self, count: int) -> list[Question]:
        """Up to `count` runs, at most one for each program; none when they would tell nothing."""
        found: list[Question] = []
        for index, program in enumerate(self._programs):
            removed = self._next(program) if len(found) < count else None
            if removed is not None:
                names = frozenset(self._names(removed))
                design = self.encoding.design(self._row(program, names))
                found.append(Question(index, program.workload, design, names))
        return found

    def learn(self, question: Question, segments: Sequence[Segment]) -> None:
        """Take the result of a run; no segments where its program could not be compiled."""
        answer = {s.name: self._mask(s.uses) for s in segments if s.workload == question.workload}
        self._programs[question.program].answers[self._mask(question.removed)] = answer

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
                    yield _Program(use.workload, row, self._removable(use, row))

    def _row(self, program: _Program, removed: frozenset[str]) -> Rows:
        row = program.row.copy()
        row[[self.encoding.entry_columns[entry] for entry in removed]] = 0
        return row

    def _next(self, program: _Program) -> int | None:
        """The set to leave out that shows most; None where all that follows is known."""
        answers = program.answers
        for removed in (0, program.removable):
            if removed not in answers:
                return removed
        names = program.segment_names
        best: tuple[int, int, list[str], int] | None = None
        for _ in range(_TRIES):
            tried = self._telling(program, names)
            if not tried or tried in answers:
                continue
            new = sum(program.uses(name, tried) is None for name in names)
            key = (-new, tried.bit_count(), self._names(tried), tried)
            if new > 0 and (best is None or key < best):
                best = key
        return best[3] if best else None

    def _telling(self, program: _Program, names: Sequence[str]) -> int:
        """Leave out one more used entry for one segment after another, until each is unknown."""
        removed = 0
        for name in self._random.sample(names, len(names)):
            uses = program.uses(name, removed)
            choices = self._names(uses & program.removable) if uses else []
            if choices:
                removed |= self._mask([self._random.choice(choices)])
        return removed

    def _mask(self, names: Iterable[str]) -> int:
        return sum(self._bits.get(name, 0) for name in set(names))

    def _names(self, mask: int) -> list[str]:
        return [name for name, bit in self._bits.items() if mask & bit]

    def _removable(self, use: WorkloadUse, row: Rows) -> int:
        """Entries that the kernel can do without."""
        encoding = self.encoding
        kernel = str(encoding.values(row).get(f"kernel.{use.workload}", use.kernels[0]))
        needs = set(use.requires.get(kernel, ()))
        return self._mask(
            entry.name
            for entry in encoding.space.entries
            if not needs & {entry.name, *entry.provides}
        )

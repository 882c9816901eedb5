"""The search loop: batches of proposals evaluated, counted once, logged and told in order."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from dse.design import Design
from dse.evaluation import Evaluation
from dse.evaluator import Evaluator, Pending
from dse.interrupt import heed
from dse.pareto import Archive, Frame, Loss
from dse.proposer import Outcome, Proposal, Proposer

BATCH = 8
"""Designs asked for together; independent of the number of jobs, so that results are too."""
_FLAT = 1e-3
_SLOW_START = 8  # batches' worth of designs during which half as many are asked for
LISTED_BATCH = 16
LOGGED_BATCH = 64  # each ends in a write to disk


class Log(Protocol):
    """Where trials are recorded."""

    def trial(self, number: int, origin: str, asked: Design, evaluation: Evaluation) -> None:
        """Record the next distinct design."""

    def repeat(self, asked: Design, evaluation: Evaluation) -> None:
        """Record that a proposed design came down to one already counted."""

    def proved(self, asked: Design, evaluation: Evaluation) -> None:
        """Record a new design of the front of a model, which no search proposed."""

    def sync(self) -> None:
        """Make what was recorded durable."""


@dataclass
class Progress:
    """The state of a running search, for whoever displays it; `found` is what it has so far."""

    phase: str
    done: int
    total: int
    hits: int = 0
    front: int = 0
    hypervolume: float | None = None
    found: Found | None = None


Observer = Callable[[Progress], None]


@dataclass
class Found:
    """The distinct designs of a search: their losses, and the full evaluations of the front.

    `front` is by canonical digest; `history` is (distinct designs, hypervolume) after each batch,
    in units of the box around the first feasible batch: it may exceed 1. `is_whole` says that the
    space has no other design, `is_flat` that the search ended because the hypervolume no longer
    grew.
    """

    counted: set[str] = field(default_factory=set)
    feasible: int = 0
    front: dict[str, tuple[Loss, Evaluation]] = field(default_factory=dict)
    archive: Archive = field(default_factory=Archive)
    history: list[tuple[int, float]] = field(default_factory=list)
    is_interrupted: bool = False
    is_whole: bool = False
    is_flat: bool = False

    def count(self, evaluation: Evaluation, losses: Loss | None) -> bool:
        """Count a judged evaluation; False where its canonical design was counted before."""
        digest = evaluation.canonical.digest
        if digest in self.counted:
            return False
        self.counted.add(digest)
        if evaluation.feasible and losses is not None:
            self.feasible += 1
            if self.archive.add(losses):
                points = set(self.archive.points)
                self.front = {d: f for d, f in self.front.items() if f[0] in points}
                self.front[digest] = (losses, evaluation)
        return True

    def losses(self) -> list[Loss]:
        """Losses of the front, sorted."""
        return sorted(loss for loss, _ in self.front.values())

    def rows(self) -> list[Evaluation]:
        """The front, best first objective first."""
        ordered = sorted(self.front.items(), key=lambda item: (item[1][0], item[0]))
        return [evaluation for _, (_, evaluation) in ordered]


class _Loop:
    """What sampled, random and exhaustive search share: evaluate a batch, count, log, report."""

    def __init__(
        self, evaluator: Evaluator, log: Log | None, observer: Observer, phase: str
    ) -> None:
        self.evaluator = evaluator
        self.log = log
        self.observer = observer
        self.phase = phase
        self.found = Found()
        self._frame: Frame | None = None

    def batch(
        self, asked: Sequence[tuple[str, Design]], total: int, *, chunk: int = 1
    ) -> list[Evaluation]:
        """Evaluate designs, count the new ones in order, and show where the search stands."""
        designs = [design for _, design in asked]
        return self.finish(asked, self.evaluator.begin(designs, chunk=chunk), total)

    def finish(
        self, asked: Sequence[tuple[str, Design]], pending: Pending, total: int
    ) -> list[Evaluation]:
        """The same for designs whose evaluation was begun."""
        done = len(self.found.counted)

        def on_result() -> None:
            nonlocal done
            done += 1
            self._show(min(done, total), total)

        heed()
        evaluations = self.evaluator.finish(pending, on_result)
        for (origin, design), evaluation in zip(asked, evaluations, strict=True):
            is_new = self.found.count(evaluation, self.evaluator.losses(evaluation))
            if self.log is not None and is_new:
                self.log.trial(len(self.found.counted) - 1, origin, design, evaluation)
            elif self.log is not None:
                self.log.repeat(design, evaluation)
        if self.log is not None:
            self.log.sync()
        self._record()
        self._show(len(self.found.counted), total)
        return evaluations

    def _record(self) -> None:
        losses = self.found.losses()
        if losses and self._frame is None:
            self._frame = Frame.around(losses)
        if self._frame is not None:
            volume = self._frame.hypervolume(losses, is_open=True)
            self.found.history.append((len(self.found.counted), volume))

    def _show(self, done: int, total: int) -> None:
        hypervolume = self.found.history[-1][1] if self.found.history else None
        front, hits = len(self.found.front), self.evaluator.hits
        self.observer(Progress(self.phase, done, total, hits, front, hypervolume, self.found))


def sampled_search(
    evaluator: Evaluator,
    proposer: Proposer,
    trials: int,
    log: Log | None,
    observer: Observer,
    size: int = BATCH,
    plateau: int | None = None,
) -> Found:
    """Evaluate `trials` distinct designs that the proposer asks for, or all there are.

    They are asked for `size` at a time, each batch while the one before is under way, so that no
    worker waits for its slowest design. At first it is half as many, one batch after another: the
    less is known, the more the results of a batch change the next. The search ends early when
    `plateau` designs in a row have enlarged the hypervolume by less than a thousandth.
    """
    loop = _Loop(evaluator, log, observer, "search")
    found = loop.found
    ahead: deque[tuple[list[Proposal], Pending]] = deque()
    batch = 0
    try:
        while len(found.counted) < trials:
            known = len(found.counted)
            is_begun = known >= _SLOW_START * size
            wanted, most = (size, 2) if is_begun else (max(1, size // 2), 1)
            while len(ahead) < most:
                left = trials - known - sum(len(proposals) for proposals, _ in ahead)
                proposals = proposer.ask(batch, min(wanted, left)) if left else []
                if not proposals:
                    break
                ahead.append((proposals, evaluator.begin([p.design for p in proposals])))
                batch += 1
            if not ahead:
                found.is_whole = True
                break
            proposals, pending = ahead.popleft()
            evaluations = loop.finish([(p.origin, p.design) for p in proposals], pending, trials)
            _tell(proposer, evaluator, proposals, evaluations)
            proposer.front = [evaluation.canonical for evaluation in found.rows()]
            if plateau is not None and _is_flat(found.history, plateau):
                found.is_flat = True
                break
    except KeyboardInterrupt:
        found.is_interrupted = True
    return found


def _is_flat(history: Sequence[tuple[int, float]], plateau: int) -> bool:
    """Whether the last so many designs enlarged the hypervolume by less than a thousandth."""
    if not history:
        return False
    count, volume = history[-1]
    before = [past for known, past in history if known <= count - plateau]
    return bool(before) and volume <= before[-1] * (1 + _FLAT)


def _tell(
    proposer: Proposer,
    evaluator: Evaluator,
    proposals: Sequence[Proposal],
    evaluations: Sequence[Evaluation],
) -> None:
    constraints = evaluator.space.constraints
    for proposal, evaluation in zip(proposals, evaluations, strict=True):
        losses = evaluator.losses(evaluation) if evaluation.metrics else None
        outcome = Outcome.of(evaluation, losses, constraints)
        proposer.tell(proposal, evaluation.canonical, outcome)


def _unknown(
    evaluator: Evaluator, found: Found, listed: Sequence[tuple[str, Design]]
) -> list[tuple[str, Design]]:
    """Those that are not known to come down to a design counted before."""
    reduced = ((origin, evaluator.reductions.apply(design)) for origin, design in listed)
    return [(origin, design) for origin, design in reduced if design.digest not in found.counted]


def listed_search(
    evaluator: Evaluator,
    designs: Iterator[tuple[str, Design]],
    total: int,
    log: Log | None,
    observer: Observer,
    *,
    phase: str,
    deadline: Callable[[Found], bool] = lambda found: False,
) -> Found:
    """Evaluate designs from an iterator until `total` distinct ones, its end or the deadline."""
    loop = _Loop(evaluator, log, observer, phase)
    found = loop.found
    try:
        while len(found.counted) < total and not deadline(found):
            size = min(LOGGED_BATCH if log else LISTED_BATCH, total - len(found.counted))
            taken = list(itertools.islice(designs, size))
            if not taken:
                break
            loop.batch(_unknown(evaluator, found, taken), total, chunk=4)
        found.is_whole = next(designs, None) is None
    except KeyboardInterrupt:
        found.is_interrupted = True
    return found


def extend(
    evaluator: Evaluator,
    found: Found,
    designs: Sequence[Design],
    log: Log | None,
    observer: Observer,
    *,
    phase: str,
) -> list[Evaluation]:
    """Evaluate designs that a search did not propose; the new ones count as found."""
    done = 0

    def on_result() -> None:
        nonlocal done
        done += 1
        front, hits = len(found.front), evaluator.hits
        observer(Progress(phase, done, len(designs), hits, front, found=found))

    evaluations = evaluator.evaluate(designs, on_result=on_result)
    for design, evaluation in zip(designs, evaluations, strict=True):
        if found.count(evaluation, evaluator.losses(evaluation)) and log is not None:
            log.proved(design, evaluation)
    if log is not None:
        log.sync()
    return evaluations

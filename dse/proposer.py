"""`Proposer`: asks an Optuna sampler for designs that are new, and tells it what came of them."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dse.constraint import Constraint
from dse.design import Design, format_value
from dse.evaluation import Evaluation
from dse.pareto import Loss
from dse.reductions import Reductions
from dse.sampler import CANONICAL, SAMPLERS, Known, batch_seed
from dse.space import Space
from dse.suggestion import one_of

if TYPE_CHECKING:
    from optuna.trial import Trial

    from dse.learn.structure import Structure

# asks per wanted design before the batch is filled from the neighbourhood of the front instead
_PATIENCE = 4
_NEIGHBOUR_TRIES = 200


@dataclass
class Proposal:
    """A reduced design to evaluate, where it came from, and the Optuna trials waiting for it."""

    design: Design
    origin: str
    waiting: list[Trial] = field(default_factory=list)


@dataclass(frozen=True)
class Outcome:
    """What the sampler is told: losses (None where there are none) and violated constraints."""

    losses: Loss | None
    violations: tuple[float, ...]

    @classmethod
    def of(
        cls, evaluation: Evaluation, losses: Loss | None, constraints: Sequence[Constraint]
    ) -> Outcome:
        """Of a judged evaluation."""
        if losses is None or not evaluation.metrics:
            return cls(None, ())
        return cls(losses, tuple(c.violation(evaluation.metrics) for c in constraints))


class Proposer:
    """The sampler's side of the search; entirely determined by (space, sampler, seed, results).

    Every parameter is sampled always and inactive ones are made neutral afterwards: samplers that
    evolve designs ignore conditional parameters. A design already known is answered at once from
    what is known and another is asked for, as it is for one that is under way.
    """

    def __init__(
        self,
        space: Space,
        sampler: str,
        seed: int,
        seeds: Sequence[tuple[str, Design]],
        reductions: Reductions,
        structure: Structure | None = None,
    ) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.space = space
        self.reductions = reductions
        self.kind = SAMPLERS[sampler]
        self.sampler_name = sampler
        self.seed = seed
        self.known: dict[str, Outcome] = {}
        self._asked: dict[str, Proposal] = {}
        self.front: list[Design] = []
        self._beside = Known(space, structure, reductions)
        self._seeds = deque(seeds)
        self._rest: Iterator[Design] | None = None
        self._fixed = {p.name: p.neutral for p in space.parameters if len(p.choices) == 1}
        self._study = optuna.create_study(
            directions=["minimize"] * len(space.objectives),
            sampler=self.kind.build(batch_seed(seed, 0), self._beside),
        )

    def ask(self, batch: int, count: int) -> list[Proposal]:
        """Up to `count` proposals with designs not asked for before; none when all are known."""
        if self.kind.is_reseeded and batch > 0:
            self._study.sampler = self.kind.build(batch_seed(self.seed, batch), self._beside)
        proposals: dict[str, Proposal] = {}
        while self._seeds and len(proposals) < count:
            origin, seed = self._seeds.popleft()
            design = self.reductions.apply(seed)
            if self._is_new(design, proposals):
                self._check_choices(origin, design)
                proposals[design.digest] = Proposal(design, origin, [self._enqueued(design)])
        for _ in range(_PATIENCE * count):
            if len(proposals) == count:
                break
            trial = self._study.ask(dict(self._beside.distributions))
            design = self.reductions.apply(self.space.reduce({**self._fixed, **trial.params}))
            asked = proposals.get(design.digest) or self._asked.get(design.digest)
            if design.digest in self.known:
                trial.set_user_attr(CANONICAL, design.text)
                self._tell(trial, self.known[design.digest])
            elif asked is not None:
                asked.waiting.append(trial)
            else:
                proposals[design.digest] = Proposal(design, self.sampler_name, [trial])
        if len(proposals) < count:
            for origin, design in self._unseen(batch, count - len(proposals), proposals):
                proposals[design.digest] = Proposal(design, origin, [self._enqueued(design)])
        self._asked |= proposals
        return list(proposals.values())

    def tell(self, proposal: Proposal, canonical: Design, outcome: Outcome) -> None:
        """Report what a proposed design came down to and how it did, in order."""
        self.known[proposal.design.digest] = self.known[canonical.digest] = outcome
        del self._asked[proposal.design.digest]
        for trial in proposal.waiting:
            trial.set_user_attr(CANONICAL, canonical.text)
            self._tell(trial, outcome)

    def _is_new(self, design: Design, proposals: dict[str, Proposal]) -> bool:
        return not any(design.digest in seen for seen in (self.known, self._asked, proposals))

    def _check_choices(self, origin: str, design: Design) -> None:
        """Refuse a value that is no choice: Optuna takes it, with a warning."""
        for parameter in self.space.free:
            value = design[parameter.name]
            if repr(value) not in map(repr, parameter.choices):
                accepted = one_of([format_value(choice) for choice in parameter.choices])
                raise ValueError(
                    f"seed {origin}: {parameter.name} must be {accepted}, not {value!r}"
                )

    def _enqueued(self, design: Design) -> Trial:
        """An Optuna trial of a given design, every value of which is one of its choices."""
        self._study.enqueue_trial({p.name: design[p.name] for p in self.space.free})
        trial = self._study.ask(dict(self._beside.distributions))
        # without this, NSGA-II never gives a fully enqueued trial a generation of its gene pool
        _ = trial.relative_params
        return trial

    def _tell(self, trial: Trial, outcome: Outcome) -> None:
        import optuna

        if outcome.losses is None:
            self._study.tell(trial, state=optuna.trial.TrialState.FAIL)
            return
        for index, violation in enumerate(outcome.violations):
            trial.set_constraint(str(index), violation)
        self._study.tell(trial, list(outcome.losses))

    def _unseen(
        self, batch: int, count: int, proposals: dict[str, Proposal]
    ) -> list[tuple[str, Design]]:
        """New designs the sampler did not think of: neighbours of the front, then any."""
        generator = random.Random(batch_seed(self.seed, -1 - batch))
        found: dict[str, tuple[str, Design]] = {}
        free = self.space.free
        for _ in range(_NEIGHBOUR_TRIES if self.front and free else 0):
            if len(found) == count:
                break
            start = generator.choice(self.front)
            changed = generator.sample(free, min(len(free), generator.choice((1, 1, 2))))
            changes = {p.name: generator.choice(p.choices) for p in changed}
            design = self.reductions.apply(self.space.reduce(start.replace(changes)))
            if self._is_new(design, proposals):
                found.setdefault(design.digest, ("neighbour", design))
        self._rest = self._rest or self.space.designs()
        while len(found) < count:
            rest = next(self._rest, None)
            if rest is None:
                break
            design = self.reductions.apply(rest)
            if self._is_new(design, proposals):
                found.setdefault(design.digest, ("remaining", design))
        return list(found.values())

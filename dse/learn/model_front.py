"""The front of a `Model`: CP-SAT minimises one objective at ever smaller caps of the other.

Needs ortools, the extra `exact`. The solver runs on one thread and with a fixed seed: unless its
time ends, the same model has the same front.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np

from dse.interrupt import POLL_SECONDS, heed
from dse.learn.encoding import Rows
from dse.learn.model import Model, Pairs, Program, Response, Way

LIBRARY = "ortools"


@dataclass(frozen=True)
class Point:
    """One design of the model's front, in the units of the model.

    Attributes:
        row: The design.
        losses: Its two objectives.
        bound: No design within the cap has less in the first objective; proven. It is that
            objective itself where the solver finished.
        cap: What the second objective had to keep to; None for none.
    """

    row: Rows
    losses: tuple[int, int]
    bound: int
    cap: int | None


@dataclass(frozen=True)
class ModelFront:
    """Points from the least first objective to the least second.

    Attributes:
        points: As found; each is the least of its cap where `is_proven`.
        is_complete: No design of the model's front is missing, each proven optimal.
        solves: Calls of the solver.
        seconds: Time they took.
        solver: Name and version.
    """

    points: tuple[Point, ...]
    is_complete: bool
    solves: int
    seconds: float
    solver: str

    def bound(self, cap: int | None) -> int | None:
        """What the first objective was proven not to fall below under a cap of the second."""
        known = None
        for point in self.points:
            known = point.bound
            if cap is None or point.losses[1] <= cap:
                return known
        return None if self.is_complete else known


def model_front(
    model: Model, limit_seconds: float, on_point: Callable[[int], None] = lambda count: None
) -> ModelFront:
    """The front of a model; what of it is found in time, where that ends first."""
    problem = _Problem(model, _library())
    started = time.monotonic()
    points: list[Point] = []
    solves = 0
    cap: int | None = None
    is_complete = False
    while (left := limit_seconds - (time.monotonic() - started)) > 0:
        solves += 1
        # a smaller cap does not make the first objective less
        solution = problem.solve(cap, points[-1].bound if points else None, left)
        if solution is None:
            is_complete = all(point.bound == point.losses[0] for point in points)
            break
        if solution.row is None:
            break
        losses = model.losses(solution.row[None])[0]
        points.append(Point(solution.row, (int(losses[0]), int(losses[1])), solution.bound, cap))
        on_point(len(points))
        if not solution.is_optimal:
            break
        cap = int(losses[1]) - 1
    seconds = time.monotonic() - started
    return ModelFront(tuple(points), is_complete, solves, seconds, f"CP-SAT of {_version()}")


@dataclass(frozen=True)
class _Solution:
    """The best design found (None where there was no time to find one), and a proven bound."""

    row: Rows | None
    bound: int
    is_optimal: bool


class _Problem:
    """A model in the terms of CP-SAT: a literal for each choice and for each way of a segment."""

    def __init__(self, model: Model, cp_model: Any) -> None:
        self.cp_model = cp_model
        self.cp: Any = cp_model.CpModel()
        self.encoding = model.encoding
        self._all: dict[Pairs, Any] = {}
        self._choices = [self._one_of(int(size)) for size in self.encoding.sizes]
        self._admit()
        self._programs = [(p, self._ways(p)) for p in model.programs]
        self._use_all()
        first, second = (self._value(response) for response in model.objectives)
        self._objectives = first[0], second[0]
        _, self._low, self._most = second
        for response, limit in model.limits:
            self.cp.add(self._value(response)[0] <= limit)

    def solve(self, cap: int | None, least: int | None, seconds: float) -> _Solution | None:
        """The design of least first objective, then of least second, within a cap of the second.

        `least` is what the first is known not to fall below. None where there is no design.
        """
        cp = self.cp.clone()
        first, second = (cp.get_int_var_from_proto_index(o.index) for o in self._objectives)
        most = self._most if cap is None else min(cap, self._most)
        cp.add(second <= most)
        if least is not None:
            cp.add(first >= least)
        low = min(0, self._low)
        weight = most - low + 1
        cp.minimize(first * weight + second)
        solver = self.cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 1
        solver.parameters.max_time_in_seconds = seconds
        # these take longer than they save
        solver.parameters.cp_model_probing_level = 0
        solver.parameters.symmetry_level = 0
        solver.parameters.linearization_level = 0
        status = _solved(solver, cp)
        if status == self.cp_model.INFEASIBLE:
            return None
        bound = math.ceil((int(solver.best_objective_bound) - most) / weight)
        if status not in (self.cp_model.OPTIMAL, self.cp_model.FEASIBLE):
            return _Solution(None, bound, is_optimal=False)
        row = [
            next(i for i, literal in enumerate(literals) if self._is_true(solver, cp, literal))
            for literals in self._choices
        ]
        is_optimal = status == self.cp_model.OPTIMAL
        bound = int(solver.value(first)) if is_optimal else bound
        return _Solution(np.array(row, dtype=np.int16), bound, is_optimal)

    @staticmethod
    def _is_true(solver: Any, cp: Any, literal: Any) -> bool:
        index = literal.index
        if index < 0:
            return not solver.value(cp.get_bool_var_from_proto_index(-index - 1))
        return bool(solver.value(cp.get_bool_var_from_proto_index(index)))

    def _one_of(self, size: int) -> list[Any]:
        if size == 2:
            one = self.cp.new_bool_var("")
            return [one.negated(), one]
        literals = [self.cp.new_bool_var("") for _ in range(size)]
        self.cp.add_exactly_one(literals)
        return literals

    def _literals(self, pairs: Iterable[tuple[int, int]]) -> list[Any]:
        return [self._choices[column][choice] for column, choice in sorted(pairs)]

    def _every(self, pairs: Pairs) -> Any:
        """A literal that is true where all pairs are taken."""
        if not pairs:
            return self.cp.new_constant(1)
        if len(pairs) == 1:
            return self._literals(pairs)[0]
        if pairs not in self._all:
            literals = self._literals(pairs)
            both = self.cp.new_bool_var("")
            for literal in literals:
                self.cp.add_implication(both, literal)
            self.cp.add_bool_or([both, *(literal.negated() for literal in literals)])
            self._all[pairs] = both
        return self._all[pairs]

    def _admit(self) -> None:
        """Keep to reduced designs: kernels that can be compiled, neutral where it cannot matter."""
        space = self.encoding.space
        columns = {name: column for column, name in enumerate(self.encoding.names)}
        for parameter in space.free:
            condition = parameter.condition
            if condition is None:
                continue
            choices = space.by_name[condition.parameter].choices
            owner = columns.get(condition.parameter)
            neutral = self._choices[columns[parameter.name]][0]
            for index, choice in enumerate(choices):
                if choice not in condition.values:
                    holder = [] if owner is None else [self._choices[owner][index].negated()]
                    self.cp.add_bool_or([neutral, *holder])
        for use in space.workloads:
            column = columns.get(f"kernel.{use.workload}")
            for index, kernel in enumerate(use.kernels):
                held = [] if column is None else [self._choices[column][index].negated()]
                for need in use.requires.get(kernel, ()):
                    serving = self._serving(need, columns)
                    if serving is not None:
                        self.cp.add_bool_or([*held, *serving])

    def _serving(self, need: str, columns: dict[str, int]) -> list[Any] | None:
        """Literals of the entries that bring an instruction; None where it is always there."""
        space = self.encoding.space
        bringing = [e.name for e in space.entries if need in (e.name, *e.provides)]
        always = need in (space.base, *space.base_provides)
        if always or any(name not in columns for name in bringing):
            return None
        return [self._choices[columns[name]][1] for name in bringing]

    def _ways(self, program: Program) -> list[list[Any]]:
        """A literal for each way of each segment: which is taken, where the program runs."""
        running = self._every(program.context)
        found = []
        for ways in program.segments:
            literals = [self.cp.new_bool_var("") for _ in ways]
            self.cp.add(sum(literals) == running)
            for index, way in enumerate(ways):
                if index < len(ways) - 1:
                    for literal in self._literals(way.needs):
                        self.cp.add_implication(literals[index], literal)
                absent = [literal.negated() for literal in self._literals(way.needs)]
                for later in literals[index + 1 :]:  # the first that lacks nothing is taken
                    self.cp.add_bool_or([later.negated(), *absent])
            found.append(literals)
        return found

    def _use_all(self) -> None:
        """No instruction is in that no program uses."""
        for column in self.encoding.entry_columns.values() if self._programs else ():
            using = [
                literal
                for program, rows in self._programs
                for ways, literals in zip(program.segments, rows, strict=True)
                for way, literal in zip(ways, literals, strict=True)
                if any(needed == column for needed, _ in way.needs)
            ]
            self.cp.add_bool_or([self._choices[column][0], *using])

    def _value(self, response: Response) -> tuple[Any, int, int]:
        """A variable with the value of a response, and its range."""
        terms = [(value, self._every(pairs)) for pairs, value in _sorted(response.sums)]
        if response.feature is not None:
            settings = [(setting, self._every(setting)) for setting in response.settings]
            for program, rows in self._programs:
                running = [self._every(program.context | setting) for setting, _ in settings]
                for ways, literals in zip(program.segments, rows, strict=True):
                    terms += self._costs(response, program, ways, literals, running)
        low = response.least
        high = max(low, sum(max(0, value) for value, _ in terms))
        # it is only ever minimised or capped, so that it need not be equal but no less
        value = self.cp.new_int_var(low, high, "")
        self.cp.add(value >= sum(coefficient * literal for coefficient, literal in terms))
        return value, low, high

    def _costs(
        self,
        response: Response,
        program: Program,
        ways: Sequence[Way],
        literals: Sequence[Any],
        running: Sequence[Any],
    ) -> list[tuple[int, Any]]:
        """What each way costs under each setting: one literal for every pair of them."""
        if len(response.settings) == 1:
            setting = response.settings[0]
            costs = [response.cost(way, program.context, setting) for way in ways]
            return list(zip(costs, literals, strict=True))
        table = [[self.cp.new_bool_var("") for _ in running] for _ in ways]
        for row, literal in zip(table, literals, strict=True):
            self.cp.add(sum(row) == literal)
        for column, runs in zip(zip(*table, strict=True), running, strict=True):
            self.cp.add(sum(column) == runs)
        return [
            (response.cost(way, program.context, setting), literal)
            for way, row in zip(ways, table, strict=True)
            for setting, literal in zip(response.settings, row, strict=True)
        ]


def _solved(solver: Any, cp: Any) -> Any:
    """The status of the solver, which a thread runs so that this one heeds Ctrl-C."""
    solver.parameters.catch_sigint_signal = False
    with ThreadPoolExecutor(1) as executor:
        status = executor.submit(solver.solve, cp)
        try:
            while not status.done():
                wait([status], POLL_SECONDS)
                heed()
        except KeyboardInterrupt:
            solver.stop_search()
            raise
    return status.result()


def _sorted(sums: Mapping[Pairs, int]) -> list[tuple[Pairs, int]]:
    return sorted(sums.items(), key=lambda item: sorted(item[0]))


def _library() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from ortools.sat.python import cp_model
    return cp_model


def _version() -> str:
    from importlib.metadata import version

    return f"{LIBRARY} {version(LIBRARY)}"

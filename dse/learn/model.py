"""`Model`: the estimator's structure as integer arithmetic, so that a solver can reason on it.

A program's segments cost the least among the known ways whose instructions are all present, as in
`dse.learn.structure`. An objective is what its programs cost, times a factor that the other choices
decide, and a sum over choices, alone and in pairs. Nothing here is a result: its designs are
evaluated.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.learn.encoding import Encoding, Rows
from dse.learn.regression import fit
from dse.learn.structure import Floats, Structure

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Pairs = frozenset[tuple[int, int]]
"""(column, choice) pairs that must all be taken."""
_UNITS = 2**20  # the largest value of an objective
_MOST_SETTINGS = 48  # of the choices that decide a factor, beside those that decide the program
_CYCLES, _BYTES = range(2)
# what a metric is taken to be proportional to; others are sums over the choices alone
_FEATURES = {
    **dict.fromkeys(("cycles", "cycles_per_byte", "instructions", "time_ns"), _CYCLES),
    **dict.fromkeys(("tap_silicon_ge", "tap_silicon_luts", "tap_ise", "tap_code"), _CYCLES),
    "code_bytes": _BYTES,
}


@dataclass(frozen=True)
class Way:
    """One way to run a segment: what it needs, and what it takes in cycles (weighted) and bytes."""

    needs: Pairs
    costs: tuple[float, float]


@dataclass(frozen=True)
class Program:
    """The segments of a workload under some choices: ways of each, the one taken first first.

    The first whose needs are all there is taken, and the last where there is none.
    """

    context: Pairs
    segments: tuple[tuple[Way, ...], ...]

    def running(self, rows: Rows) -> NDArray[np.intp]:
        """Which rows run it."""
        return np.nonzero(holds(self.context, rows))[0]


@dataclass(frozen=True)
class Response:
    """An objective in integers: of each way of each segment, and of choices.

    Attributes:
        feature: Which cost of a way counts; None for none.
        factors: What that cost is multiplied by: coefficients whose pairs are all taken, summed.
        settings: Pairs that decide the factors beside the context of a program; one of them holds.
        sums: Integers added where all pairs are taken.
        least: Values below it are cut off.
        unit: Of the integers.
    """

    feature: int | None
    factors: dict[Pairs, float]
    settings: tuple[Pairs, ...]
    sums: dict[Pairs, int]
    least: int
    unit: float

    def cost(self, way: Way, context: Pairs, setting: Pairs) -> int:
        """What a way adds in a program of this context, under this setting."""
        if self.feature is None:
            return 0
        decided = context | setting
        factor = sum(value for pairs, value in self.factors.items() if pairs <= decided)
        return round(way.costs[self.feature] * factor / self.unit)

    def at(self, rows: Rows, programs: Sequence[Program]) -> Integers:
        """Its value at each row."""
        value = np.zeros(len(rows), dtype=np.int64)
        for pairs, coefficient in self.sums.items():
            value += coefficient * holds(pairs, rows)
        for program in programs if self.feature is not None else ():
            for setting in self.settings:
                where = np.nonzero(holds(program.context | setting, rows))[0]
                for ways in program.segments if len(where) else ():
                    costs = np.array([self.cost(w, program.context, setting) for w in ways])
                    value[where] += costs[taken(ways, rows[where])]
        return np.maximum(value, self.least)


class Model:
    """What two objectives are taken to be, and which designs to be feasible.

    Attributes:
        encoding: Of the designs.
        programs: What their segments cost.
        objectives: The two losses.
        limits: Values that must not exceed so many units.
    """

    def __init__(
        self,
        structure: Structure,
        metrics: Sequence[str],
        rows: Rows,
        losses: Floats,
        violations: Floats,
    ) -> None:
        """Fit to designs evaluated.

        Args:
            structure: Segments of the programs.
            metrics: What the two losses are of.
            rows: Designs evaluated.
            losses: Of each, a column for each metric; smaller is better.
            violations: Of each, a column for each constraint of the space.
        """
        self.encoding: Encoding = structure.encoding
        self.programs = list(_programs(structure))
        space = self.encoding.space
        self.objectives = [
            self._respond(metric, rows, losses[:, k]) for k, metric in enumerate(metrics)
        ]
        self.limits: list[tuple[Response, int]] = []
        for constraint, values in zip(space.constraints, violations.T, strict=True):
            beyond = values[values > 0]
            if len(beyond) and len(beyond) < len(values):
                response = self._respond(constraint.metric, rows, values)
                # half of the least excess seen: fitted values are not exact at the bound
                self.limits.append((response, int(beyond.min() / 2 / response.unit)))

    def losses(self, rows: Rows) -> Integers:
        """Both objectives of each row, in their units."""
        return np.column_stack([r.at(rows, self.programs) for r in self.objectives])

    def predict(self, rows: Rows) -> Floats:
        """Both objectives of each row."""
        found: Floats = self.losses(rows) * np.array([r.unit for r in self.objectives])
        return found

    def admits(self, rows: Rows) -> Booleans:
        """Whether reduced rows are taken to be feasible, with no instruction that is not used."""
        columns = list(self.encoding.entry_columns.values())
        used = np.zeros(rows.shape, dtype=bool)
        for program in self.programs:
            where = program.running(rows)
            for ways in program.segments if len(where) else ():
                which = taken(ways, rows[where])
                for index, way in enumerate(ways):
                    used[np.ix_(where[which == index], [c for c, _ in way.needs])] = True
        found: Booleans = (used[:, columns] | (rows[:, columns] == 0)).all(axis=1)
        found |= not self.programs
        for response, limit in self.limits:
            found &= response.at(rows, self.programs) <= limit
        return found

    def _respond(self, metric: str, rows: Rows, values: Floats) -> Response:
        feature = _FEATURES.get(metric) if self.programs else None
        unit = max(float(np.abs(values).max()), 1e-12) / _UNITS
        deciding: set[int] = set()
        always: dict[tuple[bool, Pairs], Floats] = {}
        joining: dict[tuple[bool, Pairs], Floats] = {}
        marks = list(self._marks())
        if feature is not None:
            deciding = self._deciding()
            always[True, frozenset()] = self._scaled(frozenset(), deciding, feature, rows)
            scaled = [pairs for pairs in marks if _columns(pairs) <= self._contexts | deciding]
            for pairs in scaled:
                always[True, pairs] = self._scaled(pairs, deciding, feature, rows)
            for pairs in _joint(scaled):
                joining[True, pairs] = self._scaled(pairs, deciding, feature, rows)
            marks = [pairs for pairs in marks if pairs not in scaled]
        always[False, frozenset()] = np.ones(len(rows))
        for pairs in marks:
            always[False, pairs] = holds(pairs, rows).astype(float)
        for pairs in _joint(marks):
            joining[False, pairs] = holds(pairs, rows).astype(float)
        found = fit(always, joining, values)
        factors = {pairs: value for (is_scaled, pairs), value in found.items() if is_scaled}
        sums = {p: round(value / unit) for (is_scaled, p), value in found.items() if not is_scaled}
        low, high = float(values.min()), float(values.max())
        least = low / 2 if low > 0 else low - (high - low)
        settings = [
            frozenset(zip(sorted(deciding), choice, strict=True))
            for choice in itertools.product(*self._choices(sorted(deciding)))
        ]
        sums = {pairs: value for pairs, value in sums.items() if value}
        return Response(feature, factors, tuple(settings), sums, int(least // unit), unit)

    @property
    def _contexts(self) -> set[int]:
        """Columns that decide which program runs."""
        return {column for program in self.programs for column, _ in program.context}

    def _deciding(self) -> set[int]:
        """Columns of the core, then of others, that may decide a factor."""
        names = self.encoding.names
        apart = self._contexts | set(self.encoding.entry_columns.values())
        found: set[int] = set()
        settings = 1
        for column in sorted(range(len(names)), key=lambda c: not names[c].startswith("core.")):
            size = int(self.encoding.sizes[column])
            if column not in apart and settings * size <= _MOST_SETTINGS:
                found.add(column)
                settings *= size
        return found

    def _scaled(self, pairs: Pairs, deciding: set[int], feature: int, rows: Rows) -> Floats:
        """What programs cost in rows that take all pairs, of programs that these can decide on."""
        value = np.zeros(len(rows))
        for program in self.programs:
            if {c for c, _ in pairs} <= deciding | {c for c, _ in program.context}:
                where = np.nonzero(holds(program.context | pairs, rows))[0]
                for ways in program.segments if len(where) else ():
                    costs = np.array([way.costs[feature] for way in ways])
                    value[where] += costs[taken(ways, rows[where])]
        return value

    def _marks(self) -> Iterator[Pairs]:
        for column, size in enumerate(self.encoding.sizes):
            for choice in range(1, int(size)):
                yield frozenset([(column, choice)])

    def _choices(self, columns: Iterable[int]) -> list[range]:
        return [range(int(self.encoding.sizes[column])) for column in columns]


def holds(pairs: Pairs, rows: Rows) -> Booleans:
    """Whether all pairs are taken, for each row."""
    found = np.ones(len(rows), dtype=bool)
    for column, choice in pairs:
        found &= rows[:, column] == choice
    return found


def taken(ways: Sequence[Way], rows: Rows) -> NDArray[np.intp]:
    """Which way of a segment each row takes."""
    fits = np.array([holds(way.needs, rows) for way in ways])
    return np.where(fits.any(axis=0), fits.argmax(axis=0), len(ways) - 1)


def _columns(pairs: Pairs) -> set[int]:
    return {column for column, _ in pairs}


def _joint(marks: Sequence[Pairs]) -> Iterator[Pairs]:
    """Pairs of choices of different parameters."""
    for one, other in itertools.combinations(marks, 2):
        if not _columns(one) & _columns(other):
            yield one | other


def _programs(structure: Structure) -> Iterator[Program]:
    """The programs that were looked into."""
    encoding = structure.encoding
    for use in encoding.space.workloads:
        columns = [
            column
            for column, name in enumerate(encoding.names)
            if name == f"kernel.{use.workload}" or name.startswith("compiler.")
        ]
        row = np.zeros(len(encoding.names), dtype=np.int16)
        known: dict[tuple[int, ...], tuple[tuple[Way, ...], ...]] = {}
        choices = list(itertools.product(*(range(int(encoding.sizes[c])) for c in columns)))
        for choice in choices:
            row[columns] = choice
            segments = structure.segments(use.workload, structure.context(use.workload, row))
            if segments:
                known[choice] = tuple(
                    tuple(Way(v.needs, (use.weight * v.cycles, v.bytes)) for v in variants)
                    for variants in segments.values()
                )
        for choice in choices if known else ():
            # one that was not looked into is taken for that which differs least
            near = min(known, key=lambda k: [a != b for a, b in zip(k, choice, strict=True)])
            yield Program(frozenset(zip(columns, choice, strict=True)), known[near])

"""`Encoding`: designs as rows of small integers, so that thousands are reduced at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.design import Design, Value
from dse.parameter import Parameter
from dse.space import Space

Rows = NDArray[np.int16]
"""One design a row; each column holds the index of a choice of one free parameter."""

# a column, the column it depends on (None: a fixed parameter), and the choices of that one by
# which it matters
_Condition = tuple[int, int | None, NDArray[np.bool_]]


class Encoding:
    """Translates the designs of a space to rows and back.

    Attributes:
        names: The free parameters, one a column.
        sizes: How many choices each has.
        offsets: Where the choices of each begin among `width` marks.
        entry_columns: Columns of the entries that may be chosen, by name.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.names = tuple(p.name for p in space.free)
        self.sizes = np.array([len(p.choices) for p in space.free], dtype=np.int16)
        self.width = int(self.sizes.sum())
        self.offsets = np.concatenate([[0], np.cumsum(self.sizes)])[:-1].astype(np.int64)
        self._fixed = {p.name: p.neutral for p in space.parameters}
        self._choices = [p.choices for p in space.free]
        self._index = [{repr(c): i for i, c in enumerate(p.choices)} for p in space.free]
        self._columns = {name: column for column, name in enumerate(self.names)}
        self.entry_columns = {
            entry.name: self._columns[entry.name]
            for entry in space.entries
            if entry.name in self._columns
        }
        self._conditions = [c for p in space.free for c in self._condition(p)]
        self._kernels = [self._admission(use.workload) for use in space.workloads]

    def row(self, design: Mapping[str, Value]) -> Rows:
        """The row of a design."""
        pairs = zip(self.names, self._index, strict=True)
        return np.array([index[repr(design[name])] for name, index in pairs], dtype=np.int16)

    def marks(self, rows: Rows) -> NDArray[np.float32]:
        """A 1 for each choice taken, a row of zeros and ones for each design."""
        marks = np.zeros((len(rows), self.width), dtype=np.float32)
        marks[np.arange(len(rows))[:, None], rows + self.offsets] = 1.0
        return marks

    def values(self, row: Sequence[int] | Rows) -> dict[str, Any]:
        """The free parameters of a row."""
        triples = zip(self.names, self._choices, np.asarray(row).tolist(), strict=True)
        return {name: choices[index] for name, choices, index in triples}

    def design(self, row: Sequence[int] | Rows) -> Design:
        """The reduced design of a row."""
        return self.space.reduce({**self._fixed, **self.values(row)})

    def plain_design(self, row: Sequence[int] | Rows) -> Design:
        """The design of a row that is reduced already."""
        return Design({**self._fixed, **self.values(row)})

    def every(self) -> Rows:
        """Every reduced row once; the space must be small enough to hold."""
        sizes = tuple(int(size) for size in self.sizes)
        grid = np.indices(sizes, dtype=np.int16).reshape(len(sizes), math.prod(sizes)).T
        return distinct(self.reduce(np.ascontiguousarray(grid)))

    def reduce(self, rows: Rows) -> Rows:
        """Rows with what cannot matter made neutral, as `Space.reduce` does."""
        rows = rows.copy()
        for column, allowed in self._kernels:
            if column is not None:
                self._admit(rows, column, allowed)
        for column, owner, active in self._conditions:
            is_active = active[rows[:, owner]] if owner is not None else active.all()
            rows[:, column] *= is_active
        return rows

    def _condition(self, parameter: Parameter) -> list[_Condition]:
        """The column that decides whether this one matters, and by which of its choices."""
        condition = parameter.condition
        if condition is None:
            return []
        owner = self._columns.get(condition.parameter)
        choices = self.space.by_name[condition.parameter].choices
        accepted = np.array([choice in condition.values for choice in choices])
        return [(self._columns[parameter.name], owner, accepted)]

    def _admission(self, workload: str) -> tuple[int | None, list[list[list[int]]]]:
        """Column of the kernel; for each kernel and need, columns of the entries that serve it."""
        column = self._columns.get(f"kernel.{workload}")
        use = next(u for u in self.space.workloads if u.workload == workload)
        always = {self.space.base, *self.space.base_provides}
        fixed = {e.name for e in self.space.entries if e.name not in self._columns}
        always |= {n for e in self.space.entries if e.name in fixed for n in (e.name, *e.provides)}
        needs = []
        for kernel in use.kernels:
            wanted = [need for need in use.requires.get(kernel, ()) if need not in always]
            needs.append([self._serving(need) for need in wanted])
        return column, needs

    def _serving(self, need: str) -> list[int]:
        return [
            self._columns[entry.name]
            for entry in self.space.entries
            if need in (entry.name, *entry.provides) and entry.name in self._columns
        ]

    @staticmethod
    def _admit(rows: Rows, column: int, needs: Sequence[Sequence[Sequence[int]]]) -> None:
        admitted = np.ones((len(rows), len(needs)), dtype=bool)
        for kernel, wanted in enumerate(needs):
            for columns in wanted:
                admitted[:, kernel] &= (rows[:, columns] > 0).any(axis=1)
        first = np.where(admitted.any(axis=1), admitted.argmax(axis=1), 0)
        chosen = rows[:, column]
        is_out = ~admitted[np.arange(len(rows)), chosen]
        rows[is_out, column] = first[is_out]


def distinct(rows: Rows) -> Rows:
    """Each row once, in an order that depends on the rows alone."""
    return rows[first_positions(rows)]


def first_positions(rows: Rows) -> NDArray[np.intp]:
    """Where each distinct row stands first."""
    if not rows.shape[1]:
        return np.arange(min(1, len(rows)))
    rows = np.ascontiguousarray(rows)
    texts = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0]
    return np.unique(texts, return_index=True)[1]

"""`Structure`: measured costs of program segments by the instructions that each variant needs.

A segment is a piece of a program that the compiler covers by itself, such as a basic block. What
it costs under a set of instructions is the least cost among the variants seen that need no other.
Nothing here is a result: it proposes designs, which are then evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.design import Design
from dse.learn.encoding import Encoding, Rows
from dse.learn.segment import Segment

Floats = NDArray[np.float64]
_Context = tuple[int, ...]


@dataclass(frozen=True)
class Variant:
    """One way to run a segment: (column, choice) pairs that it needs, and what it costs."""

    needs: frozenset[tuple[int, int]]
    cycles: float
    bytes: float


class Structure:
    """Variants of every segment, by workload and context.

    The context of a program are its kernel and the compiler's options. Parameters of an extension
    count as needs of the variants that use the extension.
    """

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding
        self.workloads = [use.workload for use in encoding.space.workloads]
        self.weights = np.array([use.weight for use in encoding.space.workloads])
        self._variants: dict[tuple[str, _Context], dict[str, dict[frozenset[Any], Variant]]] = {}
        self._programs: dict[tuple[str, _Context], _Program] = {}
        columns = {name: column for column, name in enumerate(encoding.names)}
        compiler = [c for name, c in columns.items() if name.startswith("compiler.")]
        self._context_columns = {
            name: [columns[f"kernel.{name}"], *compiler]
            if f"kernel.{name}" in columns
            else compiler
            for name in self.workloads
        }
        self._owned = {
            entry: [c for name, c in columns.items() if name.startswith(f"{entry}.")]
            for entry in encoding.entry_columns
        }

    @property
    def is_empty(self) -> bool:
        """Whether nothing was learned."""
        return not self._variants

    def context(self, workload: str, row: Rows) -> _Context:
        """The choices of a row that decide which program of a workload is meant."""
        return tuple(int(row[column]) for column in self._context_columns[workload])

    def learn(self, row: Rows, segments: Iterable[Segment]) -> None:
        """Take note of the segments of one compiled design."""
        for segment in segments:
            needs = frozenset(pair for entry in segment.uses for pair in self._needs_of(entry, row))
            key = (segment.workload, self.context(segment.workload, row))
            self._programs.pop(key, None)
            known = self._variants.setdefault(key, {}).setdefault(segment.name, {})
            seen = known.get(needs)
            if seen is None or segment.cycles < seen.cycles:
                known[needs] = Variant(needs, segment.cycles, segment.bytes)

    def segments(self, workload: str, context: _Context) -> Mapping[str, list[Variant]]:
        """The variants of each segment, cheapest first; empty where nothing was learned."""
        found = self._variants.get((workload, context), {})
        return {name: sorted(v.values(), key=_order) for name, v in sorted(found.items())}

    def fastest(self, design: Design) -> Design:
        """The design with those kernels that take the fewest cycles, as far as is known."""
        row = self.encoding.row(design)
        for index, workload in enumerate(self.workloads):
            name = f"kernel.{workload}"
            if name in self.encoding.names:
                column = self.encoding.names.index(name)
                tried = np.repeat(row[None], self.encoding.sizes[column], axis=0)
                tried[:, column] = np.arange(len(tried))
                cycles = self.predict(self.encoding.reduce(tried))[1][:, index]
                if cycles.min() < cycles[row[column]]:
                    row[column] = cycles.argmin()
        return self.encoding.design(row)

    def predict(self, rows: Rows) -> tuple[Rows, Floats]:
        """Rows without the entries that no program uses, and features of their programs.

        The features of a row are the logarithms of each workload's cycles, of their weighted sum
        and of the bytes of code. They are the same for a row and what it comes down to.
        """
        count = len(rows)
        cycles = np.ones((count, len(self.workloads)))
        size = np.ones(count)
        used = np.zeros(rows.shape, dtype=bool)
        marks = self.encoding.marks(rows)
        for index, workload in enumerate(self.workloads):
            codes = self._codes(workload, rows)
            for code in np.unique(codes):
                where = np.nonzero(codes == code)[0]
                program = self._program(workload, self.context(workload, rows[where[0]]))
                if program is not None:
                    total, length, is_used = program.run(marks[where])
                    cycles[where, index] = total
                    size[where] += length
                    used[where] |= is_used
        reduced = rows
        if not self.is_empty:
            reduced = rows.copy()
            for column in self.encoding.entry_columns.values():
                reduced[:, column] *= used[:, column]
            reduced = self.encoding.reduce(reduced)
        total = np.maximum(cycles, 1.0) @ self.weights
        features = np.column_stack([cycles, total, size])
        return reduced, np.log(np.maximum(features, 1.0))

    def _codes(self, workload: str, rows: Rows) -> NDArray[np.int64]:
        """A number for the context of each row."""
        codes = np.zeros(len(rows), dtype=np.int64)
        for column in self._context_columns[workload]:
            codes = codes * int(self.encoding.sizes[column]) + rows[:, column]
        return codes

    def _program(self, workload: str, context: _Context) -> _Program | None:
        nearest = self._nearest(workload, context)
        if nearest is None:
            return None
        key = (workload, nearest)
        if key not in self._programs:
            self._programs[key] = _Program(self.segments(*key), self.encoding)
        return self._programs[key]

    def _nearest(self, workload: str, context: _Context) -> _Context | None:
        """The context itself where it is known, else one that differs least, from the right."""
        known = [key for name, key in self._variants if name == workload]
        if context in known or not known:
            return context if known else None
        return min(known, key=lambda key: [a != b for a, b in zip(key, context, strict=True)])

    def _needs_of(self, entry: str, row: Rows) -> list[tuple[int, int]]:
        column = self.encoding.entry_columns.get(entry)
        if column is None:
            return []
        return [(column, 1), *((owned, int(row[owned])) for owned in self._owned[entry])]


class _Program:
    """The variants of one program, side by side, cheapest first in each segment."""

    def __init__(self, segments: Mapping[str, Sequence[Variant]], encoding: Encoding) -> None:
        every = [variant for variants in segments.values() for variant in variants]
        self._cycles = np.array([variant.cycles for variant in every])
        self._bytes = np.array([variant.bytes for variant in every])
        self._needed = np.array([len(variant.needs) for variant in every], dtype=np.float32)
        self._needs = np.zeros((encoding.width, len(every)), dtype=np.float32)
        self._uses = np.zeros((len(every), len(encoding.names)), dtype=np.float32)
        for position, variant in enumerate(every):
            for column, choice in variant.needs:
                self._needs[encoding.offsets[column] + choice, position] = 1.0
                self._uses[position, column] = 1.0
        lengths = [len(variants) for variants in segments.values()]
        starts = np.cumsum([0, *lengths[:-1]])
        # a row of positions for each segment, filled up with its dearest variant, which also
        # stands in where none is known to fit
        self._order = np.array(
            [
                [start + min(rank, length - 1) for rank in range(max(lengths, default=0))]
                for start, length in zip(starts, lengths, strict=False)
            ]
        ).reshape(len(lengths), -1)

    def run(self, marks: NDArray[np.float32]) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Cycles, bytes and used columns under many sets of instructions."""
        fits = marks @ self._needs >= self._needed
        ranked = fits[:, self._order]
        ranked[:, :, -1] = True
        chosen = self._order[np.arange(len(self._order)), ranked.argmax(axis=2)]
        taken = np.zeros(fits.shape, dtype=np.float32)
        np.put_along_axis(taken, chosen, 1.0, axis=1)
        return (
            self._cycles[chosen].sum(axis=1),
            self._bytes[chosen].sum(axis=1),
            taken @ self._uses > 0,
        )


def _order(variant: Variant) -> tuple[float, int, list[tuple[int, int]]]:
    return (variant.cycles, len(variant.needs), sorted(variant.needs))

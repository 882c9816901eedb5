"""Exact order: a block ordered by a constraint solver, which proves what it finds.

Every thing to be ordered has a place; a value is alive from the place of its maker to that of its
last reader. The solver makes the most values alive at once as few as can be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec

from isa.compiler.beam import Block

WORK = 8.0
"""Most work on one block in the solver's own measure, which is the same on every machine; some
seconds."""


MISSING = "effort exact needs OR-Tools, which is not installed; pip install 'riscv-dse[exact]'"


class SolverMissing(ValueError):
    """The constraint solver is not installed."""


def has_solver() -> bool:
    """Whether the constraint solver is installed."""
    return find_spec("ortools") is not None


def exact_order(
    block: Block, makers: Mapping[int, int], known: Sequence[int], enough: int
) -> tuple[list[int], bool]:
    """An order of least pressure, and whether that is proven.

    Args:
        block: What is to be ordered.
        makers: Which number makes each value that is not alive at the start.
        known: An order to begin with.
        enough: Most values alive at once that cost nothing; fewer are not looked for.

    Raises:
        SolverMissing: OR-Tools is not installed.
    """
    if not has_solver():
        raise SolverMissing(MISSING)
    from ortools.sat.python import cp_model

    count = len(block.before)
    model = cp_model.CpModel()
    places = [model.new_int_var(0, count - 1, "") for _ in range(count)]
    model.add_all_different(places)
    for number, after in enumerate(block.after):
        for following in after:
            model.add(places[number] < places[following])
    peak = model.new_int_var(max(enough, block.live), count + block.live, "")
    intervals = []
    for value, readers in block.readers.items():
        start = places[makers[value]] if value in makers else 0
        if readers >> count:  # the end of the block
            end = model.new_constant(count)
        else:
            end = model.new_int_var(0, count - 1, "")
            numbers = [i for i in range(count) if readers >> i & 1]
            model.add_max_equality(end, [places[i] for i in numbers])
        size = model.new_int_var(0, count, "")
        intervals.append(model.new_interval_var(start, size, end, ""))
    model.add_cumulative(intervals, [1] * len(intervals), peak)
    model.minimize(peak)
    for place, number in enumerate(known):
        model.add_hint(places[number], place)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    solver.parameters.max_deterministic_time = WORK
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return list(known), False
    order = sorted(range(count), key=lambda i: solver.value(places[i]))
    return order, status == cp_model.OPTIMAL

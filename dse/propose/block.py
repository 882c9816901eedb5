"""Block: the straight-line pieces of a traced kernel as graphs, weighted by how often they run."""

from __future__ import annotations

from collections.abc import Iterable

from dse.propose.graph import Graph
from isa.bits import Bits
from isa.kernel import Effect, Kernel, LoopEffect, level_values


def blocks(kernel: Kernel, name: str, weight: float = 1.0) -> list[Graph]:
    """One graph for the top level of a kernel and one for each loop body.

    Args:
        kernel: As traced; loops that are to be seen across iterations must be unrolled in it.
        name: What to call it in reports.
        weight: Executions of the whole kernel.

    Returns:
        Graphs with at least one operation, outermost first. Loads, loop-carried values and results
        of stateful operations enter from outside.
    """
    found: list[Graph] = []
    _collect(kernel.body, (), name, weight, found)
    return found


def _collect(
    body: Iterable[Effect],
    results: tuple[Bits, ...],
    name: str,
    weight: float,
    found: list[Graph],
) -> None:
    distinct = [r for r in level_values(body, results) if r.args]
    graph = Graph.of(distinct, weight=weight, name=name)
    if graph.size:
        found.append(graph)
    loops = [e for e in body if isinstance(e, LoopEffect)]
    for i, loop in enumerate(loops):
        inner = f"{name}.loop{i}" if len(loops) > 1 else f"{name}.loop"
        _collect(loop.body, loop.results, inner, weight * loop.count, found)

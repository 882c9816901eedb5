"""Subject: one workload of a proposal, its kernels as graphs in all views."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

from dse.propose.block import blocks
from dse.propose.graph import Graph
from dse.propose.work import Work
from isa.instruction_set import InstructionSet
from isa.kernel import UnsupportedKernel, trace
from isa.table import Table
from isa.view import VIEWS, changes
from workloads import Kernel, Workload


@dataclass(frozen=True, eq=False)
class Subject:
    """A workload to find instructions for.

    Attributes:
        workload: With the kernels in other views beside those as written.
        weight: Its weight among the workloads.
        written: Names of the kernels as written.
        graphs: Blocks of each kernel, weighted by executions of the workload.
        work: Base instructions of each kernel, an estimate.
    """

    workload: Workload
    weight: float
    written: tuple[str, ...]
    graphs: Mapping[str, tuple[Graph, ...]]
    work: Mapping[str, float]

    @property
    def least_work(self) -> float:
        """Base instructions of the best kernel as written."""
        return min(self.work[name] for name in self.written)


def make_subject(
    workload: Workload,
    weight: float,
    base: InstructionSet,
    work: Work,
    *,
    unroll: int | str = 1,
) -> Subject | None:
    """Trace the kernels that the base set admits; None where it admits none.

    Args:
        workload: The workload.
        weight: Its weight.
        base: Instructions that the kernels may use.
        work: What an operation costs.
        unroll: Unrolling in which blocks are looked at.
    """
    provided = {*base.by_name, *(i.extension for i in base.instructions)}
    admitted = {
        name: kernel
        for name, kernel in workload.kernels.items()
        if kernel.requires <= provided and _is_traceable(kernel, base.xlen)
    }
    if not admitted:
        return None
    kernels = dict(admitted)
    graphs = {
        name: _graphs(kernel, workload.name, weight, base.xlen, unroll)
        for name, kernel in admitted.items()
    }
    seen = {_signature(found) for found in graphs.values()}
    for kernel, view in product(admitted.values(), VIEWS):
        if not changes(kernel.build, view, base.xlen):
            continue
        other = kernel.in_view(view)
        found = _graphs(other, workload.name, weight, base.xlen, unroll)
        if _signature(found) not in seen:
            seen.add(_signature(found))
            kernels[other.name] = other
            graphs[other.name] = found
    total = {
        name: sum(
            graph.weight * work.vertex(vertex, base.xlen)
            for graph in found
            for vertex in graph.vertices
        )
        for name, found in graphs.items()
    }
    return Subject(replace(workload, kernels=kernels), weight, tuple(admitted), graphs, total)


def _is_traceable(kernel: Kernel, xlen: int) -> bool:
    """Whether the kernel exists for this register width."""
    try:
        trace(kernel.build, xlen)
    except UnsupportedKernel:
        return False
    return True


def _graphs(
    kernel: Kernel, workload: str, weight: float, xlen: int, unroll: int | str
) -> tuple[Graph, ...]:
    return tuple(blocks(trace(kernel.build, xlen, unroll), f"{workload}/{kernel.name}", weight))


def _signature(graphs: tuple[Graph, ...]) -> tuple[object, ...]:
    """How many of which operations each block has: equal for two spellings of one kernel."""
    found = []
    for graph in graphs:
        counts = Counter(
            (v.op, v.width, len(v.operands), v.attr.entries if isinstance(v.attr, Table) else None)
            for v in graph.vertices
        )
        found.append((graph.weight, frozenset(counts.items())))
    return tuple(found)

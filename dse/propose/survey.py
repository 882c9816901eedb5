"""Survey: what enumeration finds in some workloads, ranked before anything is compiled."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from dse.propose.collection import ideas
from dse.propose.enumeration import enumerate_subgraphs
from dse.propose.group import Group, group
from dse.propose.idea import Idea
from dse.propose.nearest import Nearest, Neighbourhood
from dse.propose.request import Request, RequestError
from dse.propose.subject import Subject, make_subject
from dse.propose.work import Work


@dataclass(frozen=True, eq=False)
class Ranked:
    """An idea in the order in which ideas are measured.

    Attributes:
        idea: The idea.
        nearest: The known instruction it relates to.
        bound: Cycles it might save against the best kernel as written; an estimate.
        kernels: Kernels of each workload that come near the best with it.
    """

    idea: Idea
    nearest: Nearest
    bound: float
    kernels: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Survey:
    """What enumeration found, before anything was measured.

    Attributes:
        subjects: Workloads with their kernels.
        operations: Operations in all blocks.
        subgraphs: Subgraphs within the ports.
        truncated: Names of the blocks whose enumeration ran out of budget.
        groups: Meanings by fingerprint.
        ranked: Ideas with their nearest known instruction and bound, best first.
        enumerate_seconds: Wall time of the enumeration; `group_seconds` of all that follows.
    """

    subjects: tuple[Subject, ...]
    operations: int
    subgraphs: int
    truncated: tuple[str, ...]
    groups: dict[bytes, Group]
    ranked: tuple[Ranked, ...]
    enumerate_seconds: float
    group_seconds: float


def survey(request: Request) -> Survey:
    """Find and rank the ideas; nothing is compiled yet.

    Raises:
        RequestError: The base set admits no kernel of a workload.
    """
    base = request.instructions
    work = Work.of(base)
    subjects = []
    for workload, weight in request.workloads:
        subject = make_subject(workload, weight, base, work)
        if subject is None:
            raise RequestError(
                f"base {request.base} must admit a kernel of {workload.name}; "
                f"each of {', '.join(workload.kernels)} requires more"
            )
        subjects.append(subject)
    start = time.perf_counter()
    found = [
        (graph, enumerate_subgraphs(graph, request.inputs, request.outputs, budget=request.budget))
        for subject in subjects
        for graphs in subject.graphs.values()
        for graph in graphs
    ]
    enumerated = time.perf_counter()
    groups = group(found, work, base.xlen)
    neighbourhood = Neighbourhood(groups, base.by_name, base.xlen)
    listed = ideas(groups, base.xlen, with_members=request.area_ge is not None)
    ranked = [_ranked(idea, neighbourhood.nearest(idea), subjects) for idea in listed]
    ranked.sort(key=lambda r: (-r.bound, -r.idea.bound, r.idea.operands, r.idea.formula))
    return Survey(
        tuple(subjects),
        sum(graph.size for graph, _ in found),
        sum(len(result.subgraphs) for _, result in found),
        tuple(graph.name for graph, result in found if result.truncated),
        groups,
        tuple(ranked),
        enumerated - start,
        time.perf_counter() - enumerated,
    )


def _ranked(idea: Idea, nearest: Nearest, subjects: Sequence[Subject]) -> Ranked:
    """Bound an idea by the best kernel of each workload, against the best without it."""
    saved: dict[int, float] = {}
    for o in idea.occurrences:
        saved[id(o.graph)] = saved.get(id(o.graph), 0.0) + o.saving
    total = 0.0
    kernels: dict[str, tuple[str, ...]] = {}
    for subject in subjects:
        by_kernel = {
            name: sum(saved.get(id(graph), 0.0) for graph in graphs)
            for name, graphs in subject.graphs.items()
        }
        gains = {
            name: saving - subject.work[name] + subject.least_work
            for name, saving in by_kernel.items()
            if saving > 0
        }
        if gains:
            best = max(gains.values())
            total += max(0.0, best)
            kernels[subject.workload.name] = tuple(
                name for name, gain in gains.items() if gain > best / 2 or gain == best
            )
    return Ranked(idea, nearest, total, kernels)

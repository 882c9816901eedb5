"""Companion: what a kernel lacks beside the one idea for which it is worth compiling.

A kernel in another view often takes more instructions than the kernel as written. With the first
idea it gets ahead, and what would help the rest of it gains nothing without that idea, so no rank
by what an idea saves alone can find it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dse.propose.idea import Idea
from dse.propose.survey import Ranked, Survey

MOST = 4
"""Kernels that are given companions."""


def companions(chosen: Sequence[Ranked], survey: Survey) -> Iterator[list[Ranked]]:
    """For each kernel in which a chosen idea is used alone, the others by what they save beside it.

    Args:
        chosen: Ideas that will be measured, best first.
        survey: Where they are from.
    """
    taken = {id(entry) for entry in chosen}
    graphs = {
        (subject.workload.name, name): [id(graph) for graph in blocks]
        for subject in survey.subjects
        for name, blocks in subject.graphs.items()
    }
    seen: set[tuple[str, str]] = set()
    for entry in chosen:
        for workload, kernels in entry.kernels.items():
            kernel = (workload, kernels[0])
            if len(kernels) != 1 or kernel in seen or len(seen) == MOST:
                continue
            seen.add(kernel)
            left = dict.fromkeys(graphs[kernel], 0)
            for o in entry.idea.occurrences:
                if id(o.graph) in left:
                    left[id(o.graph)] |= o.subgraph.inside
            gains = [
                (_saving_beside(other.idea, left), -i, other)
                for i, other in enumerate(survey.ranked)
                if kernel[1] in other.kernels.get(workload, ()) and id(other) not in taken
            ]
            found = [other for gain, _, other in sorted(gains, reverse=True) if gain > 0]
            yield found
            taken.update(id(other) for other in found[:1])


def elsewhere(chosen: Sequence[Ranked], survey: Survey) -> list[Ranked]:
    """Ideas that save something on operations that no chosen one covers, most first.

    Without them ideas would be measured that are but parts of one another.
    """
    graphs = {
        (subject.workload.name, name): [id(graph) for graph in blocks]
        for subject in survey.subjects
        for name, blocks in subject.graphs.items()
    }
    done = {graph: 0 for blocks in graphs.values() for graph in blocks}
    for entry in chosen:
        for o in entry.idea.occurrences:
            done[id(o.graph)] |= o.subgraph.inside
    taken = {id(entry) for entry in chosen}
    gains = []
    for i, entry in enumerate(survey.ranked):
        if entry.bound > 0 and id(entry) not in taken:
            by_kernel = [
                _saving_beside(entry.idea, {g: done[g] for g in graphs[workload, kernel]})
                for workload, kernels in entry.kernels.items()
                for kernel in kernels
            ]
            gains.append((max(by_kernel), -i, entry))
    return [entry for gain, _, entry in sorted(gains, reverse=True) if gain > 0]


def _saving_beside(idea: Idea, done: dict[int, int]) -> float:
    """What an idea saves in these blocks on operations that are not done."""
    return sum(
        o.saving
        for o in idea.occurrences
        if id(o.graph) in done and not o.subgraph.inside & done[id(o.graph)]
    )

"""Work: occurrences that can stand together."""

from __future__ import annotations

from dse.propose.enumeration import Subgraph, enumerate_subgraphs
from dse.propose.graph import Graph
from dse.propose.work import Occurrence, Work, disjoint
from isa.bits import arg
from isa.instruction_set import InstructionSet

A, B, C, D, E = (arg(name, 32) for name in "abcde")


def occurrences(graph: Graph, inputs: int = 2) -> list[Occurrence]:
    work = Work()
    return [
        Occurrence(graph, s, work.subgraph(graph, s, 32))
        for s in enumerate_subgraphs(graph, inputs).subgraphs
    ]


def test_parts_of_one_sum_stand_together() -> None:
    graph = Graph.of([A.rotr(1) ^ B.rotr(2) ^ C.rotr(3) ^ D.rotr(4) ^ E])
    single = [o for o in occurrences(graph) if o.subgraph.split >= 0 and o.work == 4]
    assert len(single) == 4  # a rotation (3) and its addition (1)
    assert len(disjoint(single)) == 4


def test_what_overlaps_does_not() -> None:
    graph = Graph.of([(A.rotr(1) + B).rotr(2)])
    kept = disjoint(occurrences(graph))
    assert [o.work for o in kept] == [7]  # the whole: two rotations and an addition
    assert sum(o.saving for o in kept) == 6


def test_a_whole_sum_excludes_its_parts() -> None:
    graph = Graph.of([A.rotr(1) ^ A.rotr(2) ^ A.rotr(3)])
    assert len(disjoint(occurrences(graph))) == 1


def test_savings_are_weighted_by_executions() -> None:
    graph = Graph.of([A.rotr(3)], weight=16)
    (occurrence,) = occurrences(graph)
    assert occurrence.saving == 16 * 2


def test_work_follows_the_base_set() -> None:
    graph = Graph.of([A.rotr(3) & ~B])
    whole = Subgraph(graph.operations, graph.leaves, graph.live_out)
    assert Work().subgraph(graph, whole, 32) == 5
    richer = Work.of(InstructionSet.of(32, "rv32i", "zbkb"))
    assert richer.subgraph(graph, whole, 32) == 2

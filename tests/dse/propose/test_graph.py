"""Graphs of blocks: what is a vertex, what is a set, what enters from outside."""

from __future__ import annotations

from dse.propose.block import blocks
from dse.propose.graph import Graph, members
from isa.bits import Bits, arg
from isa.kernel import Builder, Index, trace

A, B, C, D = (arg(name, 32) for name in "abcd")


def shape(graph: Graph) -> list[tuple[str, int]]:
    return [(v.op, len(v.operands)) for v in graph.vertices if v.op not in ("arg", "const")]


def test_nested_sums_are_one_set() -> None:
    graph = Graph.of([((A ^ B) ^ C.rotr(3)) ^ D])
    assert shape(graph) == [("rotr", 1), ("xor", 4)]
    assert graph.can_split(len(graph.vertices) - 1)
    assert shape(Graph.of([((A ^ B) ^ C.rotr(3)) ^ D], flatten=False)) == [
        ("xor", 2),
        ("rotr", 1),
        ("xor", 2),
        ("xor", 2),
    ]


def test_a_sum_with_another_use_stays_whole() -> None:
    inner = A + B
    assert shape(Graph.of([inner + C, inner & D])) == [("add", 2), ("add", 2), ("and", 2)]
    assert shape(Graph.of([inner + C, inner])) == [("add", 2), ("add", 2)]  # it is a result too


def test_constants_of_a_set_are_folded() -> None:
    graph = Graph.of([(A ^ 0xF0) ^ (B ^ 0x0F)])
    assert shape(graph) == [("xor", 3)]
    (constant,) = (v for v in graph.vertices if v.op == "const")
    assert constant.attr == 0xFF


def test_an_operand_twice_is_not_a_set() -> None:
    assert ("add", 3) not in shape(Graph.of([(A + B) + A]))


def test_masks() -> None:
    graph = Graph.of([(A ^ 5).rotr(2) + B], leaves=[A ^ 5])
    assert [v.op for v in graph.vertices] == ["arg", "rotr", "arg", "add"]
    assert members(graph.leaves) == [0, 2]
    assert members(graph.operations) == [1, 3]
    assert members(graph.live_out) == [3]
    assert members(graph.descendants[0]) == [1, 3]


def kernel(k: Builder) -> None:
    source, target = k.pointer("source"), k.pointer("target")

    def body(i: Index, x: Bits) -> Bits:
        return x.rotr(7) ^ k.load(source, 4 * i + 4)

    (x,) = k.loop(8, body, k.load(source, 0) + 1)
    k.store(target, 0, x & 0xFF)


def test_each_loop_body_is_a_block_of_its_own() -> None:
    outer, inner = blocks(trace(kernel, 32), "k", weight=2.0)
    assert (outer.name, outer.weight, shape(outer)) == ("k", 2.0, [("add", 2), ("and", 2)])
    assert (inner.name, inner.weight, shape(inner)) == ("k.loop", 16.0, [("rotr", 1), ("xor", 2)])
    (whole,) = blocks(trace(kernel, 32, "full"), "k")
    assert whole.size == 2 + 2 * 8

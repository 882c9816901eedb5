"""Meanings: equal for equal functions whatever the spelling and the order of operands."""

from __future__ import annotations

from functools import reduce

from dse.propose.enumeration import enumerate_subgraphs
from dse.propose.graph import Graph
from dse.propose.meaning import expression, in_canonical_order, is_deliverable, meaning_of
from isa.bits import Bits, arg, concat, evaluate, node

R1, R2, R3 = (arg(f"rs{i}", 32) for i in (1, 2, 3))


def same(a: Bits, b: Bits, operands: int) -> bool:
    return meaning_of(a, operands).fingerprint == meaning_of(b, operands).fingerprint


def test_order_of_operands_does_not_matter() -> None:
    assert same(R1 - R2, R2 - R1, 2)
    assert same(R1 + (R2 & ~R3), R3 + (R1 & ~R2), 3)
    assert not same(R1 - R2, R1 + R2, 2)


def test_spelling_does_not_matter() -> None:
    assert same((R1 & R2) | (~R1 & R3), ((R2 ^ R3) & R1) ^ R3, 3)
    assert same((R1 >> 7) | (R1 << 25), R1.rotr(7), 1)


def test_number_of_operands_matters() -> None:
    assert meaning_of(R1, 1).fingerprint != meaning_of(R1, 2).fingerprint


def test_canonical_order_is_a_renaming() -> None:
    a, b = (in_canonical_order(meaning_of(r, 2)) for r in (R1 - R2, R2 - R1))
    assert a is b
    assert {str(n.attr) for n in a.args} == {"rs1", "rs2"}


def found(root: Bits, inputs: int) -> dict[tuple[int, bool, int], Bits]:
    """Expression of each subgraph by operations inside, whether partial, and operands left."""
    graph = Graph.of([root])
    return {
        (s.inside.bit_count(), s.is_partial, s.rest.bit_count()): expression(graph, s, 32)
        for s in enumerate_subgraphs(graph, inputs).subgraphs
        if is_deliverable(graph, s, 32)
    }


def test_narrow_values_travel_in_registers() -> None:
    x = arg("x", 32)
    graph = Graph.of([x.byte(2) + 3])
    roots = [expression(graph, s, 32) for s in enumerate_subgraphs(graph, 1).subgraphs]
    expected = [(R1.slice(0, 8) + 3).zext(32), (R1.byte(2) + 3).zext(32), R1.byte(2).zext(32)]
    assert {id(r) for r in roots} == {id(r) for r in expected}


def test_wide_values_do_not() -> None:
    wide = arg("a", 32).mul_wide(arg("b", 32))
    graph = Graph.of([wide.slice(16, 32)])
    kept = [s for s in enumerate_subgraphs(graph, 2).subgraphs if is_deliverable(graph, s, 32)]
    (root,) = (expression(graph, s, 32) for s in kept)
    assert root is R1.mul_wide(R2).slice(16, 32)


def test_the_rest_of_a_set_is_one_operand() -> None:
    terms = [arg(f"x{i}", 32) for i in range(4)]
    root = reduce(lambda a, b: node("xor", a, b), [terms[0].rotr(9), *terms[1:]])
    inside = found(root, 2)[2, False, 3]
    values = {"rs1": 0x1234_5678, "rs2": 0xFFFF_0000}
    assert evaluate(inside, values) == evaluate(R1.rotr(9) ^ R2, values)


def test_part_of_a_set_is_a_result() -> None:
    x, y, z = (arg(n, 32) for n in "xyz")
    root = (x ^ x.rotr(9) ^ x.rotr(17)) ^ y ^ z
    inside = found(root, 1)[3, True, 2]
    assert same(inside, R1 ^ R1.rotr(9) ^ R1.rotr(17), 1)


def test_concat_keeps_its_order() -> None:
    x = arg("x", 32)
    root = concat(x.byte(0), x.byte(1), x.byte(2), x.byte(3))
    assert found(root, 1)[5, False, 0] is concat(*(R1.byte(i) for i in range(4)))

"""Enumeration against brute force that knows only the definitions."""

from __future__ import annotations

import random
from itertools import combinations, product

import pytest

from dse.propose.enumeration import (
    PortError,
    Subgraph,
    closure,
    enumerate_subgraphs,
    max_miso,
)
from dse.propose.graph import Graph, members
from isa.bits import Bits, arg


def random_graph(seed: int, *, flatten: bool) -> Graph:
    """A block of at most 10 operations over 3 inputs, every sink a result, some others too."""
    generator = random.Random(seed)
    pool: list[Bits] = [arg(f"x{i}", 32) for i in range(3)]
    made: dict[Bits, None] = {}
    for _ in range(generator.randint(3, 10)):
        a, b = (generator.choice(pool[-6:]) for _ in range(2))
        match generator.randrange(8):
            case 0:
                n = a.rotr(generator.randint(1, 31))
            case 1:
                n = a + generator.getrandbits(32)
            case 2:
                n = a & b
            case 3:
                n = a - b
            case 4:
                n = a ^ generator.getrandbits(32)
            case _:
                n = a ^ b
        if n.op not in ("arg", "const") and n not in made:
            made[n] = None
            pool.append(n)
    used = {a for n in made for a in n.args}
    roots = [n for n in made if n not in used or generator.random() < 0.1]
    return Graph.of(roots, flatten=flatten)


def brute_force(graph: Graph, inputs: int, outputs: int, *, split: bool) -> set[Subgraph]:
    operations = members(graph.operations)
    edges = {
        v: {o for o in graph.vertices[v].operands if not graph.constants >> o & 1}
        for v in range(len(graph.vertices))
    }
    users = {v: {u for u in edges if v in edges[u]} for v in edges}
    found: set[Subgraph] = set()
    for size in range(1, len(operations) + 1):
        for chosen in combinations(operations, size):
            inside = set(chosen)
            results = {
                v for v in inside if users[v] - inside or graph.live_out >> v & 1 or not users[v]
            }
            if len(results) > outputs or not convex(inside, users):
                continue
            sets = [v for v in chosen if split and graph.can_split(v)]
            for joined, partial in ((-1, False), *product(sets, (False, True))):
                if partial and results != {joined}:
                    continue
                found |= variants(graph, inside, results, joined, partial, edges, users, inputs)
    return found


def variants(graph, inside, results, joined, partial, edges, users, inputs):  # type: ignore[no-untyped-def]
    outside = {o for v in inside for o in edges[v]} - inside
    if joined < 0:
        rests = [frozenset()]
    else:
        only = frozenset(o for o in outside if users[o] & inside == {joined})
        constants = {o for o in graph.vertices[joined].operands if graph.constants >> o & 1}
        least = (2, 1) if partial else (1, 2)
        rests = [r for r in {only, only | constants} if len(r) >= least[1]]
        rests = [r for r in rests if len(set(graph.vertices[joined].operands) - r) >= least[0]]
    made = set()
    for rest in rests:
        direct = outside - rest
        ports = len(direct) + (bool(rest) and not partial)
        taken = {v: edges[v] - rest if v == joined else edges[v] for v in inside}
        if ports <= inputs and connected(inside, taken):
            made.add(
                Subgraph(mask(inside), mask(direct), mask(results), joined, mask(rest), partial)
            )
    return made


def mask(numbers) -> int:  # type: ignore[no-untyped-def]
    return sum(1 << n for n in numbers)


def convex(inside: set[int], users: dict[int, set[int]]) -> bool:
    frontier = {u for v in inside for u in users[v]} - inside
    seen: set[int] = set()
    while frontier:
        v = frontier.pop()
        if v in inside:
            return False
        seen.add(v)
        frontier |= users[v] - seen
    return True


def connected(inside: set[int], edges: dict[int, set[int]]) -> bool:
    neighbours = {v: {o for o in edges[v] if o in inside} for v in inside}
    for v in inside:
        for o in list(neighbours[v]):
            neighbours[o].add(v) if o < v else None
    start = min(inside)
    seen, todo = {start}, [start]
    while todo:
        for o in neighbours[todo.pop()] - seen:
            seen.add(o)
            todo.append(o)
    return seen == inside


@pytest.mark.parametrize("part", range(6))
def test_every_subgraph_is_found_once(part: int) -> None:
    for seed in range(100 * part, 100 * part + 100):
        for flatten in (False, True):
            graph = random_graph(seed, flatten=flatten)
            for inputs, outputs in ((2, 1), (3, 1), (2, 2), (4, 2)):
                result = enumerate_subgraphs(graph, inputs, outputs, split=flatten)
                expected = brute_force(graph, inputs, outputs, split=flatten)
                assert len(set(result.subgraphs)) == len(result.subgraphs), seed
                assert set(result.subgraphs) == expected, (seed, flatten, inputs, outputs)
                assert not result.truncated


@pytest.mark.parametrize("ports", [(2, 1), (3, 1), (2, 2), (4, 2)])
def test_machine_code_takes_the_same_walk(ports: tuple[int, int]) -> None:
    for seed in range(150):
        graph = random_graph(seed, flatten=False)
        native, python = (
            enumerate_subgraphs(graph, *ports, split=False, is_native=is_native)
            for is_native in (True, False)
        )
        assert native == python, seed
        cut = [
            enumerate_subgraphs(graph, *ports, split=False, budget=9, is_native=is_native)
            for is_native in (True, False)
        ]
        assert cut[0] == cut[1]


@pytest.mark.parametrize("rounds", [40, 140])
def test_a_search_of_many_vertices_needs_wider_masks_or_python(rounds: int) -> None:
    """Operations behind one another and a value that all of them read, so nothing ends early."""
    shared = arg("k", 32)
    root = arg("x", 32)
    for amount in range(rounds):
        root = (root ^ shared.rotr(1 + amount % 31)) + amount
    graph = Graph.of([root], flatten=False)
    found = enumerate_subgraphs(graph, 2, 1, split=False)
    assert found == enumerate_subgraphs(graph, 2, 1, split=False, is_native=False)
    assert max(s.inside.bit_count() for s in found.subgraphs) > 2 * rounds


def test_pairs_linked_only_far_away_are_found_as_python_finds_them() -> None:
    """Two outputs over a lattice: what feeds both lies before more than a walk renumbers."""
    left, right = arg("x", 32), arg("y", 32)
    for amount in range(90):
        left, right = left ^ right.rotr(1 + amount % 31), right & left
    graph = Graph.of([left.rotr(7), right.rotr(9)], flatten=False)
    found = enumerate_subgraphs(graph, 2, 2, split=False, budget=200_000)
    assert found == enumerate_subgraphs(graph, 2, 2, split=False, budget=200_000, is_native=False)


def test_partial_set_is_found_at_every_operand() -> None:
    x = [arg(f"x{i}", 32) for i in range(5)]
    root = x[0].rotr(3) ^ x[1].rotr(5) ^ x[2] ^ x[3] ^ x[4]
    found = enumerate_subgraphs(Graph.of([root]), 2, 1).subgraphs
    joined = [s for s in found if s.split >= 0]
    assert [s.rest.bit_count() for s in joined if not s.is_partial] == [4, 4]  # either rotation
    assert [s.rest.bit_count() for s in joined if s.is_partial] == [3]  # the sum of both


def test_constants_use_no_port() -> None:
    root = (arg("x", 32) + 5) ^ 9
    found = enumerate_subgraphs(Graph.of([root]), 1, 1).subgraphs
    assert len(found) == 3


def test_budget_is_honest() -> None:
    graph = random_graph(1, flatten=False)
    whole = enumerate_subgraphs(graph, 4, 1)
    cut = enumerate_subgraphs(graph, 4, 1, budget=whole.states - 1)
    assert cut.truncated
    assert cut.subgraphs == whole.subgraphs[: len(cut.subgraphs)]


def test_max_miso_partitions_the_block() -> None:
    for seed in range(50):
        graph = random_graph(seed, flatten=False)
        cones = max_miso(graph)
        assert sum(s.inside for s in cones) == graph.operations
        for cone in cones:
            assert closure(graph, cone.outputs) == cone.inside
            for inner in enumerate_subgraphs(graph, 8, 1, split=False).subgraphs:
                assert inner.inside & cone.inside in (0, inner.inside)


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        (0, 1, "inputs must be 1 to 8, not 0"),
        (9, 1, "inputs must be 1 to 8, not 9"),
        (2, 3, "outputs must be 1 or 2, not 3"),
    ],
)
def test_impossible_ports_are_refused(inputs: int, outputs: int, message: str) -> None:
    with pytest.raises(PortError, match=f"^{message}$"):
        enumerate_subgraphs(random_graph(1, flatten=False), inputs, outputs)

"""Meaning: what a subgraph computes, as an expression over registers, equal for equal functions.

Two subgraphs have one meaning if their outputs agree on fixed vectors under some order of the
operands. That groups thousands of subgraphs in a fraction of a second; what is delivered is proven
afterwards (`dse/propose/proof.py`).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, reduce
from itertools import permutations

import numpy as np

from dse.propose.enumeration import Subgraph
from dse.propose.graph import Graph, members
from dse.propose.lanes import Lanes, evaluate_lanes
from isa.bits import Bits, arg, arguments, node, substitute

REGISTERS = ("rs1", "rs2", "rs3", "rs4")
"""Names of the operands of a meaning, in order."""

VECTORS = 48
"""Random vectors, beside those in which one operand alone is not zero."""


@dataclass(frozen=True, eq=False)
class Meaning:
    """A function of registers, of one or two results.

    Attributes:
        roots: An expression for each result over `rs1`, `rs2`.., each xlen bits wide, as wide
            itself; two are in the order that makes the fingerprint smallest.
        operands: How many registers it reads.
        fingerprint: Outputs on the fixed vectors, under the order that makes them smallest.
        order: Position in `roots` of each operand of that order.
    """

    roots: tuple[Bits, ...]
    operands: int
    fingerprint: bytes
    order: tuple[int, ...]

    @property
    def root(self) -> Bits:
        """The first result."""
        return self.roots[0]


def registers(count: int, xlen: int) -> tuple[Bits, ...]:
    """The first `count` operand registers."""
    return tuple(arg(name, xlen) for name in REGISTERS[:count])


def is_deliverable(graph: Graph, subgraph: Subgraph, xlen: int) -> bool:
    """Whether every port fits a register."""
    ports = members(subgraph.inputs | subgraph.outputs)
    if subgraph.split >= 0 and not subgraph.is_partial:
        ports.append(subgraph.split)
    return all(graph.vertices[v].width <= xlen for v in ports)


def expression(graph: Graph, subgraph: Subgraph, xlen: int) -> Bits:
    """The function of a `subgraph` with one output; see `expressions`."""
    (root,) = expressions(graph, subgraph, xlen)
    return root


def expressions(graph: Graph, subgraph: Subgraph, xlen: int) -> tuple[Bits, ...]:
    """The function of `subgraph` on registers: inputs in vertex order, the combined rest last.

    A value narrower than a register is its low bits; a narrower result is zero-extended.
    """
    ports = registers(subgraph.ports, xlen)
    values: dict[int, Bits] = {}
    for v, port in zip(members(subgraph.inputs), ports, strict=False):
        values[v] = port.slice(0, graph.vertices[v].width)
    for v in members(subgraph.inside):
        vertex = graph.vertices[v]
        inputs = []
        for o in vertex.operands:
            if v == subgraph.split and subgraph.rest >> o & 1:
                continue
            inputs.append(values[o] if o in values else graph.vertices[o].origin)
        if v == subgraph.split and not subgraph.is_partial:
            inputs.append(ports[-1].slice(0, vertex.width))
        if len(inputs) > 2 and vertex.op != "concat" and vertex.op != "mux":
            values[v] = reduce(lambda a, b, op=vertex.op: node(op, a, b), inputs)  # type: ignore[misc]
        else:
            values[v] = node(vertex.op, *inputs, attr=vertex.attr, width=vertex.width)
    return tuple(values[output].zext(xlen) for output in members(subgraph.outputs))


@cache
def vectors(count: int, xlen: int) -> tuple[Lanes, ...]:
    """The fixed inputs of `count` registers: random words, then each operand alone."""
    generator = random.Random(2 * count + xlen)
    columns: list[list[int]] = []
    for i in range(count):
        column = [generator.getrandbits(xlen) for _ in range(VECTORS)]
        for j in range(count):
            column += [generator.getrandbits(xlen) if i == j else 0 for _ in range(4)]
        columns.append(column)
    return tuple(np.array(c, dtype=np.uint64) for c in columns)


@cache
def _ordered_vectors(count: int, xlen: int) -> tuple[tuple[tuple[int, ...], ...], list[Lanes]]:
    """All operand orders, and the vectors of one after the other in one array each."""
    orders = tuple(permutations(range(count)))
    columns = vectors(count, xlen)
    return orders, [np.concatenate([columns[o[i]] for o in orders]) for i in range(count)]


def meaning_of(root: Bits, operands: int, *more: Bits) -> Meaning:
    """Fingerprint an expression over the first `operands` registers, or two together."""
    roots, xlen = (root, *more), root.width
    if operands == 0:
        outputs = [(evaluate_lanes(r, {}).tobytes(), i) for i, r in enumerate(roots)]
        outputs.sort()
        fingerprint = b"".join(output for output, _ in outputs)
        return Meaning(tuple(roots[i] for _, i in outputs), 0, fingerprint, ())
    orders, columns = _ordered_vectors(operands, xlen)
    lanes = dict(zip(REGISTERS, columns, strict=False))
    values = [evaluate_lanes(r, lanes).astype(np.uint64) for r in roots]
    size = len(values[0]) // len(orders)

    def under(order: int) -> list[tuple[bytes, int]]:
        part = slice(order * size, (order + 1) * size)
        return sorted((v[part].tobytes(), i) for i, v in enumerate(values))

    found = [under(order) for order in range(len(orders))]
    best = min(range(len(orders)), key=found.__getitem__)
    fingerprint = bytes([operands]) + b"".join(output for output, _ in found[best])
    return Meaning(tuple(roots[i] for _, i in found[best]), operands, fingerprint, orders[best])


def in_canonical_order(meaning: Meaning) -> Bits:
    """The first result with its operands renamed to the order of the fingerprint."""
    return all_in_canonical_order(meaning)[0]


def all_in_canonical_order(meaning: Meaning) -> tuple[Bits, ...]:
    """The results with their operands renamed to the order of the fingerprint."""
    names = registers(meaning.operands, meaning.root.width)
    renamed = {names[i]: names[p] for i, p in enumerate(meaning.order) if i != p}
    return tuple(substitute(root, renamed) for root in meaning.roots)


def on_first_registers(root: Bits) -> Bits:
    """The expression with the registers it reads renamed to the first ones, in order."""
    used = sorted((a for a in arguments([root]) if a.attr in REGISTERS), key=lambda a: str(a.attr))
    first = registers(len(used), root.width)
    return substitute(root, dict(zip(used, first, strict=True)))


def cost(*roots: Bits) -> int:
    """Size of expressions, to choose the simplest spelling of a meaning."""
    seen: set[Bits] = set()
    stack = list(roots)
    while stack:
        n = stack.pop()
        if n not in seen:
            seen.add(n)
            stack += n.args
    return len(seen)


def reads(root: Bits, names: Sequence[str]) -> bool:
    """Whether the expression mentions every one of the named arguments."""
    return set(names) <= {str(a.attr) for a in arguments([root])}

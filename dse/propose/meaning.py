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
    """A function of registers.

    Attributes:
        root: Expression over `rs1`, `rs2`.., each xlen bits wide, as wide itself.
        operands: How many registers it reads.
        fingerprint: Outputs on the fixed vectors, under the order that makes them smallest.
        order: Position in `root` of each operand of that order.
    """

    root: Bits
    operands: int
    fingerprint: bytes
    order: tuple[int, ...]


def registers(count: int, xlen: int) -> tuple[Bits, ...]:
    """The first `count` operand registers."""
    return tuple(arg(name, xlen) for name in REGISTERS[:count])


def is_deliverable(graph: Graph, subgraph: Subgraph, xlen: int) -> bool:
    """Whether every port fits a register and an expression has one result."""
    ports = members(subgraph.inputs | subgraph.outputs)
    if subgraph.split >= 0 and not subgraph.is_partial:
        ports.append(subgraph.split)
    return subgraph.outputs.bit_count() == 1 and all(graph.vertices[v].width <= xlen for v in ports)


def expression(graph: Graph, subgraph: Subgraph, xlen: int) -> Bits:
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
    (output,) = members(subgraph.outputs)
    return values[output].zext(xlen)


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


def meaning_of(root: Bits, operands: int) -> Meaning:
    """Fingerprint an expression over the first `operands` registers."""
    xlen = root.width
    if operands == 0:
        return Meaning(root, 0, evaluate_lanes(root, {}).tobytes(), ())
    orders, columns = _ordered_vectors(operands, xlen)
    lanes = dict(zip(REGISTERS, columns, strict=False))
    values = evaluate_lanes(root, lanes)
    size = len(values) // len(orders)
    outputs = [
        values[i * size : (i + 1) * size].astype(np.uint64).tobytes() for i in range(len(orders))
    ]
    best = min(range(len(orders)), key=outputs.__getitem__)
    return Meaning(root, operands, bytes([operands]) + outputs[best], orders[best])


def in_canonical_order(meaning: Meaning) -> Bits:
    """The expression with its operands renamed to the order of the fingerprint."""
    names = registers(meaning.operands, meaning.root.width)
    return substitute(
        meaning.root, {names[i]: names[p] for i, p in enumerate(meaning.order) if i != p}
    )


def cost(root: Bits) -> int:
    """Size of an expression, to choose the simplest spelling of a meaning."""
    seen: set[Bits] = set()
    stack = [root]
    while stack:
        n = stack.pop()
        if n not in seen:
            seen.add(n)
            stack += n.args
    return len(seen)


def reads(root: Bits, names: Sequence[str]) -> bool:
    """Whether the expression mentions every one of the named arguments."""
    return set(names) <= {str(a.attr) for a in arguments([root])}

"""Merge bound: an area below which no merging of operators gets some datapaths.

Two datapaths of which one is selected at a time can share an operator of one with one of the other
that does the same. The most that two can share is the weight of a maximum-weight matching between
their operators, where a pair weighs what the smaller takes; the multiplexers that sharing needs are
left out, and so is what gates of unlike operators may have in common, which ABC finds.
(Moreano, Borin, de Souza, Araujo: Efficient datapath merging, TCAD 24:7, 2005.)
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import networkx as nx

from isa.bits import Bits, arg, node, topological
from isa.table import Table

__all__ = ["Operator", "alone", "least_area", "most_shared", "operators"]


@dataclass(frozen=True)
class Operator:
    """An operator of a datapath.

    Attributes:
        kind: Operators of one kind can be one operator, as wide as the wider.
        area_ge: What it takes alone.
    """

    kind: Hashable
    area_ge: float


def operators(values: Sequence[Bits], area_of: Callable[[Bits], float]) -> list[Operator]:
    """The operators of one datapath that take area; `area_of` prices what `alone` returns."""
    found = []
    for n in topological(values):
        if n.args:
            area = area_of(alone(n))
            if area > 0:
                table = n.attr.name if isinstance(n.attr, Table) else None
                found.append(Operator((n.op, table), area))
    return found


def alone(n: Bits) -> Bits:
    """An operator with its operands as arguments; constants, which make it smaller, stay."""
    args = [a if a.op == "const" else arg(f"x{i}", a.width) for i, a in enumerate(n.args)]
    return node(n.op, *args, attr=n.attr, width=n.width)


def most_shared(datapaths: Sequence[Sequence[Operator]]) -> float:
    """GE that sharing operators can save at most, against each datapath by itself.

    Datapaths are matched one after the other with the operators that there are so far.
    """
    saved = 0.0
    units: list[Operator] = []
    for datapath in sorted(datapaths, key=lambda d: -sum(o.area_ge for o in d)):
        graph = nx.Graph()
        for i, unit in enumerate(units):
            for j, operator in enumerate(datapath):
                if unit.kind == operator.kind:
                    weight = min(unit.area_ge, operator.area_ge)
                    graph.add_edge(("unit", i), ("operator", j), weight=weight)
        placed = set()
        for pair in nx.max_weight_matching(graph):
            (_, j), (_, i) = sorted(pair)
            saved += graph.edges[pair]["weight"]
            placed.add(j)
            units[i] = max(units[i], datapath[j], key=lambda o: o.area_ge)
        units += [operator for j, operator in enumerate(datapath) if j not in placed]
    return saved


def least_area(areas: Sequence[float], datapaths: Sequence[Sequence[Operator]]) -> float:
    """GE that no merging of these datapaths goes below.

    Args:
        areas: Of each datapath by itself.
        datapaths: The operators of each, in the same order.
    """
    return max([sum(areas) - most_shared(datapaths), *areas, 0.0])

"""Work: how many base instructions a subgraph stands for, the bound that orders candidates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dse.propose.enumeration import Subgraph
from dse.propose.graph import Graph, Vertex, members
from isa.instruction_set import InstructionSet

_SHORT_IMMEDIATE = range(-2048, 2048)


@dataclass(frozen=True)
class Work:
    """Instructions of a base set that each operator takes; an estimate, never a result.

    Attributes:
        rotation: For a rotation by a constant.
        inverted: For a bitwise operator with an inverted operand, beyond the operator.
        product: For a multiplication.
    """

    rotation: int = 3
    inverted: int = 1
    product: int = 100

    @classmethod
    def of(cls, base: InstructionSet) -> Work:
        """The estimate for a base set."""
        return cls(
            rotation=1 if "rori" in base else 3,
            inverted=0 if "andn" in base else 1,
            product=1 if "mul" in base else 100,
        )

    def vertex(self, vertex: Vertex, xlen: int) -> int:
        """Instructions for one operation."""
        operands = len(vertex.operands)
        match vertex.op:
            case "xor" | "and" | "or" | "add" | "sub":
                return operands - 1
            case "not":
                return self.inverted
            case "shl" | "shr" | "sar" | "shl_var" | "shr_var" | "sar_var" | "ult" | "slt":
                return 1
            case "rotr" | "rotr_var":
                return self.rotation + (vertex.op == "rotr_var")
            case "slice":
                low = vertex.attr if isinstance(vertex.attr, int) else 0
                at_end = low + vertex.width == xlen or (low == 0 and vertex.width < 12)
                return 0 if low == 0 and vertex.width == 1 else 1 if at_end else 2
            case "concat":
                return 2 * (operands - 1)
            case "sext" | "lookup" | "eq":
                return 2
            case "mux":
                return 3
            case "mul" | "mul_wide" | "clmul":
                return self.product
        return 0

    def subgraph(self, graph: Graph, subgraph: Subgraph, xlen: int) -> int:
        """Instructions that one instruction for the whole subgraph would replace."""
        total = 0
        for v in members(subgraph.inside):
            if v == subgraph.split:
                taken = len(graph.vertices[v].operands) - subgraph.rest.bit_count()
                total += taken - 1 if subgraph.is_partial else taken
            else:
                total += self.vertex(graph.vertices[v], xlen)
        return total


@dataclass(frozen=True)
class Occurrence:
    """One place where an instruction could stand.

    Attributes:
        graph: The block.
        subgraph: What it would replace there.
        work: Base instructions that is.
    """

    graph: Graph
    subgraph: Subgraph
    work: int

    @property
    def saving(self) -> float:
        """Instructions saved in one execution of the workload."""
        return self.graph.weight * (self.work - self.subgraph.outputs.bit_count())


def disjoint(occurrences: Iterable[Occurrence]) -> list[Occurrence]:
    """Occurrences that can stand together, chosen greedily, largest first.

    Uses that take different operands of one set can stand together, one feeding the next.
    """
    order = sorted(
        enumerate(occurrences), key=lambda item: (-item[1].work, item[1].graph.name, item[0])
    )
    whole: dict[int, int] = {}
    partly: dict[tuple[int, int], int] = {}
    split: dict[int, int] = {}
    kept = []
    for _, occurrence in order:
        graph, s = occurrence.graph, occurrence.subgraph
        key = id(graph)
        joint = 1 << s.split if s.split >= 0 else 0
        solid = s.inside & ~joint
        if solid & (whole.get(key, 0) | split.get(key, 0)) or joint & whole.get(key, 0):
            continue
        if joint:
            taken = 0
            for o in graph.vertices[s.split].operands:
                taken |= 1 << o
            taken &= ~s.rest
            if partly.get((key, s.split), 0) & taken:
                continue
            partly[key, s.split] = partly.get((key, s.split), 0) | taken
            split[key] = split.get(key, 0) | joint
        whole[key] = whole.get(key, 0) | solid
        kept.append(occurrence)
    return kept

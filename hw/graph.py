"""Graph: logic as structurally hashed AND, XOR and MUX nodes over single bits."""

from __future__ import annotations

import hashlib
import sys
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

__all__ = ["FALSE", "TRUE", "Adder", "Graph", "Kind", "Memory", "Port", "sweep"]

FALSE = 0
"""The literal of constant 0. A literal is 2 * node + 1 if complemented, else 2 * node."""
TRUE = 1


class Kind(IntEnum):
    """What a node is. MEMORY is one bit read from a memory; its fan-in is the address."""

    CONSTANT = 0
    INPUT = 1
    AND = 2
    XOR = 3
    MUX = 4
    MEMORY = 5


@dataclass(frozen=True)
class Port:
    """A named bundle of literals, least significant bit first.

    `role` is "input", "register" (output of the flip-flops) or "read" (data of a memory) where
    signals start; "output", "next" (input of the flip-flops), "address" or "write" where they end.
    """

    name: str
    role: str
    literals: tuple[int, ...]


@dataclass(frozen=True)
class Memory:
    """A memory that stays outside the logic: `words` words of `width` bits and its port counts."""

    name: str
    words: int
    width: int
    reads: int
    writes: int


@dataclass(frozen=True)
class Adder:
    """Literals of an adder that a carry chain could do.

    `propagate` are the XORs of its operands and `taken` one operand of each, both of which LUTs
    give; `results` its sum bits and at last its carry, which the chain gives. Lowest bit first; in
    place of a bit that nothing reads, or that is no gate, stands `FALSE`.
    """

    propagate: tuple[int, ...]
    taken: tuple[int, ...]
    results: tuple[int, ...]


@dataclass
class Graph:
    """Nodes in topological order, and the ports where signals start and end.

    Two operands are stored in order, an XOR has no complemented operand and a MUX none as select
    or as what it passes on 0, so equal functions of equal parts are one node. The fan-in of a MUX
    is (select, when 1, when 0).
    """

    kind: list[Kind] = field(default_factory=lambda: [Kind.CONSTANT])
    fanin: list[tuple[int, ...]] = field(default_factory=lambda: [()])
    sources: list[Port] = field(default_factory=list)
    sinks: list[Port] = field(default_factory=list)
    memories: list[Memory] = field(default_factory=list)
    memory_of: dict[int, int] = field(default_factory=dict)
    adders: list[Adder] = field(default_factory=list)
    _hashed: dict[tuple[int, ...], int] = field(default_factory=dict, repr=False)

    def _new(self, kind: Kind, fanin: tuple[int, ...]) -> int:
        self.kind.append(kind)
        self.fanin.append(fanin)
        return (len(self.kind) - 1) << 1

    def input(self) -> int:
        """Add a bit that comes from outside and return its literal."""
        return self._new(Kind.INPUT, ())

    def memory_bit(self, memory: int, address: Sequence[int]) -> int:
        """Add a bit read from `memories[memory]` at `address`."""
        literal = self._new(Kind.MEMORY, tuple(address))
        self.memory_of[literal >> 1] = memory
        return literal

    def and_(self, a: int, b: int) -> int:
        """Return the literal of a AND b."""
        if a > b:
            a, b = b, a
        if a == FALSE or a ^ 1 == b:
            return FALSE
        if a in (TRUE, b):
            return b
        key = (Kind.AND, a, b)
        found = self._hashed.get(key)
        if found is None:
            found = self._hashed[key] = self._new(Kind.AND, (a, b))
        return found

    def or_(self, a: int, b: int) -> int:
        """Return the literal of a OR b."""
        return self.and_(a ^ 1, b ^ 1) ^ 1

    def xor(self, a: int, b: int) -> int:
        """Return the literal of a XOR b. Complements move to the output."""
        complement = (a ^ b) & 1
        a &= ~1
        b &= ~1
        if a > b:
            a, b = b, a
        if a == FALSE:
            return b ^ complement
        if a == b:
            return complement
        key = (Kind.XOR, a, b)
        found = self._hashed.get(key)
        if found is None:
            found = self._hashed[key] = self._new(Kind.XOR, (a, b))
        return found ^ complement

    def mux(self, select: int, one: int, zero: int) -> int:
        """Return the literal of `one` if `select` else `zero`."""
        if select & 1:
            select, one, zero = select ^ 1, zero, one
        if select == FALSE:
            return zero
        if one >> 1 == zero >> 1:
            return one if one == zero else self.xor(select, zero)
        if one in (TRUE, select):
            return self.or_(select, zero)
        if one in (FALSE, select ^ 1):
            return self.and_(select ^ 1, zero)
        if zero in (FALSE, select):
            return self.and_(select, one)
        if zero in (TRUE, select ^ 1):
            return self.or_(select ^ 1, one)
        complement = zero & 1
        one ^= complement
        zero ^= complement
        key = (Kind.MUX, select, one, zero)
        found = self._hashed.get(key)
        if found is None:
            found = self._hashed[key] = self._new(Kind.MUX, (select, one, zero))
        return found ^ complement

    def is_gate(self, literal: int) -> bool:
        """Whether a gate makes the bit: no constant, and nothing that comes from outside."""
        return self.kind[literal >> 1] in (Kind.AND, Kind.XOR, Kind.MUX)

    @property
    def flip_flops(self) -> int:
        """Number of flip-flops: the bits of all registers that reach an output."""
        return sum(len(port.literals) for port in self.sources if port.role == "register")

    def count(self, kind: Kind) -> int:
        """Return the number of nodes of `kind`."""
        return sum(1 for k in self.kind if k is kind)

    def digest(self) -> str:
        """Return the SHA-256 of the structure: nodes, port names and memories, nothing else."""
        state = hashlib.sha256()
        state.update(bytes(self.kind))
        flat = array("Q")
        for fanin in self.fanin:
            flat.append(len(fanin))
            flat.extend(fanin)
        if sys.byteorder == "big":
            flat.byteswap()
        state.update(flat.tobytes())
        for port in (*self.sources, *self.sinks):
            state.update(f"{port.name}:{port.role}:{port.literals};".encode())
        for memory in self.memories:
            state.update(f"{memory};".encode())
        state.update(f"{sorted(self.memory_of.items())}".encode())
        for adder in self.adders:
            state.update(f"{adder.propagate}{adder.taken}{adder.results};".encode())
        return state.hexdigest()


def _live(graph: Graph, roots: Iterable[int]) -> bytearray:
    """Return 1 for each node that a literal of `roots` depends on."""
    live = bytearray(len(graph.kind))
    for literal in roots:
        live[literal >> 1] = 1
    fanin = graph.fanin
    for node in range(len(live) - 1, 0, -1):
        if live[node]:
            for literal in fanin[node]:
                live[literal >> 1] = 1
    return live


def sweep(graph: Graph, sinks: Sequence[str] | None = None) -> Graph:
    """Return `graph` without the nodes that no sink depends on; the others keep their order.

    With `sinks`, only the ports of these names are kept, and what feeds them: the cone of one
    output. Bits of inputs and registers that nothing reads stay ports and cost nothing.
    """
    kept = [port for port in graph.sinks if sinks is None or port.name in sinks]
    if sinks is not None:
        known = {port.name for port in graph.sinks}
        for name in sinks:
            if name not in known:
                names = ", ".join(sorted(known)) or "none"
                raise ValueError(f"sink must be one of {names}, not {name!r}")
    live = _live(graph, (literal for port in kept for literal in port.literals))
    result = Graph(memories=list(graph.memories))
    new = {0: FALSE}
    for node, (kind, fanin) in enumerate(zip(graph.kind, graph.fanin, strict=True)):
        if kind is Kind.INPUT:
            new[node] = result.input()
        elif live[node] and node:
            new[node] = result._new(kind, tuple([new[f >> 1] ^ (f & 1) for f in fanin]))
            if kind is Kind.MEMORY:
                result.memory_of[new[node] >> 1] = graph.memory_of[node]

    def rename(ports: Iterable[Port]) -> list[Port]:
        return [
            Port(p.name, p.role, tuple(new[x >> 1] ^ (x & 1) for x in p.literals if x >> 1 in new))
            for p in ports
        ]

    for adder in graph.adders:
        propagate, taken, results = (
            tuple(new[x >> 1] ^ (x & 1) if x >> 1 in new else FALSE for x in literals)
            for literals in (adder.propagate, adder.taken, adder.results)
        )
        if any(results):
            result.adders.append(Adder(propagate, taken, results))
    result.sources = rename(graph.sources)
    result.sinks = rename(kept)
    return result

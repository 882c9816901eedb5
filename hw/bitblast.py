"""Bit-blasting: from a PyRTL block, as written, to a `Graph` of single-bit gates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyrtl

from hw import arithmetic
from hw.graph import FALSE, Graph, Memory, Port, sweep
from hw.identifiers import is_temporary, naming_order
from hw.rom import contents
from hw.sums import Sum, Sums

__all__ = ["bitblast", "source_wires"]

Word = Sequence[int]

TABLE_ADDRESS_BITS = 12
"""Longest address of a RomBlock that becomes gates; a longer one is a memory of its own."""


def _label(thing: Any, rank: int) -> str:
    """Return the name of a wire or memory, by rank where the user gave none."""
    return f"_{rank}" if is_temporary(thing.name) else str(thing.name)


def bitblast(block: pyrtl.Block) -> Graph:
    """Return the gates of `block`, an unoptimised PyRTL block (never a synthesised one).

    Inputs, outputs and registers keep their names; everything else is structure. The result does
    not depend on the order of PyRTL's sets, on temporary names or on PYTHONHASHSEED. Registers and
    logic that reach neither an output nor a memory are left out. A MemBlock becomes ports (its
    area and delay: `hw/memory.py`); a RomBlock of at most 12 address bits becomes gates.
    """
    return sweep(_Blaster(block).run())


def source_wires(block: pyrtl.Block) -> dict[str, Any]:
    """The wire of each port that may be a source of `bitblast(block)`, by the port's name."""
    blaster = _Blaster(block)
    found = {
        _label(wire, rank): wire
        for wires in (blaster.inputs, blaster.registers)
        for rank, wire in enumerate(wires)
    }
    for rank, memory in enumerate(blaster.memories):
        for i, net in enumerate(memory.readport_nets):
            found[f"{_label(memory, rank)}.read{i}.data"] = net.dests[0]
    return found


class _Blaster:
    """One conversion: the graph being built and the literals of each wire seen."""

    def __init__(self, block: pyrtl.Block) -> None:
        self.graph = Graph()
        self.words: dict[Any, Word] = {}
        self.inputs = sorted(block.wirevector_subset(pyrtl.Input), key=naming_order)
        self.outputs = sorted(block.wirevector_subset(pyrtl.Output), key=naming_order)
        self.driver = {net.dests[0]: net for net in block.logic if net.dests}
        sums = Sums(block.logic)
        found = {net.dests[0]: sums.of(net) for net in block.logic_subset("+-")}
        self.sums = {wire: s for wire, s in found.items() if s is not None}
        stores = {net.op_param[1] for net in block.logic_subset("m@")}
        self.memories = sorted((m for m in stores if not _is_table(m)), key=naming_order)
        self.memory_index = {memory.id: i for i, memory in enumerate(self.memories)}
        self.registers = self._live_registers()

    def _roots(self) -> Iterator[Any]:
        yield from self.outputs
        for memory in self.memories:
            for net in memory.writeport_nets:
                yield from net.args

    def _live_registers(self) -> list[Any]:
        """Return the registers from which an output or a memory can be reached."""
        seen: set[Any] = set()
        stack = list(self._roots())
        while stack:
            wire = stack.pop()
            if wire not in seen:
                seen.add(wire)
                if wire in self.driver:
                    stack.extend(self.driver[wire].args)
        return sorted((w for w in seen if isinstance(w, pyrtl.Register)), key=naming_order)

    def run(self) -> Graph:
        """Build the graph: sources, then the logic under each sink in the order of names."""
        graph = self.graph
        for role, wires in (("input", self.inputs), ("register", self.registers)):
            for rank, wire in enumerate(wires):
                literals = tuple(graph.input() for _ in range(len(wire)))
                self.words[wire] = literals
                graph.sources.append(Port(_label(wire, rank), role, literals))
        for rank, memory in enumerate(self.memories):
            reads, writes = len(memory.readport_nets), len(memory.writeport_nets)
            name = _label(memory, rank)
            graph.memories.append(
                Memory(name, 1 << memory.addrwidth, memory.bitwidth, reads, writes)
            )
        for rank, wire in enumerate(self.outputs):
            graph.sinks.append(Port(_label(wire, rank), "output", tuple(self._word(wire))))
        for rank, wire in enumerate(self.registers):
            following = self._word(self.driver[wire].args[0])
            graph.sinks.append(Port(_label(wire, rank), "next", tuple(following)))
        for memory, record in zip(self.memories, graph.memories, strict=True):
            self._memory_ports(memory, record.name)
        return graph

    def _memory_ports(self, memory: Any, name: str) -> None:
        for i, net in enumerate(memory.writeport_nets):
            for part, wire in zip(("address", "data", "enable"), net.args, strict=True):
                port = Port(f"{name}.write{i}.{part}", "write", tuple(self._word(wire)))
                self.graph.sinks.append(port)
        for i, net in enumerate(memory.readport_nets):
            if net.dests[0] in self.words:
                address = tuple(self._word(net.args[0]))
                self.graph.sinks.append(Port(f"{name}.read{i}.address", "address", address))
                data = tuple(self.words[net.dests[0]])
                self.graph.sources.append(Port(f"{name}.read{i}.data", "read", data))

    def _word(self, root: Any) -> Word:
        """Return the literals of wire `root`, converting whatever drives it first."""
        words = self.words
        stack = [root]
        while stack:
            wire = stack[-1]
            if wire in words:
                stack.pop()
                continue
            if isinstance(wire, pyrtl.Const):
                words[wire] = [wire.val >> i & 1 for i in range(len(wire))]
                continue
            net = self.driver.get(wire)
            if net is None:
                raise ValueError(f"wire {wire.name} must be driven, not left open")
            missing = [arg for arg in self._arguments(net) if arg not in words]
            if not missing:
                words[wire] = self._convert(net)
            elif len(stack) > len(self.driver) + len(words) + 1:
                raise ValueError(f"wire {wire.name} must not depend on itself without a register")
            else:
                stack.extend(missing[:1])
        return words[root]

    def _arguments(self, net: Any) -> Iterable[Any]:
        """Return the wires that `net` is made of: for the end of a long sum, all terms."""
        found = self.sums.get(net.dests[0])
        return net.args if found is None else [w for term in found.terms for w in term.wires]

    def _convert(self, net: Any) -> Word:
        if net.dests[0] in self.sums:
            return self._total(self.sums[net.dests[0]], len(net.dests[0]))
        args = [self.words[arg] for arg in net.args]
        width = len(net.dests[0])
        if net.op == "s":
            word: Word = [args[0][i] for i in net.op_param]
        elif net.op == "m":
            word = self._read(net.op_param[1], args[0], width)
        elif net.op in _OPERATORS:
            word = _OPERATORS[net.op](self.graph, *args)
        else:
            raise ValueError(f"PyRTL operator must be one of those in LogicNet, not {net.op!r}")
        return [*word[:width], *([FALSE] * (width - len(word)))]

    def _total(self, found: Sum, width: int) -> Word:
        """Return a sum of many terms; above what anything reads of it, zeros."""
        words = [(self.words[t.wires[0]], t.negative) for t in found.terms if len(t.wires) == 1]
        products = [
            (self.words[t.wires[0]], self.words[t.wires[1]])
            for t in found.terms
            if len(t.wires) == 2
        ]
        added = arithmetic.total(self.graph, words, products, found.width)
        return [*added, *([FALSE] * (width - len(added)))]

    def _read(self, memory: Any, address: Word, width: int) -> Word:
        if _is_table(memory):
            return arithmetic.table(self.graph, address, contents(memory), width)
        index = self.memory_index[memory.id]
        return [self.graph.memory_bit(index, address) for _ in range(width)]


def _is_table(memory: Any) -> bool:
    return isinstance(memory, pyrtl.RomBlock) and memory.addrwidth <= TABLE_ADDRESS_BITS


def _concat(_: Graph, *parts: Word) -> Word:
    return [literal for part in reversed(parts) for literal in part]


_OPERATORS: dict[str, Callable[..., Word]] = {
    "w": lambda g, a: a,
    "~": lambda g, a: [x ^ 1 for x in a],
    "&": lambda g, a, b: [g.and_(x, y) for x, y in zip(a, b, strict=True)],
    "|": lambda g, a, b: [g.or_(x, y) for x, y in zip(a, b, strict=True)],
    "^": lambda g, a, b: [g.xor(x, y) for x, y in zip(a, b, strict=True)],
    "n": lambda g, a, b: [g.and_(x, y) ^ 1 for x, y in zip(a, b, strict=True)],
    "x": lambda g, s, a, b: [g.mux(s[0], one, zero) for zero, one in zip(a, b, strict=True)],
    "c": _concat,
    "+": arithmetic.add,
    "-": arithmetic.subtract,
    "*": arithmetic.multiply,
    "=": lambda g, a, b: [arithmetic.equal(g, a, b)],
    "<": lambda g, a, b: [arithmetic.less_than(g, a, b)],
    ">": lambda g, a, b: [arithmetic.less_than(g, b, a)],
}

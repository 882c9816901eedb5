"""Simulation: a closed PyRTL block as one Python function, some times faster than PyRTL's own.

Values that are used once are written into the expression that uses them, so that what a
multiplexer or a gate does not select is not computed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, MutableSequence
from dataclasses import dataclass
from typing import Any

import pyrtl

__all__ = ["Simulation", "Trace"]

_ATOM = re.compile(r"\w+")
_DEEPEST = 30
"""Nesting beyond which a value is named; Python's parser refuses 200 parentheses."""

Contents = Mapping[pyrtl.MemBlock, Mapping[int, int]]


@dataclass(frozen=True)
class Trace:
    """What a block did.

    Attributes:
        events: (cycle, value) for each cycle in which the watched bit was 1, from cycle 0.
        registers: Value of each register after the last cycle, by name.
        memories: Words of each memory after the last cycle.
    """

    events: tuple[tuple[int, int], ...]
    registers: Mapping[str, int]
    memories: Mapping[pyrtl.MemBlock, MutableSequence[int]]


class Simulation:
    """A block without inputs, compiled."""

    def __init__(self, block: pyrtl.Block, bit: str, value: str) -> None:
        """Compile a block.

        Args:
            block: Memories are read asynchronously, or from registered addresses.
            bit: Name of the output, 1 bit, that makes an event.
            value: Name of the output that is recorded with it.

        Raises:
            ValueError: The block has inputs.
        """
        block.sanity_check()
        inputs = sorted(w.name for w in block.wirevector_subset(pyrtl.Input))
        if inputs:
            raise ValueError(f"block must have no inputs, not {', '.join(inputs)}")
        writer = _Writer(block)
        self._registers = writer.registers
        self._memories = writer.memories
        self._function: Callable[..., tuple[int, ...]] = writer.function(bit, value)

    def run(self, limit: int, stop: Collection[int], contents: Contents) -> Trace:
        """Simulate from reset, registers at their reset value or 0, memories 0 where not given.

        Args:
            limit: Cycles to simulate at most.
            stop: Values of an event after whose cycle the simulation ends.
            contents: Initial words of memories by address.
        """
        memories = []
        for memory in self._memories:
            size = 1 << memory.addrwidth
            words: MutableSequence[int] = bytearray(size) if memory.bitwidth == 8 else [0] * size
            for address, word in contents.get(memory, {}).items():
                words[address] = word
            memories.append(words)
        events: list[tuple[int, int]] = []
        values = self._function(limit, frozenset(stop), events.append, *memories)
        return Trace(
            tuple(events),
            {r.name: v for r, v in zip(self._registers, values, strict=True)},
            dict(zip(self._memories, memories, strict=True)),
        )


Key = Hashable
"""Identity of a value: equal keys are computed once.

A register or an operation is a number, `("k", value)` is a constant, `("s", number, low, width)`
are bits of a value, `("c", pieces)` are pieces put together, the highest first. A piece is
(number or constant, low, width). Wires themselves are no keys, as PyRTL's `==` builds hardware.
"""
Piece = tuple[int | tuple[str, int], int, int]


class _Writer:
    """Writes the function of one block."""

    def __init__(self, block: pyrtl.Block) -> None:
        self.driver = {n.dests[0]: n for n in block.logic if n.dests}
        self.stores = sorted((n for n in block.logic if n.op == "@"), key=_place_of_store)
        self.registers = sorted(block.wirevector_subset(pyrtl.Register), key=lambda r: r.name)
        memories = {n.op_param[1] for n in block.logic_subset("m@")}
        memories = {m for m in memories if not isinstance(m, pyrtl.RomBlock)}
        self.memories = sorted(memories, key=lambda m: m.name)
        self.memory_name = {m: f"M{i}" for i, m in enumerate(self.memories)}
        self.outputs = {w.name: w for w in block.wirevector_subset(pyrtl.Output)}
        self.scope: dict[str, Any] = {}
        self.sources: list[Any] = list(self.registers)  # by number
        self.pieces: dict[Any, tuple[Piece, ...]] = {
            r: ((i, 0, len(r)),) for i, r in enumerate(self.registers)
        }
        self.operands: dict[Key, tuple[Key, ...]] = dict.fromkeys(range(len(self.registers)), ())
        self.text: dict[Key, str] = {i: f"r{i}" for i in range(len(self.registers))}
        self.depth: dict[Key, int] = {}
        self._number(block)

    def _number(self, block: pyrtl.Block) -> None:
        """Find the pieces of every wire; equal operations on equal operands are one."""
        known: dict[Key, Any] = {}
        for net in block:  # operands first
            if not net.dests or net.op == "r":
                continue
            wire = net.dests[0]
            if net.op in "wcs":
                self.pieces[wire] = self._wiring(net)
                continue
            operands = self._operation(net)
            identity = (net.op, operands, len(wire), net.op_param and net.op_param[0])
            number = known.setdefault(identity, len(self.sources))
            if number == len(self.sources):
                self.sources.append(wire)
                self.operands[number] = operands
            self.pieces[wire] = ((number, 0, len(wire)),)

    def _pieces(self, wire: Any) -> tuple[Piece, ...]:
        if isinstance(wire, pyrtl.Const):
            return ((("k", wire.val), 0, len(wire)),)
        return self.pieces[wire]

    def _wiring(self, net: Any) -> tuple[Piece, ...]:
        if net.op == "w":
            return _cut(self._pieces(net.args[0]), 0, len(net.dests[0]))
        if net.op == "c":
            return _merged([p for a in net.args for p in self._pieces(a)])
        whole = self._pieces(net.args[0])
        return _merged([p for bit in reversed(net.op_param) for p in _cut(whole, bit, 1)])

    def _key(self, pieces: tuple[Piece, ...]) -> Key:
        if len(pieces) > 1:
            key: Key = ("c", pieces)
            self.operands.setdefault(key, tuple(self._key((p,)) for p, _ in _grouped(pieces)))
            return key
        source, low, width = pieces[0]
        if isinstance(source, tuple):
            return ("k", source[1] >> low & (1 << width) - 1)
        if width == len(self.sources[source]):
            return source
        key = ("s", source, low, width)
        self.operands.setdefault(key, (source,))
        return key

    def _operation(self, net: Any) -> tuple[Key, ...]:
        """Operands of an operation: those of PyRTL, or those of what it amounts to."""
        parity = self._parity(net)
        if parity is not None:
            return ("parity", self._key(self._pieces(parity)))
        pieces = [self._pieces(a) for a in net.args]
        if net.op == "&" and len(net.dests[0]) > 1:
            for mask, value in (pieces, pieces[::-1]):
                if mask[0][2] == 1 and len(set(mask)) == 1 and not isinstance(mask[0][0], tuple):
                    return ("gate", self._key(value), self._key(mask[:1]))
        return tuple(self._key(p) for p in pieces)

    def _parity(self, net: Any) -> Any:
        """The wire of which a 1-bit XOR is the parity, written as a folding in halves."""
        whole = None
        while net is not None and net.op == "^":
            low, high = (self.driver.get(a) for a in net.args)
            if low is None or high is None or low.op != "s" or high.op != "s":
                break
            source, width = low.args[0], len(net.dests[0])
            ranges = {tuple(low.op_param), tuple(high.op_param)}
            wanted = {tuple(range(width)), tuple(range(width, 2 * width))}
            if high.args[0] is not source or len(source) != 2 * width or ranges != wanted:
                break
            if whole is None and width != 1:
                break
            whole = source
            net = self.driver.get(source)
        return whole

    def function(self, bit: str, value: str) -> Callable[..., tuple[int, ...]]:
        """Compile the function: (limit, stop, record, *memories) to final register values."""
        nexts = [self.driver[r].args[0] for r in self.registers]
        writes = [wire for net in self.stores for wire in net.args]
        watched = [self.outputs[bit], self.outputs[value]]
        keys = [self._key(self._pieces(w)) for w in (*watched, *writes, *nexts)]
        lines = self._statements(keys)
        values = [self._value(k) for k in keys]
        names = ["event", "watched", *(f"w{i}" for i in range(len(writes)))]
        lines += [f"{n}={v}" for n, v in zip(names, values, strict=False)]
        registers = "".join(f"r{i}," for i in range(len(self.registers)))
        if self.registers:
            lines.append(f"{registers}={','.join(values[len(names) :])},")
        for i, net in enumerate(self.stores):
            place = f"{self.memory_name[net.op_param[1]]}[w{3 * i}]"
            lines.append(f"if w{3 * i + 2}: {place}=w{3 * i + 1}")
        resets = "".join(f"{r.reset_value or 0}," for r in self.registers)
        parameters = ",".join(["limit", "stop", "record", *self.memory_name.values()])
        text = "\n".join(
            [
                f"def run({parameters}):",
                *([f" {registers}={resets}"] if self.registers else []),
                " for cycle in range(limit):",
                *(f"  {line}" for line in lines),
                "  if event:",
                "   record((cycle,watched))",
                "   if watched in stop: break",
                f" return ({registers})",
            ]
        )
        exec(text, self.scope)  # our own text
        function: Callable[..., tuple[int, ...]] = self.scope["run"]
        return function

    def _statements(self, roots: list[Key]) -> list[str]:
        """Assignments of the values that have names, operands first."""
        uses: Counter[Key] = Counter(roots)
        order: list[Key] = []
        seen: set[Key] = set()
        stack = [(root, False) for root in reversed(roots)]
        while stack:
            key, operands_done = stack.pop()
            if operands_done:
                order.append(key)
            elif key not in seen and not _is_constant(key):
                seen.add(key)
                stack.append((key, True))
                for operand in self.operands[key]:
                    uses[operand] += 1
                    if operand not in ("parity", "gate"):
                        stack.append((operand, False))
        lines = []
        for key in order:
            if key in self.text:  # a register
                continue
            text = self._write(key)
            below = [self.depth.get(k, 0) for k in self.operands[key]]
            depth = 1 + max(below, default=0)
            if uses[key] > 1 or depth > _DEEPEST:
                name = f"v{len(self.text)}"
                lines.append(f"{name}={text}")
                text, depth = name, 0
            self.text[key], self.depth[key] = text, depth
        return lines

    def _value(self, key: Key) -> str:
        if isinstance(key, tuple) and key[0] == "k":
            return str(key[1])
        return self.text[key]

    def _atom(self, key: Key) -> str:
        text = self._value(key)
        return text if _ATOM.fullmatch(text) else f"({text})"

    def _write(self, key: Any) -> str:
        if isinstance(key, tuple) and key[0] == "s":
            _, source, low, width = key
            text = f"{self._atom(source)}>>{low}" if low else self._atom(source)
            return (
                text if low + width == len(self.sources[source]) else f"{text}&{(1 << width) - 1}"
            )
        if isinstance(key, tuple):
            return self._joined(key[1])
        return self._operator(self.driver[self.sources[key]], self.operands[key])

    def _joined(self, pieces: tuple[Piece, ...]) -> str:
        """Pieces put together; copies of one bit are one piece."""
        parts = []
        low = sum(width for _, _, width in pieces)
        for piece, count in _grouped(pieces):
            text = self._atom(self._key((piece,)))
            low -= piece[2] * count
            if count > 1:
                parts.append(f"({((1 << count) - 1) << low} if {text} else 0)")
            elif text != "0":
                parts.append(f"{text}<<{low}" if low else text)
        return "|".join(parts) or "0"

    def _operator(self, net: Any, operands: tuple[Key, ...]) -> str:
        width = len(net.dests[0])
        mask = (1 << width) - 1
        if operands[0] == "parity":
            return f"({self._value(operands[1])}).bit_count()&1"
        if operands[0] == "gate":
            return f"{self._atom(operands[1])} if {self._atom(operands[2])} else 0"
        a = [self._atom(k) for k in operands]
        natural = len(net.args[0])
        match net.op:
            case "~":
                return f"{a[0]}^{mask}"
            case "&" | "|" | "^":
                text = f"{a[0]}{net.op}{a[1]}"
            case "n":
                return f"({a[0]}&{a[1]})^{mask}"
            case "+":
                text, natural = f"{a[0]}+{a[1]}", natural + 1
            case "-":
                return f"({a[0]}-{a[1]})&{mask}"
            case "*":
                text, natural = f"{a[0]}*{a[1]}", natural + len(net.args[1])
            case "<" | ">":
                return f"{a[0]}{net.op}{a[1]}"
            case "=":
                return f"{a[0]}=={a[1]}"
            case "x":
                return f"{a[2]} if {a[0]} else {a[1]}"
            case "m":
                return self._read(net.op_param[1], a[0])
            case other:
                raise ValueError(f"PyRTL operator must be one of those in LogicNet, not {other!r}")
        return text if natural <= width else f"({text})&{mask}"

    def _read(self, memory: Any, address: str) -> str:
        if not isinstance(memory, pyrtl.RomBlock):
            return f"{self.memory_name[memory]}[{address}]"
        name = f"T{memory.id}"
        if name not in self.scope:
            size = 1 << memory.addrwidth
            given = size if callable(memory.data) else min(size, len(memory.data))
            words = [memory._get_read_data(i) for i in range(given)]
            self.scope[name] = tuple(words + [0] * (size - given))
        return f"{name}[{address}]"


def _is_constant(key: Any) -> bool:
    return isinstance(key, tuple) and key[0] == "k"


def _cut(pieces: tuple[Piece, ...], low: int, width: int) -> tuple[Piece, ...]:
    """Bits `low` to `low + width - 1` of pieces put together."""
    found = []
    base = 0
    for source, at, length in reversed(pieces):
        start, end = max(low, base), min(low + width, base + length)
        if start < end:
            found.append((source, at + start - base, end - start))
        base += length
    return tuple(reversed(found))


def _merged(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Join neighbours that are neighbouring bits of one value, or constants."""
    found: list[Piece] = []
    for source, low, width in pieces:
        if found:
            above, at, length = found[-1]
            if isinstance(source, tuple) and isinstance(above, tuple):
                value = above[1] >> at & (1 << length) - 1
                value = value << width | source[1] >> low & (1 << width) - 1
                found[-1] = (("k", value), 0, length + width)
                continue
            if above == source and at == low + width:
                found[-1] = (source, low, length + width)
                continue
        found.append((source, low, width))
    return tuple(found)


def _grouped(pieces: tuple[Piece, ...]) -> list[tuple[Piece, int]]:
    """Pieces with the number of times that each 1-bit piece stands in a row."""
    found: list[tuple[Piece, int]] = []
    for piece in pieces:
        if piece[2] == 1 and found and found[-1][0] == piece:
            found[-1] = (piece, found[-1][1] + 1)
        else:
            found.append((piece, 1))
    return found


def _place_of_store(net: Any) -> tuple[str, tuple[str, ...]]:
    return net.op_param[1].name, tuple(w.name for w in net.args)

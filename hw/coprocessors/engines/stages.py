"""Stages: combinational logic cut by registers so that its longest path shrinks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import groupby
from typing import Any

import pyrtl

from hw import area
from hw.sums import Sum, Sums
from hw.technology import technology

__all__ = ["cut"]

_TECHNOLOGY = technology("ge")
_WIRING = frozenset("wsc")
_RESOLUTION_FO4 = 0.05
"""How near to the shortest period the search for it ends."""

Bit = tuple[Any, int]
"""A wire that an operator or a source drives, and the number of one of its bits."""
Label = tuple[int, float]
"""When a value is there: stage, counted from 0, and FO4 after the clock edge that begins it."""


def cut(wires: Sequence[pyrtl.WireVector], stages: int, after: float = 0.0) -> list[Any]:
    """Return `wires` with their logic cut into `stages` parts of about equal delay.

    The logic reaches back to registers and inputs, which must hold still: the results are right
    `stages` - 1 cycles after these have changed, and stay so. A value is therefore registered
    where its path grows too long, and nowhere else. The period is the shortest for the delays of
    `hw.technology`, operators of PyRTL being indivisible.

    Args:
        wires: Results of the logic, in the working block.
        stages: 1 leaves everything as it is.
        after: Delay of what the caller puts behind the results, FO4.
    """
    if stages == 1:
        return list(wires)
    cone = _Cone(wires)
    low = max([after, *map(cone.fo4, cone.order)])
    high = sum(map(cone.fo4, cone.order)) + after
    while high - low > _RESOLUTION_FO4:
        middle = (low + high) / 2
        if cone.stages_needed(middle, after) <= stages:
            high = middle
        else:
            low = middle
    registered = cone.plan(high, stages, after)
    return _rebuild(cone, wires, registered)


@cache
def _sum_fo4(terms: int, width: int) -> float:
    """Return the delay of a sum of so many words."""
    block = pyrtl.Block()
    with pyrtl.set_working_block(block, no_sanity_check=True):
        words = [pyrtl.Input(width, f"x{i}") for i in range(terms)]
        total = words[0]
        for word in words[1:]:
            total = (total + word)[:width]
        out = pyrtl.Output(width, "out")
        out <<= total
    return area.estimate(block, _TECHNOLOGY).delay_fo4


def _operator_fo4(op: str, width: int) -> float:
    """Return the delay of one operator and the load of one reader."""
    t = _TECHNOLOGY
    match op:
        case "~":
            return 0.0
        case "&" | "|" | "n":
            return t.and_fo4 + t.load_fo4
        case "^":
            return t.xor_fo4 + t.load_fo4
        case "x":
            return t.mux_fo4 + t.load_fo4
        case "m":  # a table: one level of multiplexers for each bit of its address
            return width * (t.mux_fo4 + t.load_fo4)
        case "=":
            return t.xor_fo4 + t.load_fo4 + (width - 1).bit_length() * (t.and_fo4 + t.load_fo4)
        case _:
            return _sum_fo4(2, width)


class _Cone:
    """The operators that some wires depend on, back to where signals start, operands first."""

    def __init__(self, wires: Iterable[Any]) -> None:
        self.block = pyrtl.working_block()
        self.driver = {n.dests[0]: n for n in self.block.logic if n.dests and n.op not in "r@"}
        self._bits: dict[Any, list[Bit]] = {}
        self.sums: dict[Any, Sum] = {}
        self.reads: dict[Any, list[list[Bit]]] = {}
        self.order: list[Any] = []
        sums = Sums(self.block.logic)
        ends = list(dict.fromkeys(wires))
        self.nets = self._topological(ends)
        for net in self.nets:
            found = sums.of(net)
            if found is not None:
                self.sums[net] = found
            self._bits[net.dests[0]] = self._origins(net)
        self._find_order(ends)
        self.ends = _distinct(self.bits(w) for w in ends)

    def _topological(self, ends: Sequence[Any]) -> list[Any]:
        order: list[Any] = []
        seen: set[Any] = set()
        stack = [(self.driver[w], False) for w in reversed(ends) if w in self.driver]
        while stack:
            net, done = stack.pop()
            if done:
                order.append(net)
            elif net not in seen:
                seen.add(net)
                stack.append((net, True))
                stack += [(self.driver[a], False) for a in net.args if a in self.driver]
        return order

    def _origins(self, net: Any) -> list[Bit]:
        wire = net.dests[0]
        match net.op:
            case "w":
                return self.bits(net.args[0])[: len(wire)]
            case "s":
                below = self.bits(net.args[0])
                return [below[i] for i in net.op_param]
            case "c":
                return [bit for arg in reversed(net.args) for bit in self.bits(arg)]
            case _:
                return [(wire, i) for i in range(len(wire))]

    def bits(self, wire: Any) -> list[Bit]:
        """Return where the bits of a wire come from, lowest first."""
        return self._bits.get(wire) or [(wire, i) for i in range(len(wire))]

    def _find_order(self, ends: Sequence[Any]) -> None:
        """List the operators that are left when wiring and the insides of sums are skipped."""
        seen: set[Any] = set()
        stack = [(wire, False) for wire in _distinct(self.bits(w) for w in ends)]
        while stack:
            wire, done = stack.pop()
            net = self.driver.get(wire)
            if net is None:
                continue
            if done:
                self.order.append(net)
            elif net not in seen:
                seen.add(net)
                self.reads[net] = [self.bits(w) for w in self._operands(net)]
                stack.append((wire, True))
                stack += [(w, False) for w in _distinct(self.reads[net])]

    def _operands(self, net: Any) -> list[Any]:
        if net in self.sums:
            return [w for term in self.sums[net].terms for w in term.wires]
        return list(net.args)

    def fo4(self, net: Any) -> float:
        """Return the delay of an operator."""
        if net in self.sums:
            return _sum_fo4(len(self.sums[net].terms), self.sums[net].width)
        return _operator_fo4(net.op, len(net.args[-1]))

    def stages_needed(self, period: float, after: float) -> int:
        """Return how few stages do with a period, when registers cost nothing."""
        ready: dict[Any, Label] = {}
        for net in self.order:
            stage, time = max(self._labels(ready, _distinct(self.reads[net])))
            time += self.fo4(net)
            if time > period:
                stage, time = stage + 1, self.fo4(net)
            ready[net.dests[0]] = stage, time
        return 1 + max(
            stage + (time + after > period) for stage, time in self._labels(ready, self.ends)
        )

    def _labels(self, ready: dict[Any, Label], wires: Iterable[Any]) -> list[Label]:
        return [(0, 0.0), *(ready[w] for w in wires if w in ready)]

    def _due(self, period: float, stages: int, after: float) -> dict[Any, Label]:
        """Return when each operator's result must be there at the latest."""
        end = stages - 1, period - after
        due: dict[Any, Label] = dict.fromkeys(self.ends, end)
        for net in reversed(self.order):
            stage, time = due[net.dests[0]]
            time -= self.fo4(net)
            if time < 0:
                due[net.dests[0]] = stage - 1, period
                stage, time = stage - 1, period - self.fo4(net)
            for wire in _distinct(self.reads[net]):
                due[wire] = min(due.get(wire, end), (stage, time))
        return due

    def plan(self, period: float, stages: int, after: float) -> dict[Any, set[Any]]:
        """Return which of the wires that it reads each operator reads from a register.

        The results themselves stand under None.
        """
        due = self._due(period, stages, after)
        ready: dict[Any, Label] = {}
        registered: dict[Any, set[Any]] = {}
        for net in self.order:
            wires = [w for w in _distinct(self.reads[net]) if w in ready]
            own, (last, time) = self.fo4(net), due[net.dests[0]]
            late = {w for w in wires if ready[w][1] + own > period}
            stage = _stage(ready, wires, late)
            if stage == last:
                late = {w for w in wires if ready[w][1] + own > time}
                stage = _stage(ready, wires, late)
            assert stage <= last
            arrival = max((ready[w][1] for w in wires if w not in late), default=0.0)
            ready[net.dests[0]] = stage, arrival + own
            registered[net] = late
        registered[None] = {w for w in self.ends if w in ready and ready[w][1] + after > period}
        return registered


def _stage(ready: dict[Any, Label], wires: Iterable[Any], late: set[Any]) -> int:
    return max((ready[w][0] + (w in late) for w in wires), default=0)


def _distinct(words: Iterable[Iterable[Bit]]) -> list[Any]:
    """Return the wires that have bits in some words, in order of first use."""
    return list(dict.fromkeys(wire for word in words for wire, _ in word))


def _rebuild(cone: _Cone, wires: Sequence[Any], registered: dict[Any, set[Any]]) -> list[Any]:
    """Build the operators again with registers, drop those nothing reads, return the results."""
    made: dict[Any, Any] = {}
    kept: dict[Any, set[int]] = {}
    for net, late in registered.items():
        words = map(cone.bits, wires) if net is None else cone.reads[net]
        for wire, i in (bit for word in words for bit in word):
            if wire in late:
                kept.setdefault(wire, set()).add(i)
    rows = {w: (sorted(numbers), pyrtl.Register(len(numbers))) for w, numbers in kept.items()}

    def word(bits: Sequence[Bit], late: set[Any]) -> Any:
        parts = []
        for _, group in groupby(bits, key=lambda bit: id(bit[0])):
            run = list(group)
            wire, numbers = run[0][0], [i for _, i in run]
            source = made.get(wire, wire)
            if wire in late:
                held, source = rows[wire]
                numbers = [held.index(i) for i in numbers]
            parts.append(_selected(source, numbers))
        return pyrtl.concat_list(parts)

    for net in cone.order:
        operands = [word(bits, registered[net]) for bits in cone.reads[net]]
        wire = net.dests[0]
        made[wire] = _operator(cone, net, operands)
        if wire in rows:
            held, row = rows[wire]
            row.next <<= _selected(made[wire], held)
    results = [word(cone.bits(w), registered[None]) for w in wires]
    _drop_unread(cone)
    return results


def _drop_unread(cone: _Cone) -> None:
    """Remove those of the nets of before that nothing reads any more."""
    reads = Counter(a for net in cone.block.logic for a in net.args)
    for net in reversed(cone.nets):
        wire = net.dests[0]
        if not reads[wire] and not isinstance(wire, pyrtl.Output):
            reads.subtract(net.args)
            cone.block.logic.discard(net)
            cone.block.remove_wirevector(wire)
            if net.op == "m":
                net.op_param[1].readport_nets.remove(net)


def _selected(source: Any, numbers: Sequence[int]) -> Any:
    if list(numbers) == list(range(len(source))):
        return source
    result = pyrtl.WireVector(len(numbers))
    net = pyrtl.LogicNet("s", tuple(numbers), (source,), (result,))
    pyrtl.working_block().add_net(net)
    return result


def _operator(cone: _Cone, net: Any, operands: Sequence[Any]) -> Any:
    """Build one operator, or a whole sum, on other operands."""
    if net in cone.sums:
        found = cone.sums[net]
        total = operands[0]
        for operand, term in zip(operands[1:], found.terms[1:], strict=True):
            assert len(term.wires) == 1
            total = (total - operand if term.negative else total + operand)[: found.width]
        return total.zero_extended(len(net.dests[0]))
    result = pyrtl.WireVector(len(net.dests[0]))
    new = pyrtl.LogicNet(net.op, net.op_param, tuple(operands), (result,))
    cone.block.add_net(new)
    if net.op == "m":
        net.op_param[1].readport_nets.append(new)
    return result

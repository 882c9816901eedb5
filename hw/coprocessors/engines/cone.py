"""Cone: the logic below some wires, and where registers cut it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import pyrtl

from hw import area
from hw.sums import Sums
from hw.technology import technology

__all__ = ["Bit", "Cone", "Plan"]

_TECHNOLOGY = technology("ge")
_WIRING = frozenset("wsc")

Bit = tuple[int, int]
"""Number of a wire that an operator or a source drives, and number of one of its bits."""
Label = tuple[int, float]
"""When a value is there: stage, counted from 0, and FO4 after the clock edge that begins it."""
Plan = list[set[int]]
"""Which wires each operator reads from a register, and last those of the results."""


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


class Cone:
    """The operators that some wires depend on, back to where signals start, operands first.

    Wires go by number, those that operators drive first, in the order of these.

    Attributes:
        block: The block.
        nets: Operators, but for wiring and what stands inside a sum of many terms.
        sums: Such sums, by the number of their result.
        operands: Origins of the bits of each operand of each operator.
        reads: Numbers of the operators that each operator reads.
        delay: Delay of each operator, FO4.
        results: Origins of the bits of the wires.
        ends: Numbers of the operators that the wires read.
        wires: Every wire by number.
        old: All nets of before, operands first.
    """

    def __init__(self, wires: Sequence[Any]) -> None:
        self.block = pyrtl.working_block()
        self._driver = {id(n.dests[0]): n for n in self.block.logic if n.dests and n.op not in "r@"}
        self.old = self._below(list(reversed(wires)), lambda net: net.args)
        sums = Sums(self.block.logic)
        found = {id(n.dests[0]): sums.of(n) for n in self.old if n.op in "+-"}
        origins: dict[int, list[tuple[Any, int]]] = {}
        for net in self.old:
            origins[id(net.dests[0])] = _origins(net, origins)

        def bits(wire: Any) -> list[tuple[Any, int]]:
            return origins.get(id(wire)) or [(wire, i) for i in range(len(wire))]

        def operands(net: Any) -> list[list[tuple[Any, int]]]:
            total = found.get(id(net.dests[0]))
            terms = net.args if total is None else [w for t in total.terms for w in t.wires]
            return [bits(wire) for wire in terms]

        # without wiring
        self.nets = self._below(
            [wire for w in wires for wire, _ in bits(w)],
            lambda net: [wire for word in operands(net) for wire, _ in word],
        )
        self.wires = [net.dests[0] for net in self.nets]
        number = {id(wire): i for i, wire in enumerate(self.wires)}

        def numbered(word: Iterable[tuple[Any, int]]) -> list[Bit]:
            result = []
            for wire, i in word:
                if id(wire) not in number:
                    number[id(wire)] = len(self.wires)
                    self.wires.append(wire)
                result.append((number[id(wire)], i))
            return result

        self.operands = [[numbered(word) for word in operands(net)] for net in self.nets]
        self.results = [numbered(bits(w)) for w in wires]
        count = len(self.nets)
        self.reads = [[n for n in _distinct(words) if n < count] for words in self.operands]
        self.ends = [n for n in _distinct(self.results) if n < count]
        totals = ((n, found.get(id(net.dests[0]))) for n, net in enumerate(self.nets))
        self.sums = {n: total for n, total in totals if total is not None}
        self.delay = [self._fo4(n) for n in range(count)]

    def _below(self, wires: list[Any], operands: Callable[[Any], Iterable[Any]]) -> list[Any]:
        """Return the nets below wires, operands first, the last wire's before those of others."""
        order: list[Any] = []
        seen: set[int] = set()
        stack = [(wire, False) for wire in wires]
        while stack:
            wire, done = stack.pop()
            net = self._driver.get(id(wire))
            if net is None:
                continue
            if done:
                order.append(net)
            elif id(wire) not in seen:
                seen.add(id(wire))
                stack.append((wire, True))
                stack += [(operand, False) for operand in operands(net)]
        return order

    def _fo4(self, n: int) -> float:
        net = self.nets[n]
        if n in self.sums:
            return _sum_fo4(len(self.sums[n].terms), self.sums[n].width)
        return _operator_fo4(net.op, len(net.args[-1]))

    def longest(self) -> float:
        """Return the delay of the longest path, FO4."""
        ready: list[float] = []
        for reads, delay in zip(self.reads, self.delay, strict=True):
            ready.append(max([ready[n] for n in reads], default=0.0) + delay)
        return max(ready, default=0.0)

    def stages_needed(self, period: float, after: float) -> int:
        """Return how few stages do with a period, when registers cost nothing."""
        ready: list[Label] = []
        for reads, delay in zip(self.reads, self.delay, strict=True):
            stage, time = max([ready[n] for n in reads], default=(0, 0.0))
            time += delay
            ready.append((stage, time) if time <= period else (stage + 1, delay))
        ends = (ready[n] for n in self.ends)
        return 1 + max((stage + (time + after > period) for stage, time in ends), default=0)

    def _due(self, period: float, stages: int, after: float) -> list[Label]:
        """Return when each operator's result must be there at the latest."""
        never = (stages, 0.0)
        due = [never] * len(self.nets)
        for n in self.ends:
            due[n] = stages - 1, period - after
        for n in reversed(range(len(self.nets))):
            stage, time = due[n]
            time -= self.delay[n]
            if time < 0:
                stage, time = stage - 1, period - self.delay[n]
                due[n] = stage, period
            for read in self.reads[n]:
                due[read] = min(due[read], (stage, time))
        return due

    def plan(self, period: float, stages: int, after: float, *, early: bool) -> Plan:
        """Return a plan that keeps to a period with so many stages.

        A register stands where the path would grow longer than the period, or where a later stage
        has no time left for it; `early` lets it stand there even if an operator or more would
        still fit before it.
        """
        due = self._due(period, stages, after)
        ready: list[Label] = []
        plan: Plan = []
        for reads, delay, (last, time) in zip(self.reads, self.delay, due, strict=True):
            late = {n for n in reads if ready[n][1] + delay > period}
            stage = max((ready[n][0] + (n in late) for n in reads), default=0)
            if early or stage == last:
                late = {n for n in reads if ready[n][1] + delay > time}
                stage = max((ready[n][0] + (n in late) for n in reads), default=0)
            assert stage <= last
            arrival = max((ready[n][1] for n in reads if n not in late), default=0.0)
            ready.append((stage, arrival + delay))
            plan.append(late)
        return [*plan, {n for n in self.ends if ready[n][1] + after > period}]

    def kept(self, plan: Plan) -> dict[int, set[int]]:
        """Return the bits of each wire that a plan registers."""
        kept: dict[int, set[int]] = {}
        for words, late in zip([*self.operands, self.results], plan, strict=True):
            for n, i in (bit for word in words for bit in word):
                if n in late:
                    kept.setdefault(n, set()).add(i)
        return kept


def _distinct(words: Iterable[Iterable[Bit]]) -> list[int]:
    """Return the wires that have bits in some words, in order of first use."""
    return list(dict.fromkeys(wire for word in words for wire, _ in word))


def _origins(net: Any, origins: dict[int, list[tuple[Any, int]]]) -> list[tuple[Any, int]]:
    """Return the wires and bits that a net passes on, or those of its own result."""
    if net.op not in _WIRING:
        return [(net.dests[0], i) for i in range(len(net.dests[0]))]
    below = [
        bit
        for arg in reversed(net.args)
        for bit in origins.get(id(arg)) or [(arg, i) for i in range(len(arg))]
    ]
    return [below[i] for i in net.op_param] if net.op == "s" else below

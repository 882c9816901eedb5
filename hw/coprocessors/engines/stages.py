"""Stages: combinational logic cut by registers so that its longest path shrinks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import pyrtl

from hw.coprocessors.engines.cone import Bit, Cone, Plan

__all__ = ["cut"]

_RESOLUTION_FO4 = 0.05
"""How near to the shortest period the search for it ends."""


def cut(wires: Sequence[pyrtl.WireVector], stages: int, after: float = 0.0) -> list[Any]:
    """Return `wires` with their logic cut into `stages` parts of about equal delay.

    The logic reaches back to registers and inputs, which must hold still: the results are right
    `stages` - 1 cycles after these have changed, and stay so. A value is therefore registered
    where its path grows too long, and nowhere else. The period is the shortest for the delays of
    `hw.technology`, operators of PyRTL being indivisible; where fewer stages reach it, the others
    only wait.

    Args:
        wires: Results of the logic, in the working block.
        stages: 1 leaves everything as it is.
        after: Delay of what the caller puts behind the results, FO4.
    """
    if stages == 1:
        return list(wires)
    cone = Cone(wires)
    low = max([after, *cone.delay])
    high = sum(cone.delay) + after
    whole = cone.longest() + after  # a period for which one stage will do
    while high - low > _RESOLUTION_FO4:
        middle = (low + high) / 2
        if middle >= whole or cone.stages_needed(middle, after) <= stages:
            high = middle
        else:
            low = middle
    needed = cone.stages_needed(high, after)
    plans = [cone.plan(high, needed, after, early=early) for early in (False, True)]
    return _rebuilt(cone, min(plans, key=lambda plan: sum(map(len, cone.kept(plan).values()))))


def _rebuilt(cone: Cone, plan: Plan) -> list[Any]:
    """Build the operators again with registers, drop those nothing reads, return the results."""
    made = list(cone.wires)
    rows = {n: (sorted(bits), pyrtl.Register(len(bits))) for n, bits in cone.kept(plan).items()}

    def joined(bits: Sequence[Bit], late: set[int]) -> Any:
        parts = []
        for n, group in groupby(bits, key=lambda bit: bit[0]):
            numbers = [i for _, i in group]
            source = made[n]
            if n in late:
                held, source = rows[n]
                numbers = [held.index(i) for i in numbers]
            parts.append(_selected(source, numbers))
        return pyrtl.concat_list(parts)

    for n, late in enumerate(plan[:-1]):
        made[n] = _operator(cone, n, [joined(bits, late) for bits in cone.operands[n]])
        if n in rows:
            held, row = rows[n]
            row.next <<= _selected(made[n], held)
    results = [joined(bits, plan[-1]) for bits in cone.results]
    _drop_unread(cone)
    return results


def _drop_unread(cone: Cone) -> None:
    """Remove those of the nets of before that nothing reads any more."""
    reads = Counter(id(a) for net in cone.block.logic for a in net.args)
    for net in reversed(cone.old):
        wire = net.dests[0]
        if not reads[id(wire)] and not isinstance(wire, pyrtl.Output):
            reads.subtract(map(id, net.args))
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


def _operator(cone: Cone, n: int, operands: Sequence[Any]) -> Any:
    """Build one operator, or a whole sum, on other operands."""
    net = cone.nets[n]
    if n in cone.sums:
        found = cone.sums[n]
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

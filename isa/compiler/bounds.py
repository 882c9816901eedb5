"""Bounds: what no order and no choice of registers can undercut, for the operations selected.

A core that starts one instruction a cycle takes at least a cycle for each (issue width), and at
least the latencies along the longest chain of values (critical path). What was selected is taken as
given: another covering may have other bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from isa.compiler.compile import repertoire_of
from isa.compiler.constants import Constants
from isa.compiler.operations import FIRST_VALUE, Loop, Operation, Region
from isa.compiler.schedule import schedule
from isa.compiler.select import Selector
from isa.compiler.waits import Waits
from isa.instruction_set import InstructionSet
from isa.kernel import Builder, trace

FOLLOWED = 50_000
"""Operations along which chains are followed around one loop, operation by operation."""
LONGEST_CYCLE = 8
"""Iterations after which a chain that is followed no further may return to where it was."""
_NEVER = float("-inf")


@dataclass(frozen=True)
class Bounds:
    """Least cycles from entry to return.

    Attributes:
        instructions: By issue width: instructions executed, none put in by the allocator.
        path: By latencies along the longest chain of values.
    """

    instructions: int
    path: int

    @property
    def cycles(self) -> int:
        """The larger of the two."""
        return max(self.instructions, self.path)


def bounds(
    build: Callable[[Builder], None],
    instructions: InstructionSet,
    *,
    unroll: int | str = 1,
    latencies: Mapping[str, int] | None = None,
) -> Bounds:
    """Bounds of a kernel function as `compile_kernel` covers it, see there for the arguments.

    Raises:
        UnsupportedKernel: The set lacks what the kernel needs.
    """
    kernel = trace(build, instructions.xlen, unroll)
    selector = Selector(kernel, repertoire_of(instructions), dict(latencies or {}))
    root = selector.run().root
    schedule(root, Waits(0, 0))  # drops what nothing needs
    times: dict[int, float] = {}
    path = _follow(root, times, 0)
    return Bounds(_count(root, selector.constants) + 1, int(path))  # and the return


def _count(region: Region, constants: Constants) -> int:
    total = 0
    for item in region.items:
        if isinstance(item, Loop):
            total += item.count * (_count(item.body, constants) + 1)  # the branch
        elif item.is_constant and isinstance(item.immediate, int):
            total += len(constants.steps(item.immediate) or ())
        else:
            total += 1
    return total


def _follow(region: Region, times: dict[int, float], start: float) -> float:
    """Enter when each value can be ready; returns the latest. Arguments are ready at `start`."""
    latest = 0.0
    for item in region.items:
        if isinstance(item, Loop):
            latest = max(latest, _around(item, times, start))
            continue
        ready = max((_ready(v, times, start) for _, v in item.sources), default=start)
        done = ready + _latency(item)
        latest = max(latest, done)
        if item.result is not None:
            times[item.result] = done
    return latest


def _ready(value: int, times: Mapping[int, float], start: float) -> float:
    return times.get(value, start) if value >= FIRST_VALUE else start


def _latency(item: Operation) -> int:
    return 1 if item.is_constant else item.latency


def _around(loop: Loop, times: dict[int, float], start: float) -> float:
    """All iterations; values of the last one stay in `times`."""
    carried = {c.parameter: _ready(c.initial, times, start) for c in loop.carried}
    followed = min(loop.count, max(FOLLOWED // max(_size(loop), 1), 2 * LONGEST_CYCLE))
    latest = 0.0
    for _ in range(followed):
        latest = max(latest, _iterate(loop, times, carried, start))
    rest = loop.count - followed
    if rest and carried:
        slowest = max(carried, key=lambda p: carried[p])
        carried[slowest] += _growth(loop, slowest, rest)
        latest = max(latest, carried[slowest])
    times.update({c.output: carried[c.parameter] for c in loop.carried})
    return latest


def _iterate(loop: Loop, times: dict[int, float], carried: dict[int, float], start: float) -> float:
    times.update(carried)
    latest = _follow(loop.body, times, start)
    carried.update({c.parameter: _ready(c.result, times, start) for c in loop.carried})
    return latest


def _growth(loop: Loop, parameter: int, iterations: int) -> float:
    """Cycles along chains that return to a carried value, at least."""
    carried = dict.fromkeys((c.parameter for c in loop.carried), _NEVER)
    carried[parameter] = 0.0
    best = 0.0
    for length in range(1, LONGEST_CYCLE + 1):
        _iterate(loop, {}, carried, _NEVER)
        best = max(best, iterations // length * carried[parameter])
    return best


def _size(loop: Loop) -> int:
    """Operations of an iteration, those of inner loops as often as they run."""
    sizes = (i.count * _size(i) if isinstance(i, Loop) else 1 for i in loop.body.items)
    return sum(sizes)

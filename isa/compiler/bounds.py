"""Bounds: what no order and no choice of registers can undercut, for the operations selected.

A core that starts one instruction a cycle takes at least a cycle for each (issue width), and at
least the latencies along the longest chain of values (critical path). What was selected is taken as
given: another covering may have other bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from isa.compiler.constants import Constants
from isa.compiler.operations import FIRST_VALUE, Loop, Operation, Region
from isa.compiler.repertoire import repertoire_of
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
    path = _Chains().follow(root)
    return Bounds(least_instructions(root, selector.constants), int(path))


def least_instructions(root: Region, constants: Constants) -> int:
    """Instructions that a scheduled kernel executes at least, its return included."""
    return _count(root, constants) + 1


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


Place = tuple[str, tuple[tuple[str, int], ...], int, int]
"""Buffer, terms of loop counters, first byte, end."""


class _Chains:
    """Follows chains of values in order of the code.

    Attributes:
        times: When each value can be ready.
        stored: The same of what stands in memory, by place.
        start: When what comes from outside is ready.
    """

    def __init__(self, start: float = 0) -> None:
        self.times: dict[int, float] = {}
        self.stored: dict[Place, float] = {}
        self.start = start

    def follow(self, region: Region) -> float:
        """When the last value of a region can be ready."""
        latest = 0.0
        for item in region.items:
            done = self._around(item) if isinstance(item, Loop) else self._after(item)
            latest = max(latest, done)
        return latest

    def _ready(self, value: int) -> float:
        return self.times.get(value, self.start) if value >= FIRST_VALUE else self.start

    def _after(self, item: Operation) -> float:
        done = max((self._ready(v) for _, v in item.sources), default=self.start)
        access = item.memory
        place = access and (access.pointer, access.terms, access.low, access.high)
        if access and place and not access.is_store:
            done = max(done, self.stored.get(place, self.start))
        done += 1 if item.is_constant else item.latency
        if access and place and access.is_store:
            self.stored[place] = done
        if item.result is not None:
            self.times[item.result] = done
        return done

    def _around(self, loop: Loop) -> float:
        """All iterations; values of the last one stay."""
        carried = {c.parameter: self._ready(c.initial) for c in loop.carried}
        followed = min(loop.count, max(FOLLOWED // max(_size(loop), 1), 2 * LONGEST_CYCLE))
        latest = 0.0
        for _ in range(followed):
            latest = max(latest, self._iterate(loop, carried))
        rest = loop.count - followed
        if rest and carried:
            slowest = max(carried, key=lambda p: carried[p])
            carried[slowest] += _growth(loop, slowest, rest)
            latest = max(latest, carried[slowest])
        self.times.update({c.output: carried[c.parameter] for c in loop.carried})
        return latest

    def _iterate(self, loop: Loop, carried: dict[int, float]) -> float:
        self.times.update(carried)
        moving = (loop.name, "index")  # elsewhere in this iteration
        for place in [p for p in self.stored if any(name in moving for name, _ in p[1])]:
            del self.stored[place]
        latest = self.follow(loop.body)
        carried.update({c.parameter: self._ready(c.result) for c in loop.carried})
        return latest


def _growth(loop: Loop, parameter: int, iterations: int) -> float:
    """Cycles along chains that return to a carried value, at least."""
    carried = dict.fromkeys((c.parameter for c in loop.carried), _NEVER)
    carried[parameter] = 0.0
    best = 0.0
    for length in range(1, LONGEST_CYCLE + 1):
        _Chains(_NEVER)._iterate(loop, carried)
        best = max(best, iterations // length * carried[parameter])
    return best


def _size(loop: Loop) -> int:
    """Operations of an iteration, those of inner loops as often as they run."""
    sizes = (i.count * _size(i) if isinstance(i, Loop) else 1 for i in loop.body.items)
    return sum(sizes)

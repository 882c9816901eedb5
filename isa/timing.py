"""Timing: cycles of recorded runs, by the rules of a core (`isa.pipeline`, `isa.icicle`)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from isa.core import PRESETS, Core
from isa.icicle import Icicle
from isa.pipeline import Latencies, Pipeline
from isa.translate import Block, Placed

__all__ = [
    "PRESETS",
    "Automaton",
    "Core",
    "Latencies",
    "Pipeline",
    "Pricer",
    "automaton",
    "clock",
    "price",
    "retirements",
    "taken",
]


class Automaton(Protocol):
    """Rules that time one instruction after the other.

    Attributes:
        start: The state of an empty pipeline.
    """

    start: Any

    def step(self, state: Any, placed: Placed, taken: bool) -> tuple[int, Any]:
        """Time one instruction.

        Args:
            state: What came before; small and hashable.
            placed: What executes.
            taken: Whether it leaves the straight line.

        Returns:
            Cycles from the previous retirement to its own, and the state after it.
        """


def automaton(core: Core, latencies: Latencies | None = None) -> Automaton:
    """The automaton of a core.

    Raises:
        ValueError: A latency below 1.
    """
    for name, cycles in sorted((latencies or {}).items()):
        if not isinstance(cycles, int) or cycles < 1:
            raise ValueError(f"latency of {name} must be at least 1 cycle, not {cycles!r}")
    return Icicle(latencies) if core.name == "icicle" else Pipeline(core, latencies)


def taken(blocks: Sequence[Block], index: int, following: int | None) -> bool:
    """Whether the last instruction of a block led elsewhere than to the address after it."""
    block = blocks[index]
    if not block.instructions:
        return False
    kind = block.instructions[-1].instruction.kind
    if kind == "jump":
        return True
    if kind != "branch" or following is None:
        return False
    then = blocks[following]
    return then.pc != block.next_pc or then.taken_entry


@dataclass
class Pricer:
    """Prices traces of one translated program on one core, remembering each (block, state).

    Attributes:
        blocks: The blocks of the program by index.
        rules: The automaton.
    """

    blocks: Sequence[Block]
    rules: Automaton
    _known: dict[tuple[int, bool, Hashable], tuple[int, Any]] = field(default_factory=dict)

    def price(self, trace: Sequence[int], entry: int) -> int:
        """Cycles of the kernel in a recorded trace; nothing is executed again.

        Args:
            trace: Block indices in the order executed.
            entry: Address of the kernel. Blocks below it are the calling stub.

        Returns:
            Retirement of the kernel's last instruction minus that of the call into it. Without a
            stub, the cycles from an empty pipeline's first EX to the last retirement's D.
        """
        blocks = self.blocks
        state, cycles, total = self.rules.start, 0, 0
        known = self._known
        last = len(trace) - 1
        for position, index in enumerate(trace):
            leaves = taken(blocks, index, trace[position + 1] if position < last else None)
            key = (index, leaves, state)
            found = known.get(key)
            if found is None:
                found = known[key] = self._block(index, leaves, state)
            cycles, state = found
            if blocks[index].pc >= entry:
                total += cycles
        return total

    def _block(self, index: int, leaves: bool, state: Any) -> tuple[int, Any]:
        total = 0
        instructions = self.blocks[index].instructions
        for placed in instructions:
            is_last = placed is instructions[-1]
            cycles, state = self.rules.step(state, placed, leaves and is_last)
            total += cycles
        return total, state


def retirements(
    blocks: Sequence[Block], trace: Sequence[int], rules: Automaton
) -> Iterator[tuple[int, Placed]]:
    """Each executed instruction with its D, counted from 1 for an empty pipeline's first EX."""
    state, now = rules.start, 0
    for position, index in enumerate(trace):
        following = trace[position + 1] if position + 1 < len(trace) else None
        leaves = taken(blocks, index, following)
        instructions = blocks[index].instructions
        for placed in instructions:
            is_last = placed is instructions[-1]
            cycles, state = rules.step(state, placed, leaves and is_last)
            now += cycles
            yield now, placed


def clock(
    core: Core, latencies: Latencies | None = None
) -> Callable[[Sequence[Block], Sequence[int]], int]:
    """What `Machine.run` reads as the `cycle` register on a core: cycles since the first EX."""
    rules = automaton(core, latencies)

    def now(blocks: Sequence[Block], trace: Sequence[int]) -> int:
        return Pricer(blocks, rules).price(trace, 0)

    return now


def price(
    blocks: Sequence[Block],
    trace: Sequence[int],
    core: Core,
    latencies: Latencies | None = None,
    *,
    entry: int = 0,
) -> int:
    """Cycles of the kernel in a recorded trace on a core; see `Pricer.price`."""
    return Pricer(blocks, automaton(core, latencies)).price(trace, entry)

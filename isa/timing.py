"""Timing: when each instruction retires on a core, as a deterministic automaton.

The automaton describes the pipelines of `hw.core`, cycle by cycle, and tests hold the two equal.
All are single-issue and in order, with separate instruction and data memories that answer in the
cycle after the address. EX is where an instruction executes; D is its last cycle there, and in
each pipeline it retires a fixed number of cycles after D. What separates the D of two neighbours:

| pipeline | stages | taken branch, jump | load, result used next | other result used next |
|---|---|---|---|---|
| 5, forwarding | IF ID EX MEM WB | 3 | 2 | 1 |
| 5, none | IF ID EX MEM WB | 3 | 3 (the one after: 2) | 3 (the one after: 2) |
| 3, forwarding | IF EX WB | 2 | 2 | 1, but 2 by an instruction that stays in EX |
| 3, none | IF EX WB | 2 | 2 | 2 |
| 2 | IF EX | 2 | 1, but a load stays in EX for 2 | 1 |

Registers are written in WB; in the 5-stage core ID reads the value written in the same cycle, in
the 3-stage core EX reads it in the next. Forwarding hands results to ID (5 stages) or EX (3), but
never a load's data straight from memory into EX. Branches are resolved in EX and predicted not
taken. A unit with latency L stays in EX for L cycles, and everything behind it waits; its
operands stand still for all of them, which is why in three stages it waits for a result instead of
taking it forwarded.

With compressed instructions IF fetches the aligned 32 bits that hold what it lacks, and keeps the
upper half of them while it is not used up. Straight code never waits for it. A taken branch or
jump leaves the buffer empty, so a target that is an instruction of 32 bits and begins in the upper
half of a word takes two fetches: it comes one cycle later than the table says.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from isa.core import PRESETS, Core
from isa.icicle import Icicle
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

Latencies = Mapping[str, int]
"""Cycles in EX by mnemonic, 1 where not given; only of instructions that neither access memory
nor jump. Units are not pipelined."""


class State(NamedTuple):
    """What the past still means for the next instruction, relative to the last D.

    Attributes:
        issue: Cycles from the last D to the earliest next start in EX.
        pending: (register, cycles, held) for results that cannot be used at `issue` yet; those
            marked held only by instructions that stay in EX.
    """

    issue: int = 1
    pending: tuple[tuple[int, int, bool], ...] = ()


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


class Pipeline:
    """The automaton of a core of `hw.core` with given unit latencies."""

    start = State()

    def __init__(self, core: Core, latencies: Latencies | None = None) -> None:
        """Fix the rules."""
        core = core.canonical()
        self.latencies = dict(latencies or {})
        self._held_waits = core.pipeline == 3 and core.forwarding
        self._after_taken = 3 if core.pipeline == 5 else 2
        self._load_stays = 2 if core.pipeline == 2 else 1
        if core.pipeline == 2:
            self._after_load = self._after_result = 1
        elif core.forwarding:
            self._after_load, self._after_result = 2, 1
        else:
            self._after_load = self._after_result = 3 if core.pipeline == 5 else 2

    def step(
        self,
        state: State,
        placed: Placed,
        taken: bool,
        hold: Callable[[int], int] | None = None,
    ) -> tuple[int, State]:
        """See `Automaton.step`; the cycles are those from the previous D to its own.

        What is outside of the core may hold an instruction in EX: `hold` takes its first cycle
        there, counted from the previous D, and returns the cycles by which it leaves later.
        """
        start = state.issue
        if start > 1 and placed.straddles:  # the target of a taken branch or jump
            start += 1
        instruction = placed.instruction
        kind = instruction.kind
        stays = self._load_stays if kind == "load" else 1
        if kind == "alu":
            stays = self.latencies.get(instruction.name, 1)
        for register, ready, held in state.pending:
            if ready > start and register in placed.reads and (stays > 1 or not held):
                start = ready
        done = start + stays - 1 + (0 if hold is None else hold(start))
        rd = placed.rd
        pending = [(r, t - done, held) for r, t, held in state.pending if t - done > 1 and r != rd]
        if rd:
            after = self._after_load if kind == "load" else self._after_result
            if after > 1:
                pending.append((rd, after, False))
            elif self._held_waits:
                pending.append((rd, 2, True))
        return done, State(self._after_taken if taken else 1, tuple(pending))


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

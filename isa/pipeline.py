"""Pipeline: the timing of the cores that `hw.core` builds, as a deterministic automaton.

It describes the netlists cycle by cycle, and tests hold the two equal. All are single-issue and in
order. EX is where an instruction executes; D is its last cycle there, and in each pipeline it
retires a fixed number of cycles after D. What separates the D of two neighbours, where branches are
resolved in EX and predicted not taken, and instructions and data have memories of their own that
answer in the cycle after the address:

| pipeline | stages | taken branch, jump | load, result used next | other result used next |
|---|---|---|---|---|
| 5, forwarding | IF ID EX MEM WB | 3 | 2 | 1 |
| 5, none | IF ID EX MEM WB | 3 | 3 (the one after: 2) | 3 (the one after: 2) |
| 3, forwarding | IF EX WB | 2 | 2 | 1, but 2 by an instruction that stays in EX |
| 3, none | IF EX WB | 2 | 2 | 2 |
| 2 | IF EX | 2 | 1, but a load stays in EX for 2 | 1 |

Registers are written in WB; in the 5-stage core ID reads the value written in the same cycle, in
the 3-stage core EX reads it in the next. Forwarding hands results to ID (5 stages) or EX (3), but
never a load's data straight from memory into EX. A unit with latency L stays in EX for L cycles,
and everything behind it waits; its operands stand still for all of them, which is why in three
stages it waits for a result instead of taking it forwarded.

What the other parameters of `isa.core` change:

- branch: decode (5 stages). A taken branch or jump costs 2. One that reads a register that waits
  for a forwarded result does so for 2 after it, 3 after a load.
- prediction: none (5 stages, resolved in EX). What is behind a branch stays in IF until it is
  resolved, so one not taken costs 2.
- prediction: backward-taken. IF follows `jal` and branches to lower addresses itself, so they cost
  1 if taken; such a branch not taken costs what a taken one costs without.
- memory: shared. IF cannot ask for a word while an access is in EX, and what waits in IF is asked
  for again, so an access costs 1 more, unless what is behind it waits for longer. Accesses go
  first, and break off a fetch that lasts.
- memory_latency: n. A word comes n cycles after its address, which stands still so long: IF hands
  on an instruction every n cycles, an access stays in EX for n, a load of 2 stages for n + 1.

- multiplier, carryless, divider: b. An instruction of the iterative unit stays in EX for xlen / b
  cycles and 1 more, or 2 for a division; it takes its operands as one that does not stay.
- multiplier, carryless: pipelined_S. The result is there for use S cycles after its instruction was
  in EX, 1 later for a branch in ID, or as late as that of any other if that is later; what has no
  use for it goes on (`isa.pipelined`). D is then the cycle from which it retires as others do, up
  to S - 1 after EX.

With compressed instructions IF fetches the aligned 32 bits that hold what it lacks, and keeps the
upper half of them while it is not used up. Straight code never waits for it. A taken branch or
jump leaves the buffer empty, so a target that is an instruction of 32 bits and begins in the upper
half of a word takes two fetches: it leaves IF one cycle later. They need a memory of their own that
answers in the next cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from isa.core import Core
from isa.instruction import Instruction
from isa.iterative import cycles_of, operation_of
from isa.pipelined import delay_of, longest_delay, stages_of
from isa.translate import Placed

__all__ = ["Latencies", "Pipeline", "State"]

Latencies = Mapping[str, int]
"""Cycles in EX by mnemonic, 1 where not given; only of instructions that neither access memory
nor jump. Units with a latency are not pipelined."""


class State(NamedTuple):
    """What the past still means for the next instruction; cycles count from the last D.

    Attributes:
        fetched: When the next instruction leaves IF, or enters EX at the latest if it may.
        astride: The same if it stands in two aligned words.
        pending: (register, cycles, cycles of some) until a result can be used; the last number is
            for instructions that stay in EX (3 stages) or branch in ID.
        port: First and last cycle of accesses that the next fetch may still meet.
        left: When EX was free, 0 unless a pipelined unit works on.
    """

    fetched: int
    astride: int
    pending: tuple[tuple[int, int, int], ...] = ()
    port: tuple[tuple[int, int], ...] = ()
    left: int = 0


class Pipeline:
    """The automaton of a core of `hw.core` with given unit latencies."""

    def __init__(self, core: Core, latencies: Latencies | None = None) -> None:
        """Fix the rules."""
        self.core = core = core.canonical()
        self.latencies = dict(latencies or {})
        self._iterative: dict[str, int] = {}
        self._pipelined: dict[str, tuple[int, int]] = {}
        longest = longest_delay(core)
        self._five = core.pipeline == 5
        self._from_fetch = 2 if self._five else 1  # cycles from IF to EX
        self._early = core.branch == "decode"
        self._backward = core.prediction == "backward-taken"
        self._memory = core.memory_latency
        self._load_stays = self._memory + (core.pipeline == 2)
        # Cycles to the use of a load, of a result, and of both by some instructions.
        self._after = {
            (2, True): (1, 1, 1, 1),
            (3, True): (2, 1, 2, 2),
            (3, False): (2, 2, 2, 2),
            (5, True): (2, 1, 3, 2) if self._early else (2, 1, 2, 1),
            (5, False): (3, 3, 3, 3),
        }[core.pipeline, core.forwarding]
        # An IF left before that hinders the next instruction no more than one left then.
        self._oldest = -max(self._memory, 2 if self._backward else 1) - longest
        first = -1 if self._five else 0
        self.start = State(first, first)

    def step(
        self,
        state: State,
        placed: Placed,
        taken: bool,
        hold: Callable[[int], int] | None = None,
    ) -> tuple[int, State]:
        """See `isa.timing.Automaton.step`; the cycles are those from the previous D to its own.

        What is outside of the core may hold an instruction in EX: `hold` takes its first cycle
        there, counted from the previous D, and returns the cycles by which it leaves later.
        """
        kind = placed.instruction.kind
        fetched = state.astride if placed.straddles else state.fetched
        stays, stands = self._stays(placed)
        unit, delay = self._stages(placed.instruction)
        some = kind in ("branch", "jump") if self._early else stands and stays > 1
        start = max(1 - delay, state.left + 1, fetched + self._from_fetch)
        for register, ready, ready_for_some in state.pending:
            if register in placed.reads:
                start = max(start, ready_for_some if some else ready)
        left = start + stays - 1 + (0 if hold is None else hold(start))
        done = left + delay
        port = state.port
        if kind in ("load", "store") and self.core.memory == "shared":
            last = left - 1 if kind == "load" and self.core.pipeline == 2 else left
            port = (*port, (start, last))
        leaves = start - 1 if self._five else left  # ID, or EX where that is the next stage
        asked, free, redirected = self._behind(placed, taken, fetched, leaves, left)
        following = self._arrival(asked, free, port)
        astride = max(asked + 2, free) if redirected else following
        return done, State(
            max(following - done, self._oldest),
            max(astride - done, self._oldest),
            self._pending(state, placed, done, unit, delay),
            tuple((a - done, b - done) for a, b in port if b - done >= self._oldest),
            -delay,
        )

    def _stages(self, instruction: Instruction) -> tuple[int, int]:
        """Cycles from D to the use of the result of a pipelined unit, and those from EX to D."""
        name = instruction.name
        if name not in self._pipelined:
            stages = stages_of(self.core, instruction)
            delay = delay_of(self.core, stages)
            self._pipelined[name] = (stages - delay, delay)
        return self._pipelined[name]

    def _stays(self, placed: Placed) -> tuple[int, bool]:
        """Cycles in EX of its own accord, and whether its operands have to stand still for them."""
        instruction = placed.instruction
        kind = instruction.kind
        if kind == "alu":
            name = instruction.name
            if name not in self._iterative:
                operation = operation_of(self.core, instruction)
                self._iterative[name] = cycles_of(self.core, operation[0]) if operation else 0
            iterates = self._iterative[name]
            return (iterates, False) if iterates else (self.latencies.get(name, 1), True)
        if kind == "load":
            return self._load_stays, True
        return self._memory if kind == "store" else 1, True

    def _behind(
        self, placed: Placed, taken: bool, fetched: int, leaves: int, done: int
    ) -> tuple[int, int, bool]:
        """What an instruction means for the fetch of the next.

        Returns:
            When it is first asked for; the first cycle in which IF may pass it on; and whether it
            is reached by a redirection, which empties the fetch buffer.
        """
        kind = placed.instruction.kind
        if kind not in ("branch", "jump"):
            return fetched, leaves, False
        predicted = self._backward and (
            not placed.reads if kind == "jump" else bool(placed.fields["bimm12"] >> 11 & 1)
        )
        if predicted != taken:
            return leaves if self._early else done, leaves, True
        waits = self.core.prediction == "none"
        return fetched, leaves + 1 if waits else leaves, taken

    def _arrival(self, asked: int, free: int, port: tuple[tuple[int, int], ...]) -> int:
        """First cycle from `free` in which a word asked for since `asked` is there."""
        arrival = max(asked + self._memory, free)
        for first, last in port:
            if first < arrival and last >= arrival - self._memory:
                arrival = last + self._memory + 1
        return arrival

    def _pending(
        self, state: State, placed: Placed, done: int, unit: int, delay: int
    ) -> tuple[tuple[int, int, int], ...]:
        rd = placed.rd
        soonest = 1 - delay  # nothing waits for what is ready then
        pending = [
            (register, max(soonest, ready - done), for_some - done)
            for register, ready, for_some in state.pending
            if for_some - done > soonest and register != rd
        ]
        load, result, some_load, some_result = self._after
        is_load = placed.instruction.kind == "load"
        ready, for_some = (load, some_load) if is_load else (result, some_result)
        if unit + delay > 1:
            ready, for_some = max(ready, unit), max(for_some, unit + self._early)
        if rd and for_some > soonest:
            pending.append((rd, ready, for_some))
        return tuple(pending)

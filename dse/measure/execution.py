"""`Executed`: the runs of one program on all known answers, kept to be timed on other cores."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dse.measure.known_answers import Case, WrongAnswer
from hw.coprocessors.model import Model
from hw.coprocessors.parameters import Coprocessor
from isa.device_timing import price_with_device
from isa.instruction_set import InstructionSet
from isa.machine import Machine
from isa.outcome import Run
from isa.program import Program
from isa.timing import Core, Pricer, automaton

HELD = 256
"""Executions kept in a process, so that other cores can be priced without running again."""


@dataclass(frozen=True)
class Executed:
    """Runs of one program on all known answers.

    Attributes:
        runs: One for each, without their memory.
        facts: What does not depend on the core: instructions, counts, leaks.
    """

    runs: tuple[Run, ...]
    facts: Mapping[str, Any]

    def timed(
        self,
        core: Core,
        latencies: Mapping[str, int],
        entry: int,
        coprocessor: Coprocessor | None = None,
    ) -> dict[str, int]:
        """Cycles of the slowest run, and what the co-processor did in it.

        With a co-processor: `active` are the cycles from its start to its last output, `busy` those
        in which an engine works and `beats` those in which a word of data passes the bus or port.

        Raises:
            WrongAnswer: The co-processor noted an error, so its answers are worth nothing.
        """
        if coprocessor is None:
            pricer = Pricer(self.runs[0].blocks, automaton(core, latencies))
            return {"cycles": max(pricer.price(run.trace, entry) for run in self.runs)}
        different = {run.trace: run for run in self.runs}  # its time depends on no data
        return max(
            (
                timed_beside(run, Model(coprocessor, core.xlen), core, latencies, entry)
                for run in different.values()
            ),
            key=lambda facts: facts["cycles"],
        )


def timed_beside(
    run: Run, model: Model, core: Core, latencies: Mapping[str, int], entry: int
) -> dict[str, int]:
    """Cycles of a run beside a co-processor, and what that did; see `Executed.timed`."""
    cycles = price_with_device(run.blocks, run.trace, run.log, model, core, latencies, entry=entry)
    if model.automaton.error:
        raise WrongAnswer(f"a driver must cause no error, not error {model.automaton.error}")
    return {
        "cycles": cycles,
        "active": model.active_cycles,
        "busy": model.unit_busy,
        "beats": model.bus_busy,
    }


_EXECUTED: OrderedDict[tuple[str, ...], Executed] = OrderedDict()


def execute(
    identity: tuple[str, ...],
    what: str,
    instructions: InstructionSet,
    program: Program,
    cases: Callable[[], Sequence[Case]],
    coprocessor: Coprocessor | None = None,
) -> Executed:
    """Run every case and check its answer; count leaks on the first.

    Args:
        identity: What the result depends on.
        what: Whose program it is, for messages.
        instructions: Of the host.
        program: What runs.
        cases: Makes the known answers.
        coprocessor: What the program drives.

    Raises:
        WrongAnswer: An output is not the known one.
    """
    if identity in _EXECUTED:
        _EXECUTED.move_to_end(identity)
        return _EXECUTED[identity]
    device = None if coprocessor is None else Model(coprocessor, instructions.xlen)
    machine = Machine(instructions, program, device)
    every = cases()
    runs = []
    for case in every:
        run = machine.run(case.arguments, case.memory)
        for address, expected in case.expected.items():
            found = run.read(address, len(expected))
            if found != expected:
                raise WrongAnswer(
                    f"{what} must give {expected.hex()[:64]} for "
                    f"{case.source}, not {found.hex()[:64]}"
                )
        runs.append(replace(run, memory=b""))
    first = every[0]
    leaks = machine.run_tracked(first.arguments, first.memory, first.secret)
    longest = max(runs, key=lambda run: run.kernel_instructions)
    facts = {
        "instructions": longest.kernel_instructions,
        "counts": longest.counts,
        "leaks": sum(leak.count for leak in leaks),
    }
    done = Executed(tuple(runs), facts)
    _EXECUTED[identity] = done
    while len(_EXECUTED) > HELD:
        _EXECUTED.popitem(last=False)
    return done

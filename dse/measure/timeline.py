"""`Timeline`: when the co-processor loads, computes and stores in the run of a driver program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import workloads
from dse.cache import Cache
from dse.design import Design
from dse.measure.execution import timed_beside
from dse.measure.measurement import cases, compiled
from dse.measure.target import target_of
from dse.space import Space
from hw.coprocessors.model import Model
from isa.machine import Machine
from workloads import coprocessor_driver

LANES = ("load", "compute", "store")
COLUMNS = 80
"""Width of a drawn lane."""
LONGEST = 2048
"""Bytes of a message up to which it is drawn whole; of a longer one the beginning is."""


class Phase(NamedTuple):
    """Something the co-processor did: its number among its kind, first cycle and the one after."""

    what: str
    number: int
    start: int
    end: int


@dataclass(frozen=True)
class Timeline:
    """The run of one driver program, in cycles from the call of its kernel.

    Attributes:
        workload: Its name.
        message_bytes: Size of the message.
        cycles: Of the whole kernel.
        phases: In the order in which they begin.
    """

    workload: str
    message_bytes: int
    cycles: int
    phases: tuple[Phase, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "bytes": self.message_bytes,
            "cycles": self.cycles,
            "phases": [list(phase) for phase in self.phases],
        }

    def lines(self) -> Iterator[str]:
        """Text: a lane for each kind of phase, the last digit of its number where it goes on."""
        step = max(1, -(-self.cycles // COLUMNS))
        yield (
            f"Timeline {self.workload}, {self.message_bytes:,} bytes: {self.cycles:,} cycles, "
            f"{step} a column"
        )
        for lane in LANES:
            phases = [phase for phase in self.phases if phase.what == lane]
            busy = sum(phase.end - phase.start for phase in phases)
            drawn = "".join(
                _cell(phases, column * step, min((column + 1) * step, self.cycles))
                for column in range(-(-self.cycles // step))
            )
            yield f"  {lane:<8}|{drawn}| {busy:,} cycles, {busy / self.cycles:.0%}"


def _cell(phases: list[Phase], start: int, end: int) -> str:
    """What stands for some cycles: the phase that takes most of them, `.` if it is less than half.

    Nothing stands for cycles in which nothing of the kind is done.
    """
    shares = [(min(p.end, end) - max(p.start, start), p.number) for p in phases]
    most, number = max(shares, default=(0, 0))
    if most <= 0:
        return " "
    total = sum(share for share, _ in shares if share > 0)
    return str(number % 10) if 2 * total >= end - start else "."


def timelines(space: Space, design: Design, cache: Cache) -> list[Timeline]:
    """The timelines of the workloads that a feasible design gives to its co-processor."""
    target = target_of(space, design)
    p = target.coprocessor
    if p is None:
        return []
    latencies = target.hardware(cache).latencies
    found = []
    for use in space.workloads:
        kernel = str(design[f"kernel.{use.workload}"])
        if kernel not in coprocessor_driver.drivers(use.workload):
            continue
        workload = workloads.get(use.workload, use.bytes)
        if workload.message_bytes > LONGEST:
            workload = workloads.get(workload.name, LONGEST)
        program = compiled(workload, kernel, target, latencies, cache)
        case = cases(workload, program, kernel)[0]
        machine = Machine(target.host_instructions, program, Model(p, target.core.xlen))
        run = machine.run(case.arguments, case.memory)
        model = Model(p, target.core.xlen)
        timed = timed_beside(run, model, target.core, latencies, program.entry)
        found.append(
            Timeline(
                use.workload,
                workload.message_bytes,
                timed["cycles"],
                tuple(sorted(_phases(model), key=lambda phase: phase.start)),
            )
        )
    return found


def _phases(model: Model) -> Iterator[Phase]:
    """What a model noted, counted from the call of the kernel, which leaves EX in cycle 1."""
    for note in model.phases:
        yield Phase(note.what, note.number, note.start - 1, note.end - 1)

"""Cycles of programs whose commands a co-processor holds, against counts by hand."""

from __future__ import annotations

import pytest

from isa.assembler import assemble
from isa.coprocessor import WINDOW_BASE
from isa.core import PRESETS, Core
from isa.device import DataMemory
from isa.device_timing import device_retirements, price_with_device
from isa.instruction_set import InstructionSet
from isa.machine import Machine
from isa.outcome import Run
from isa.program import DATA_BASE
from isa.timing import Pipeline, retirements


class Timer:
    """Is busy for some cycles from `start` on; `wait` and memory accesses are held until then."""

    def __init__(self, busy: int, is_mapped: bool = False) -> None:
        self.busy = busy
        self.is_mapped = is_mapped
        self.reset()

    def reset(self) -> None:
        self.until = 0
        self.seen: list[tuple[int, str]] = []

    def command(
        self, now: int, name: str, a: int, b: int, memory: DataMemory | None
    ) -> tuple[int, int]:
        self.seen.append((now, name))
        if name == "start":
            self.until = now + self.busy
            return 0, 0
        return self.access(now) if name == "wait" else 0, 7

    def access(self, now: int) -> int:
        return max(0, self.until - now)


def ran(text: str, device: Timer) -> Run:
    instructions = InstructionSet.of(32, "rv32i", "xcop")
    return Machine(instructions, assemble(text, instructions), device).run([DATA_BASE])


@pytest.mark.parametrize("pipeline", [2, 3, 5])
@pytest.mark.parametrize("forwarding", [False, True])
def test_commands_that_are_not_held_are_as_quick_as_units(pipeline: int, forwarding: bool) -> None:
    core = Core(pipeline=pipeline, forwarding=forwarding)
    text = "addi a1, a0, 1\ncp.set a1, 1\ncp.get a2\naddi a3, a2, 1\ncp.put a3, a1\nebreak"
    device = Timer(0)
    run = ran(text, device)
    done = list(device_retirements(run.blocks, run.trace, run.log, device, core))
    assert done == list(retirements(run.blocks, run.trace, Pipeline(core)))
    # in EX for one cycle each, so the device sees a command in its D
    commands = [now for now, placed in done if placed.instruction.kind == "device"]
    assert [now for now, _ in device.seen] == commands


@pytest.mark.parametrize(
    ("pipeline", "busy", "cycles"),
    [
        (5, 0, 4),
        (5, 1, 4),  # D of start is 1, that of wait 2
        (5, 10, 13),  # wait leaves in cycle 11, addi 12, ebreak 13
        (3, 10, 13),
        (2, 10, 13),
    ],
)
def test_wait_is_held(pipeline: int, busy: int, cycles: int) -> None:
    device = Timer(busy)
    run = ran("cp.start\ncp.wait a1\naddi a2, a1, 1\nebreak", device)
    core = Core(pipeline=pipeline)
    assert price_with_device(run.blocks, run.trace, run.log, device, core) == cycles


@pytest.mark.parametrize(
    ("pipeline", "cycles"),
    [
        (5, 13),  # lw leaves EX in cycle 11, its use waits one cycle: 13
        (3, 13),
        (2, 13),  # the load itself stays in EX for a cycle more
    ],
)
def test_access_is_held(pipeline: int, cycles: int) -> None:
    device = Timer(10)
    run = ran("cp.start\nlw a1, 0(a0)\naddi a2, a1, 1\nebreak", device)
    core = Core(pipeline=pipeline)
    assert price_with_device(run.blocks, run.trace, run.log, device, core) == cycles + 1


def test_window_is_told_from_memory() -> None:
    device = Timer(20, is_mapped=True)
    text = f"lui t0, {WINDOW_BASE >> 12}\nsw a0, 0x50(t0)\nlw a1, 0x58(t0)\nlw a2, 0(a0)\nebreak"
    run = ran(text, device)
    core = Core()
    assert price_with_device(run.blocks, run.trace, run.log, device, core) == 24
    assert device.seen == [(2, "start"), (3, "wait")]


def test_presets_are_refused() -> None:
    device = Timer(0)
    run = ran("cp.start\nebreak", device)
    with pytest.raises(
        ValueError, match=r"^core of a co-processor must be one of parameters, not icicle"
    ):
        price_with_device(run.blocks, run.trace, run.log, device, PRESETS["icicle"])

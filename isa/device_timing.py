"""Device timing: cycles of a recorded run whose commands a co-processor holds in EX.

The trace is walked instruction by instruction in absolute time, as what a co-processor does goes
on between blocks. A fresh device is given the logged commands, each with its first cycle in EX, and
says how long it holds the instruction there. A held instruction takes its operands as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from isa.core import PRESETS, Core
from isa.device import Device, Event
from isa.timing import Latencies, Pipeline, taken
from isa.translate import Block, Placed

__all__ = ["device_retirements", "price_with_device"]


def device_retirements(
    blocks: Sequence[Block],
    trace: Sequence[int],
    log: Sequence[Event],
    device: Device,
    core: Core,
    latencies: Latencies | None = None,
) -> Iterator[tuple[int, Placed]]:
    """Each executed instruction with its D, counted from 1 for an empty pipeline's first EX.

    Args:
        blocks: Blocks of the translated program.
        trace: Block indices in the order executed.
        log: Commands of the run, see `isa.outcome.Run`.
        device: The co-processor; it is reset.
        core: One of parameters, and no preset.
        latencies: See `isa.timing`.

    Raises:
        ValueError: The core is a preset, whose rules know no co-processor.
    """
    if core.name in PRESETS:
        raise ValueError(f"core of a co-processor must be one of parameters, not {core.name}")
    rules = Pipeline(core, latencies)
    walk = _Walk(log, device)
    state, now = rules.start, 0
    for position, index in enumerate(trace):
        following = trace[position + 1] if position + 1 < len(trace) else None
        leaves = taken(blocks, index, following)
        instructions = blocks[index].instructions
        for placed in instructions:
            walk.now = now
            hold = walk.hold(placed)
            is_last = placed is instructions[-1]
            cycles, state = rules.step(state, placed, leaves and is_last, hold)
            now += cycles
            yield now, placed


class _Walk:
    """Gives a device the commands of a log, each at its time."""

    def __init__(self, log: Sequence[Event], device: Device) -> None:
        device.reset()
        self.now = 0  # D of the instruction before
        self._events = iter(log)
        self._next = next(self._events, None)
        self._device = device
        self._accesses = 0

    def hold(self, placed: Placed) -> Callable[[int], int] | None:
        """What `Pipeline.step` asks of an instruction."""
        kind = placed.instruction.kind
        if kind == "device":
            return self._command
        if kind in ("load", "store"):
            self._accesses += 1
            event = self._next
            is_command = event is not None and event.access == self._accesses - 1
            return self._command if is_command else self._access
        return None

    def _command(self, start: int) -> int:
        event = self._next
        assert event is not None
        self._next = next(self._events, None)
        cycles, _ = self._device.command(self.now + start, event.name, event.a, event.b, None)
        return cycles

    def _access(self, start: int) -> int:
        return self._device.access(self.now + start)


def price_with_device(
    blocks: Sequence[Block],
    trace: Sequence[int],
    log: Sequence[Event],
    device: Device,
    core: Core,
    latencies: Latencies | None = None,
    *,
    entry: int = 0,
) -> int:
    """Cycles of the kernel in a recorded trace, see `isa.timing.Pricer.price`."""
    total = before = 0
    for done, placed in device_retirements(blocks, trace, log, device, core, latencies):
        if placed.pc >= entry:
            total += done - before
        before = done
    return total

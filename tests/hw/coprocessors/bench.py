"""A bench for a co-processor alone: commands and memory on the netlist, and what it answers."""

from __future__ import annotations

from collections.abc import Iterable

import pyrtl

from hw.coprocessors.build import build
from hw.coprocessors.parameters import Coprocessor
from isa.coprocessor import (
    COMMANDS,
    GET_OFFSET,
    PUT_OFFSET,
    SET_OFFSET,
    START_OFFSET,
    WAIT_OFFSET,
)

OFFSETS = {
    "set": SET_OFFSET,
    "put": PUT_OFFSET,
    "low": PUT_OFFSET,
    "start": START_OFFSET,
    "wait": WAIT_OFFSET,
    "get": GET_OFFSET,
}
BASE = 0x1000
"""Address of the first byte of memory."""


class Bench:
    """A netlist with memory at its port.

    Attributes:
        cycle: Cycles since power-on.
        active_cycles: Cycles in which a message was under way.
        beats: Beats loaded and stored.
        stimuli: Inputs of each cycle.
        answers: Outputs of each cycle.
    """

    def __init__(self, p: Coprocessor, xlen: int = 32, memory: bytearray | None = None) -> None:
        self.p, self.xlen = p, xlen
        self.memory = bytearray() if memory is None else memory
        self.block = build(p, xlen)
        self.simulation = pyrtl.FastSimulation(tracer=None, block=self.block)
        self.outputs = sorted(w.name for w in self.block.wirevector_subset(pyrtl.Output))
        self.cycle = self.active_cycles = self.beats = 0
        self.stimuli: list[dict[str, int]] = []
        self.answers: list[dict[str, int]] = []
        self._word = 0

    def step(self, name: str = "", a: int = 0, b: int = 0) -> dict[str, int]:
        """One cycle with a command at the port, or none; returns the outputs."""
        if self.p.attachment == "mapped":
            inputs = self._access(name, a, b)
        else:
            code = COMMANDS.index(name) if name else 0
            inputs = {"valid": int(bool(name)), "command": code, "a": a, "b": b}
        if self.p.mover == "dma":
            inputs["memory_word"] = self._word
        self.simulation.step(inputs)
        found = {output: self.simulation.inspect(output) for output in self.outputs}
        self.stimuli.append(inputs)
        self.answers.append(found)
        self.cycle += 1
        self.active_cycles += found["active"]
        if self.p.mover == "dma":
            self._transfer(found)
        return found

    def _access(self, name: str, a: int, b: int) -> dict[str, int]:
        """The access of the window that stands for a command; before a `put` comes its `low`."""
        offset = 0
        if name:
            upper = 4 if name == "put" and self.xlen == 32 else 0
            offset = OFFSETS[name] + upper + (8 * b if name == "set" else 0)
        data = b if name == "put" and self.xlen == 32 else a
        store = int(name in ("set", "put", "start", "low"))
        return {"valid": int(bool(name)), "store": store, "offset": offset, "data": data}

    def _transfer(self, found: dict[str, int]) -> None:
        size = self.p.bus_width // 8
        at = found["memory_address"] - BASE
        if found["memory_read"]:
            assert at % size == 0
            assert 0 <= at <= len(self.memory) - size
            self._word = int.from_bytes(self.memory[at : at + size], "little")
        if found["memory_write"]:
            assert at % size == 0
            data = found["memory_data"].to_bytes(size, "little")
            for i in range(size):
                if found["memory_enables"] >> i & 1:
                    self.memory[at + i] = data[i]
        self.beats += found["memory_read"] | found["memory_write"]

    def command(self, name: str, a: int = 0, b: int = 0, limit: int = 100_000) -> tuple[int, int]:
        """Keep a command at the port until it is not held; returns cycles held and its result."""
        for held in range(limit):
            found = self.step(name, a, b)
            if not found["hold"]:
                return held, found["result"]
        raise AssertionError(f"{name} is held for ever")

    def idle(self, cycles: int) -> None:
        """Let time pass."""
        for _ in range(cycles):
            self.step()


def words(data: bytes, xlen: int) -> Iterable[tuple[int, int]]:
    """Operands of the `put`s of some bytes, what is behind them being ones."""
    for i in range(0, len(data), 8):
        word = int.from_bytes(data[i : i + 8].ljust(8, b"\xff"), "little")
        yield (word, 0) if xlen == 64 else (word & 0xFFFFFFFF, word >> 32)

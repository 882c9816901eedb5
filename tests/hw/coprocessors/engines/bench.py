"""A test bench that plays the buffer and the control of the frame around one engine."""

from __future__ import annotations

from dataclasses import dataclass

import pyrtl

from hw.coprocessors.engines.engine import Engine, Inputs, Operation

OUTPUTS = ("take", "busy", "ready", "out")


@dataclass(frozen=True)
class Member:
    """Parameters that engines look at."""

    algorithms: tuple[str, ...]
    width: int = 64
    rounds_per_cycle: int = 1
    stages: int = 1
    aes_sbox: str = "table"


def built(engine: Engine, p: Member) -> pyrtl.Block:
    """Return a block that holds nothing but the engine, its wires as inputs and outputs."""
    block = pyrtl.Block()
    with pyrtl.set_working_block(block):
        inputs = Inputs(
            {name: pyrtl.Input(1, f"selected_{i}") for i, name in enumerate(engine.held(p))},
            *(pyrtl.Input(1, name) for name in ("init", "run", "key", "squeeze")),
            pyrtl.Input(p.width, "word"),
            pyrtl.Input(engine.select_bits(p), "select"),
        )
        outputs = engine.build(p, inputs)
        for name in OUTPUTS:
            wire = getattr(outputs, name)
            port = pyrtl.Output(len(wire), name)
            port <<= wire
        assert len(outputs.take) == engine.take_bits(p)
        assert len(outputs.out) == p.width
    return block


class Bench:
    """One engine in simulation."""

    def __init__(self, engine: Engine, p: Member) -> None:
        self.engine, self.p = engine, p
        self.block = built(engine, p)
        self.simulation = pyrtl.FastSimulation(tracer=None, block=self.block)
        self.held = engine.held(p)
        self.word = 0
        self.stimuli: list[dict[str, int]] = []
        self.answers: list[dict[str, int]] = []

    def _step(self, algorithm: str, data: bytes, **wires: int) -> None:
        """Simulate a cycle; the word that `take` names stands on `word` in the next."""
        values = {"init": 0, "run": 0, "key": 0, "squeeze": 0, "select": 0, "word": self.word}
        for i, name in enumerate(self.held):
            values[f"selected_{i}"] = int(name == algorithm)
        values |= wires
        self.simulation.step(values)
        self.stimuli.append(values)
        self.answers.append({name: self.see(name) for name in OUTPUTS})
        size = self.p.width // 8
        start = size * self.see("take")
        # What lies beyond the block must not matter.
        chunk = data[start : start + size] or b"\xa5" * size
        self.word = int.from_bytes(chunk, "little")

    def see(self, name: str) -> int:
        return int(self.simulation.inspect(name))

    def init(self, algorithm: str) -> None:
        self._step(algorithm, b"", init=1)

    def run(
        self,
        algorithm: str,
        data: bytes,
        operation: Operation = Operation.BLOCK,
        *,
        init: bool = False,
        more: bytes | None = None,
    ) -> int:
        """Run an operation and return the cycles of `busy`; with `more`, a block right behind it.

        The second begins in the last cycle of the first.
        """
        qualifiers = {
            "key": int(operation is Operation.KEY),
            "squeeze": int(operation is Operation.SQUEEZE),
        }
        self._step(algorithm, data, run=1, init=int(init), **qualifiers)
        assert not self.see("busy")
        assert self.see("ready")
        cycles = 0
        if more is not None:
            first = self.engine.run_cycles(self.p, algorithm, operation)
            while cycles < first:
                cycles += 1
                last = cycles == first
                self._step(algorithm, more if last else data, run=int(last))
                assert self.see("busy")
                assert self.see("ready") == last
            data = more
        while True:
            self._step(algorithm, data)
            if not self.see("busy"):
                return cycles
            cycles += 1
            assert cycles < 2000

    def output(self, algorithm: str) -> bytes:
        """Read the whole output."""
        words = self.engine.algorithms[algorithm].output_bytes * 8 // self.p.width
        result = b""
        for i in range(words):
            self._step(algorithm, b"", select=i)
            result += self.see("out").to_bytes(self.p.width // 8, "little")
        return result

"""Job: the sizes of one message, and notes of what was done for it when."""

from __future__ import annotations

from typing import NamedTuple

from hw.coprocessors import engines
from hw.coprocessors.compute import blocks
from hw.coprocessors.engines.engine import Operation
from hw.coprocessors.layout import Layout

__all__ = ["Job", "Note"]


class Note(NamedTuple):
    """Something that took some cycles.

    Attributes:
        what: "load", "compute" or "store".
        number: Which operation since power-on it is, loads the first byte of, or stores.
        start: Its first cycle.
        end: The cycle behind its last.
    """

    what: str
    number: int
    start: int
    end: int


class Job:
    """The sizes of one message.

    Attributes:
        algorithm: Its algorithm.
        size: Bytes of the message.
        wanted: Bytes of output wanted of an extendable algorithm.
        blocks: Blocks of the message.
        is_empty: Nothing is to be done.
        block_units: Units of buffer space of a block.
        key_units: Those of the key.
        steps: Steps of the output after an operation.
        message_transfers: Transfers of the message into the buffer.
        key_transfers: Those of the key.
        cycles: Cycles in which the engine is busy with each operation.
    """

    def __init__(self, layout: Layout, name: str, size: int, wanted: int) -> None:
        """Count."""
        engine = engines.engine_of(name)
        self.algorithm = algorithm = engine.algorithms[name]
        self.size, self.wanted = size, wanted
        self.blocks = blocks(algorithm, size)
        self.is_empty = (algorithm.per_block and not size) or (algorithm.extendable and not wanted)
        self.block_units = layout.block_units(algorithm)
        self.key_units = layout.key_units(algorithm)
        self.steps = layout.output_steps(algorithm)
        self.message_transfers = layout.transfers(size)
        self.key_transfers = layout.transfers(algorithm.key_bytes)
        self.cycles = {
            o: engine.run_cycles(layout.p, name, o)
            for o, there in (
                (Operation.BLOCK, True),
                (Operation.KEY, algorithm.key_bytes > 0),
                (Operation.SQUEEZE, algorithm.extendable),
            )
            if there
        }

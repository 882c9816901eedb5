"""Outcome: what a run of a program did, whichever way it was executed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from isa.device import Event
from isa.translate import Block


@dataclass(frozen=True)
class Outcome:
    """What a run did.

    Attributes:
        instructions: Instructions executed, the calling stub included.
        kernel_instructions: Those from the kernel's entry to its return inclusive.
        registers: x0 to x31 at the end.
        state: Other architectural state at the end, by name.
        memory: Data memory at the end.
        data_base: Its lowest address.
        blocks: The blocks of the program by index.
        exit_code: Argument of the exit call; None where the program ended with `ebreak`.
        output: Bytes written by the write call.
    """

    instructions: int
    kernel_instructions: int
    registers: tuple[int, ...]
    state: Mapping[str, int]
    memory: bytes = field(repr=False)
    data_base: int
    blocks: Sequence[Block] = field(repr=False)
    exit_code: int | None
    output: bytes

    def read(self, address: int, size: int) -> bytes:
        """Bytes of data memory at the end of the run."""
        last = self.data_base + len(self.memory) - size
        if not self.data_base <= address <= last:
            raise ValueError(
                f"address must lie in {self.data_base:#x} to {last:#x}, not {address:#x}"
            )
        return self.memory[address - self.data_base : address - self.data_base + size]

    @cached_property
    def times(self) -> Mapping[int, int]:
        """Executions of each block, by its index."""
        raise NotImplementedError

    @cached_property
    def counts(self) -> dict[str, int]:
        """Executions of each mnemonic, the calling stub included."""
        counts: Counter[str] = Counter()
        for index, times in self.times.items():
            for placed in self.blocks[index].instructions:
                counts[placed.instruction.name] += times
        return dict(sorted(counts.items()))

    @cached_property
    def executions(self) -> dict[int, int]:
        """Executions of the instruction at each address."""
        counts: Counter[int] = Counter()
        for index, times in self.times.items():
            for placed in self.blocks[index].instructions:
                counts[placed.pc] += times
        return dict(sorted(counts.items()))


@dataclass(frozen=True)
class Run(Outcome):
    """What a run did that recorded its path.

    Attributes:
        trace: Indices of the blocks executed, in order, for `isa.timing.price`.
        log: Commands given to the co-processor, in order.
    """

    trace: tuple[int, ...] = field(repr=False)
    log: tuple[Event, ...] = field(default=(), repr=False)

    @cached_property
    def times(self) -> Mapping[int, int]:
        """Executions of each block, by its index."""
        return Counter(self.trace)

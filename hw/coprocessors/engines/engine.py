"""Engine: what a unit of the co-processor promises, in plain Python, in cycles and in wires."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import pyrtl

__all__ = ["Algorithm", "Engine", "Inputs", "Operation", "Outputs", "Padding", "Shape", "State"]

State = tuple[int, ...]
"""What an engine remembers between operations; only the engine knows what the numbers mean."""


class Operation(Enum):
    """What an engine does after `run`."""

    BLOCK = "block"
    """Pull a block of the message and process it."""
    KEY = "key"
    """Pull the key and prepare it for the algorithm selected."""
    SQUEEZE = "squeeze"
    """Pull nothing; make the next output of an extendable algorithm."""


@dataclass(frozen=True)
class Padding:
    """What follows a message: `first`, zeros, then its length; `last` is ORed into the last byte.

    Attributes:
        first: The byte behind the message.
        last: What is added to the last byte of the last block; that may be `first` itself.
        length_bytes: Bytes at the end of the last block for the length in bits, big-endian.
    """

    first: int
    last: int = 0
    length_bytes: int = 0

    def tail(self, message_bytes: int, block_bytes: int) -> bytes:
        """Return the bytes that make a message of that size whole blocks."""
        zeros = -(message_bytes + 1 + self.length_bytes) % block_bytes
        bits = 8 * message_bytes if self.length_bytes else 0
        length = bits.to_bytes(self.length_bytes, "big")
        tail = bytearray([self.first, *bytes(zeros), *length])
        tail[-1] |= self.last
        return bytes(tail)


@dataclass(frozen=True)
class Algorithm:
    """An algorithm of an engine as the frame sees it.

    Attributes:
        name: Its name, that of its workload where there is one.
        block_bytes: Bytes that a BLOCK operation pulls.
        output_bytes: Bytes that can be read after an operation.
        source: Standard.
        padding: Padding of a message; None where a message must be whole blocks.
        key_bytes: Bytes that a KEY operation pulls; 0 without a key.
        per_block: Whether each block has an output; else only the last.
        extendable: Whether SQUEEZE gives further outputs.
    """

    name: str
    block_bytes: int
    output_bytes: int
    source: str
    padding: Padding | None = None
    key_bytes: int = 0
    per_block: bool = False
    extendable: bool = False


class Shape(Protocol):
    """The parameters of a co-processor that its engines look at."""

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Names of all algorithms held, those of other engines too."""

    @property
    def width(self) -> int:
        """Bits of a word between buffer and engine, 32 or 64."""

    @property
    def rounds_per_cycle(self) -> int:
        """Rounds chained in one group, 1, 2 or 4; see `Engine.rounds`."""

    @property
    def stages(self) -> int:
        """Cycles a group of rounds takes, 1 to 4: it is cut by one row of registers fewer."""

    @property
    def aes_sbox(self) -> str:
        """Circuit of the S-boxes of AES and SM4, one of `hw.units.circuit_names("aes_sbox")`."""


@dataclass(frozen=True)
class Inputs:
    """Wires into an engine. A word's bits 7..0 are its first byte in memory.

    Attributes:
        selected: For each algorithm held, by name, whether it is the selected one, 1 bit. One of
            them is 1 and stays so from `init` or `run` until the last output has been read.
        init: Take the initial state of the selected algorithm, from the next cycle on; a key stays.
            May come together with `run`, not while `busy` is 1 and `ready` is 0.
        run: Begin an operation; only while `ready` is 1.
        key: With `run`: the operation is KEY. Ignored by engines without a key.
        squeeze: With `run`: the operation is SQUEEZE. Ignored by engines that are not extendable.
        word: The word number `take` of the cycle before, `width` bits.
        select: Number of the output word wanted, `select_bits` wide.
    """

    selected: Mapping[str, pyrtl.WireVector]
    init: pyrtl.WireVector
    run: pyrtl.WireVector
    key: pyrtl.WireVector
    squeeze: pyrtl.WireVector
    word: pyrtl.WireVector
    select: pyrtl.WireVector


@dataclass(frozen=True)
class Outputs:
    """Wires out of an engine.

    Attributes:
        take: Number, within the block or key, of the word that must stand on `word` in the next
            cycle, `take_bits` wide: 0 whenever `run` may come, so that word 0 is there in the
            first cycle of `busy`. It can go back to earlier words (the feed-forward of Haraka), so
            a block must stay readable until `busy` falls.
        busy: 1 in the `run_cycles` cycles behind that of `run`.
        ready: 1 when `run` may be given: while not busy, and in the last cycle of `busy`.
        out: Output word number `select`, combinational; valid while not busy.
    """

    take: pyrtl.WireVector
    busy: pyrtl.WireVector
    ready: pyrtl.WireVector
    out: pyrtl.WireVector


class Engine(ABC):
    """A unit of the co-processor: several algorithms on one datapath.

    Attributes:
        name: Its name.
        algorithms: All it can hold, by name. Which of them one member of the family holds is said
            by `Shape.algorithms`; those left out cost no gates.
        has_sbox: Whether `Shape.aes_sbox` chooses among circuits of it.
    """

    name: str
    algorithms: Mapping[str, Algorithm]
    has_sbox = False

    def held(self, p: Shape) -> tuple[str, ...]:
        """Return the algorithms of this engine that `p` holds, sorted; empty without the unit."""
        return tuple(sorted(set(p.algorithms) & set(self.algorithms)))

    def take_bits(self, p: Shape) -> int:
        """Return the width of `take`: enough for the words of the longest block or key held."""
        held = [self.algorithms[name] for name in self.held(p)]
        return _index_bits(p, max(max(a.block_bytes, a.key_bytes) for a in held))

    def select_bits(self, p: Shape) -> int:
        """Return the width of `select`: enough for the words of the longest output held."""
        return _index_bits(p, max(self.algorithms[n].output_bytes for n in self.held(p)))

    @abstractmethod
    def rounds(self, p: Shape) -> int:
        """Return the rounds of one group: `p.rounds_per_cycle`, or the next less that divides."""

    @abstractmethod
    def run_cycles(self, p: Shape, algorithm: str, operation: Operation = Operation.BLOCK) -> int:
        """Return the cycles for which `busy` is 1; the next `run` may be given in the last."""

    @abstractmethod
    def initial(self, algorithm: str) -> State:
        """Return the state after `init`."""

    @abstractmethod
    def step(
        self, algorithm: str, state: State, data: bytes, operation: Operation = Operation.BLOCK
    ) -> State:
        """Return the state after an operation on a block or key; `data` is empty for SQUEEZE."""

    @abstractmethod
    def output(self, algorithm: str, state: State) -> bytes:
        """Return the `output_bytes` bytes that can be read in a state."""

    @abstractmethod
    def build(self, p: Shape, inputs: Inputs) -> Outputs:
        """Build the engine in the working block, with the algorithms that `p` holds."""


def _index_bits(p: Shape, size: int) -> int:
    return max(1, (8 * size // p.width - 1).bit_length())

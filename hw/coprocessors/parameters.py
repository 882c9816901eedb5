"""Parameters: one member of the co-processor family, checked and in canonical form."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from hw import units
from hw.coprocessors import engines
from hw.coprocessors.engines.engine import Algorithm

__all__ = ["CHOICES", "RANGES", "WORD_BYTES", "Coprocessor"]

WORD_BYTES = 8
"""Bytes of a buffer word."""

CHOICES: dict[str, tuple[Any, ...]] = {
    "width": (32, 64),
    "rounds_per_cycle": (1, 2, 4),
    "stages": (1, 2, 3, 4),
    "buffer_words": (16, 32, 64, 128, 256, 512),
    "buffer": ("registers", "bram"),
    "double_buffer": (False, True),
    "bus_width": (32, 64, 128),
    "burst_length": (1, 2, 4, 8, 16, 32, 64),
    "attachment": ("commands", "mapped"),
    "mover": ("cpu", "dma"),
}
"""Values that a parameter can take."""

RANGES = {"bus_latency": (1, 64)}
"""Lowest and highest value of the parameters that take every integer between."""


@dataclass(frozen=True)
class Coprocessor:
    """Parameters of a co-processor.

    Attributes:
        algorithms: Names of those held (`engines.algorithm_names`); kept sorted. They say which
            engines there are; what an engine could do beyond them costs no gates.
        width: Bits of a word between buffer and engine.
        rounds_per_cycle: Rounds chained in one group, where that divides an engine's rounds.
        stages: Cycles of a group of rounds, which is cut by one row of registers fewer.
        buffer_words: Words of the buffer, 64 bits each.
        buffer: What the buffer is made of, flip-flops or block RAM.
        double_buffer: The buffer is filled and emptied at the same time; else it is filled to the
            brim or to the end of the message, then emptied.
        aes_sbox: Circuit of the S-boxes of AES and SM4; matters where an engine has one.
        bus_width: Bits of a beat of the co-processor's own bus; matters with `mover` "dma".
        bus_latency: Cycles from the request of a burst to its first beat, and those that an access
            through the window takes beyond a load or store of memory.
        burst_length: Most beats of a burst; matters with `mover` "dma".
        attachment: Commands are instructions, or loads and stores of a window of the address space.
        mover: Who moves the data, the CPU by `put` and `get`, or the co-processor itself.
    """

    algorithms: tuple[str, ...]
    width: int = 64
    rounds_per_cycle: int = 1
    stages: int = 1
    buffer_words: int = 32
    buffer: str = "registers"
    double_buffer: bool = False
    aes_sbox: str = "boyar_peralta"
    bus_width: int = 32
    bus_latency: int = 1
    burst_length: int = 1
    attachment: str = "commands"
    mover: str = "cpu"

    def __post_init__(self) -> None:
        self._check_algorithms()
        for name, values in CHOICES.items():
            value = getattr(self, name)
            if type(value) is not type(values[0]) or value not in values:
                raise ValueError(f"{name} must be one of {_listed(values)}, not {value!r}")
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            if type(value) is not int or not low <= value <= high:
                raise ValueError(f"{name} must be an integer from {low} to {high}, not {value!r}")
        circuits = units.circuit_names("aes_sbox")
        if self.aes_sbox not in circuits:
            raise ValueError(f"aes_sbox must be one of {_listed(circuits)}, not {self.aes_sbox!r}")
        blocks = 2 if self.double_buffer else 1
        longest = max(self.held(), key=lambda a: a.block_bytes)
        needed = blocks * longest.block_bytes / WORD_BYTES
        if self.buffer_words < needed:
            least = next(n for n in CHOICES["buffer_words"] if n >= needed)
            what = "two blocks" if self.double_buffer else "a block"
            raise ValueError(
                f"buffer_words must be at least {least} to hold {what} of {longest.name}, "
                f"not {self.buffer_words!r}"
            )

    def _check_algorithms(self) -> None:
        names = self.algorithms
        known = engines.algorithm_names()
        if not isinstance(names, tuple) or not names or len(set(names)) < len(names):
            raise ValueError(
                f"algorithms must be a tuple of one or more different names, not {names!r}"
            )
        for name in names:
            if name not in known:
                raise ValueError(f"algorithms must be of {_listed(known)}, not {name!r}")
        object.__setattr__(self, "algorithms", tuple(sorted(names)))

    def held(self) -> tuple[Algorithm, ...]:
        """The algorithms held, sorted by name."""
        return tuple(engines.algorithm(name) for name in self.algorithms)

    def engine_names(self) -> tuple[str, ...]:
        """Names of the engines that the algorithms need, sorted."""
        return tuple(name for name, engine in engines.engines().items() if engine.held(self))

    @property
    def transfer_bits(self) -> int:
        """Bits that enter the buffer at once: a beat of the bus, or one `put`."""
        return self.bus_width if self.mover == "dma" else 8 * WORD_BYTES

    @property
    def unit_bytes(self) -> int:
        """Bytes of the unit in which buffer space is counted: a transfer or a word, the smaller."""
        return min(self.transfer_bits // 8, WORD_BYTES)

    @property
    def burst_beats(self) -> int:
        """Most beats of a burst in this buffer.

        `burst_length`, halved until a burst fits beside what is left of an incomplete block, so
        that loading never comes to a stop, and until it fits into half of a double buffer.
        """
        capacity = self.buffer_words * WORD_BYTES
        beats = self.burst_length
        while beats > 1:
            burst = beats * self.bus_width // 8
            # What is left of an incomplete block is a multiple of `step`, less than the block.
            room = min(
                capacity - a.block_bytes + math.gcd(burst, a.block_bytes, a.key_bytes)
                for a in self.held()
            )
            if burst <= (min(room, capacity // 2) if self.double_buffer else room):
                break
            beats //= 2
        return beats

    def canonical(self) -> Coprocessor:
        """The same hardware, with each parameter that cannot matter at its default.

        `rounds_per_cycle` and `burst_length` become what is built of them.
        """
        p = self
        if p.mover == "cpu":
            p = replace(p, bus_width=32, burst_length=1)
            if p.attachment == "commands":
                p = replace(p, bus_latency=1)
        else:
            p = replace(p, burst_length=p.burst_beats)
        if not any(engines.engines()[name].has_sbox for name in p.engine_names()):
            p = replace(p, aes_sbox="boyar_peralta")
        return replace(p, rounds_per_cycle=max(p.rounds().values()))

    def rounds(self) -> dict[str, int]:
        """Rounds in one group of each engine that the algorithms need."""
        return {name: engines.engines()[name].rounds(self) for name in self.engine_names()}


def _listed(values: Iterable[object]) -> str:
    return ", ".join(str(value) for value in values)

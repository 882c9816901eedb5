"""Play: one message, or any commands, on the netlist of a member and on its model side by side."""

from __future__ import annotations

import random
from dataclasses import dataclass

from hw.coprocessors import engines
from hw.coprocessors.compute import output_size
from hw.coprocessors.layout import Layout
from hw.coprocessors.model import Model
from hw.coprocessors.parameters import CHOICES, Coprocessor
from hw.coprocessors.schedule import host_commands
from hw.units import circuit_names
from isa.coprocessor import (
    ALGORITHM,
    ALGORITHMS,
    DESTINATION,
    KEY,
    LENGTH,
    OUTPUT_LENGTH,
    SOURCE,
)
from isa.device import DataMemory
from tests.hw.coprocessors.bench import BASE, Bench, words


@dataclass(frozen=True)
class Message:
    """What a co-processor is to do."""

    algorithm: str
    data: bytes
    key: bytes = b""
    wanted: int = 0

    @property
    def output_size(self) -> int:
        found = engines.algorithm(self.algorithm)
        return output_size(found, len(self.data), self.wanted)


class Pair:
    """A netlist and its model, given the same commands; they must answer alike in every cycle."""

    def __init__(self, p: Coprocessor, xlen: int = 32) -> None:
        self.p, self.xlen = p, xlen
        size = 1 << 15
        self.bench = Bench(p, xlen, bytearray(size))
        self.memory = DataMemory(bytearray(size), BASE)
        self.model = Model(p, xlen)

    def command(self, name: str, a: int = 0, b: int = 0) -> int:
        now = self.bench.cycle
        held, result = self.bench.command(name, a, b)
        expected = self.model.command(now, name, a, b, self.memory)
        assert (held, result) == expected, (name, a, b, now, held, result, expected)
        return result

    def play(self, message: Message, gaps: random.Random | None = None) -> bytes:
        """Drive a message as a host would; returns the output."""
        found = engines.algorithm(message.algorithm)
        beat = self.p.bus_width // 8
        start = BASE + 16 * beat
        key = start + -(-len(message.data) // beat) * beat + beat
        destination = key + 2 * beat + 64
        for content in (self.bench.memory, self.memory.content):
            content[start - BASE : start - BASE + len(message.data)] = message.data
            content[key - BASE : key - BASE + len(message.key)] = message.key
        settings = {
            ALGORITHM: ALGORITHMS.index(message.algorithm),
            LENGTH: len(message.data),
            SOURCE: start,
            DESTINATION: destination,
            OUTPUT_LENGTH: message.wanted,
            KEY: key,
        }
        for number, value in settings.items():
            self.command("set", value, number)
        puts = iter([*words(message.key, self.xlen), *words(message.data, self.xlen)])
        output = bytearray()
        low = 0
        layout = Layout(self.p, self.xlen)
        for name in host_commands(layout, found.name, len(message.data), message.wanted):
            if gaps is not None:
                self.bench.idle(gaps.choice((0, 0, 0, 1, 2, gaps.randrange(80))))
            operands: tuple[int, int] = (0, 0)
            if name == "low" or (name == "put" and not low):
                operands = next(puts)
            if name == "low":
                low = 1
                pending = operands
                self.command(name, operands[0])
                continue
            if name == "put" and low:
                operands, low = pending, 0
            result = self.command(name, *operands)
            if name == "get":
                output += result.to_bytes(self.xlen // 8, "little")
        self.bench.idle(2)  # in which the last output is taken
        size = message.output_size
        if layout.has_dma:
            assert self.bench.memory == self.memory.content
            return bytes(self.bench.memory[destination - BASE :][:size])
        return bytes(output[:size])


def random_member(rng: random.Random, most: int = 4) -> Coprocessor:
    """A member with one to `most` algorithms."""
    chosen = tuple(rng.sample(engines.algorithm_names(), rng.randint(1, most)))
    while True:
        values = {name: rng.choice(choices) for name, choices in CHOICES.items()}
        sbox = rng.choice(circuit_names("aes_sbox"))
        try:
            return Coprocessor(
                chosen, **values, bus_latency=rng.choice((1, 2, 3, 5, 11)), aes_sbox=sbox
            )
        except ValueError:
            continue


def random_message(
    rng: random.Random, p: Coprocessor, longest: int = 700, algorithm: str | None = None
) -> Message:
    """A message for an algorithm of a member, often about the size of a block."""
    found = engines.algorithm(algorithm or rng.choice(p.algorithms))
    size = rng.choice(
        (
            rng.randrange(longest),
            rng.randrange(20),
            max(0, found.block_bytes * rng.randrange(1, 4) + rng.randint(-9, 9)),
        )
    )
    wanted = rng.choice((rng.randrange(1, 40), rng.randrange(600))) if found.extendable else 0
    return Message(found.name, rng.randbytes(size), rng.randbytes(found.key_bytes), wanted)

"""Keccak: SHA3-256, SHAKE128 and SHAKE256 around one permutation."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from types import MappingProxyType

import pyrtl

from hw.coprocessors.engines.engine import (
    Algorithm,
    Engine,
    Inputs,
    Operation,
    Outputs,
    Padding,
    Shape,
    State,
)
from hw.coprocessors.engines.phase import counted, phase_end
from hw.coprocessors.engines.stages import cut
from hw.coprocessors.engines.wiring import (
    Wire,
    chosen,
    equals,
    incremented,
    item,
    rotl,
    split,
    table_entry,
)
from isa.keccak import CONSTANTS, LANES, OFFSETS, ROUNDS, permute

__all__ = ["ENGINE"]

AFTER_FO4 = 2.0
"""Delay of the multiplexer behind a group of rounds."""
_SOURCE = "FIPS 202 (2015)"
_CONSTANT_BITS = tuple((1 << j) - 1 for j in range(7))
"""The bits that a round constant can have (FIPS 202 section 3.2.5)."""


class Keccak(Engine):
    """Sponges: a block is XORed in word by word, then the permutation runs.

    A round of SHAKE's output is a SQUEEZE operation, the permutation alone.
    """

    name = "keccak"
    algorithms = MappingProxyType(
        {
            "sha3-256": Algorithm("sha3-256", 136, 32, _SOURCE, Padding(0x06, 0x80)),
            "shake128": Algorithm(
                "shake128", 168, 168, _SOURCE, Padding(0x1F, 0x80), extendable=True
            ),
            "shake256": Algorithm(
                "shake256", 136, 136, _SOURCE, Padding(0x1F, 0x80), extendable=True
            ),
        }
    )

    def rounds(self, p: Shape) -> int:
        """Return the rounds of one group: 1, 2 and 4 divide 24."""
        return p.rounds_per_cycle

    def run_cycles(self, p: Shape, algorithm: str, operation: Operation = Operation.BLOCK) -> int:
        """Return the cycles of an operation: one for each word pulled, then the groups."""
        words = 8 * self.algorithms[algorithm].block_bytes // p.width
        pulled = words if operation is Operation.BLOCK else 0
        return pulled + ROUNDS // p.rounds_per_cycle * p.stages

    def initial(self, algorithm: str) -> State:
        """Return 25 lanes of 0."""
        return (0,) * LANES

    def step(
        self, algorithm: str, state: State, data: bytes, operation: Operation = Operation.BLOCK
    ) -> State:
        """Return the lanes after a block, or after the permutation alone."""
        lanes = list(state)
        for i, (word,) in enumerate(struct.iter_unpack("<Q", data)):
            lanes[i] ^= word
        return permute(lanes)

    def output(self, algorithm: str, state: State) -> bytes:
        """Return the first lanes, lowest byte first."""
        return struct.pack("<25Q", *state)[: self.algorithms[algorithm].output_bytes]

    def build(self, p: Shape, inputs: Inputs) -> Outputs:
        """Build the engine."""
        held = [self.algorithms[name] for name in self.held(p)]
        groups = ROUNDS // p.rounds_per_cycle
        busy, absorbing = pyrtl.Register(1), pyrtl.Register(1)
        group, number = pyrtl.Register(5), pyrtl.Register(self.take_bits(p))
        end = phase_end(busy & ~absorbing, p.stages)
        permuting = busy & ~absorbing
        final = permuting & end & (group == groups - 1)
        ready = ~busy | final
        pulls = inputs.run
        if any(a.extendable for a in held):
            pulls = inputs.run & ~inputs.squeeze
        ends = {
            size: absorbing & equals(number, 8 * size // p.width - 1)
            for size in sorted({a.block_bytes for a in held})
        }
        absorbed = chosen({a.name: ends[a.block_bytes] for a in held}, inputs.selected)
        busy.next <<= inputs.run | (busy & ~final)
        absorbing.next <<= pulls | (absorbing & ~absorbed)
        following = pyrtl.select(permuting & end, incremented(group), group)
        group.next <<= pyrtl.select(ready, pyrtl.Const(0, len(group)), following)
        take = counted(number, absorbing)
        lanes = [pyrtl.Register(64) for _ in range(LANES)]
        new = _group(lanes, group, p.rounds_per_cycle, p.stages)
        words = max(8 * a.block_bytes // p.width for a in held)
        pulled = [
            inputs.word & (absorbing & (number == i)).sign_extended(p.width) for i in range(words)
        ]
        added = split(pyrtl.concat_list(pulled), 64)
        for i, lane in enumerate(lanes):
            kept = lane & ~inputs.init.sign_extended(64)
            if i < len(added):
                kept = kept ^ added[i]
            lane.next <<= pyrtl.select(permuting & end, new[i], kept)
        size = max(a.output_bytes for a in held)
        out = item(split(pyrtl.concat_list(lanes), p.width)[: 8 * size // p.width], inputs.select)
        return Outputs(take, busy, ready, out)


ENGINE = Keccak()


def _group(lanes: Sequence[Wire], group: Wire, rounds: int, stages: int) -> list[Wire]:
    """Return the lanes after a group of rounds, right after `stages` cycles."""
    state = list(lanes)
    for i in range(rounds):
        state = _round(state, _constant(group, CONSTANTS[i::rounds]))
    return cut(state, stages, AFTER_FO4)


def _round(a: Sequence[Wire], constant: Wire) -> list[Wire]:
    """Return the lanes after a round (FIPS 202 section 3.3)."""
    c = [a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20] for x in range(5)]
    d = [c[(x - 1) % 5] ^ rotl(c[(x + 1) % 5], 1) for x in range(5)]
    b: list[Wire] = list(a)
    for x in range(5):
        for y in range(5):
            i = x + 5 * y
            b[y + 5 * ((2 * x + 3 * y) % 5)] = rotl(a[i] ^ d[x], OFFSETS[i])
    new = [
        b[y + x] ^ (~b[y + (x + 1) % 5] & b[y + (x + 2) % 5])
        for y in range(0, LANES, 5)
        for x in range(5)
    ]
    return [new[0] ^ constant, *new[1:]]


def _constant(group: Wire, values: Sequence[int]) -> Wire:
    """Return the round constant for the number of a group."""
    entries = [
        sum((value >> bit & 1) << j for j, bit in enumerate(_CONSTANT_BITS)) for value in values
    ]
    bits = table_entry(entries, group[: (len(entries) - 1).bit_length()], len(_CONSTANT_BITS))
    zero = pyrtl.Const(0, 1)
    places = {bit: bits[j] for j, bit in enumerate(_CONSTANT_BITS)}
    return pyrtl.concat_list([places.get(i, zero) for i in range(64)])

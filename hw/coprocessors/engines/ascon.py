"""Ascon: the permutations of 12 and 8 rounds on whole states, and Ascon-Hash256."""

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
    any_of,
    chosen,
    incremented,
    item,
    rotr,
    split,
    table_entry,
)
from isa.ascon import CONSTANTS, HASH_IV, ROTATIONS, ROUNDS, permute

__all__ = ["ENGINE"]

AFTER_FO4 = 2.0
"""Delay of the multiplexer behind a group of rounds."""
STATE_BYTES = 40
HASH_RATE_BYTES = 8
_HASH = "ascon-hash256"
_ROUNDS = {_HASH: ROUNDS, "ascon-p12": 12, "ascon-p8": 8}
_HASH_START = tuple(permute([HASH_IV, 0, 0, 0, 0], ROUNDS))
_SOURCE = "NIST SP 800-232 (2025)"


class Ascon(Engine):
    """The permutations take a state and give the next; the hash absorbs eight bytes a block.

    A squeeze of the hash is its permutation alone; the 32 bytes of Ascon-Hash256 are four outputs.
    """

    name = "ascon"
    algorithms = MappingProxyType(
        {
            _HASH: Algorithm(
                _HASH, HASH_RATE_BYTES, HASH_RATE_BYTES, _SOURCE, Padding(0x01), extendable=True
            ),
            **{
                name: Algorithm(name, STATE_BYTES, STATE_BYTES, _SOURCE, per_block=True)
                for name in ("ascon-p12", "ascon-p8")
            },
        }
    )

    def rounds(self, p: Shape) -> int:
        """Return the rounds of one group: 1, 2 and 4 divide 8 and 12."""
        return p.rounds_per_cycle

    def run_cycles(self, p: Shape, algorithm: str, operation: Operation = Operation.BLOCK) -> int:
        """Return the cycles of an operation: one for each word pulled, then the groups."""
        words = 8 * self.algorithms[algorithm].block_bytes // p.width
        pulled = words if operation is Operation.BLOCK else 0
        return pulled + _ROUNDS[algorithm] // p.rounds_per_cycle * p.stages

    def initial(self, algorithm: str) -> State:
        """Return the five words that the hash begins with; zeros else."""
        return _HASH_START if algorithm == _HASH else (0,) * 5

    def step(
        self, algorithm: str, state: State, data: bytes, operation: Operation = Operation.BLOCK
    ) -> State:
        """Return the five words after a block, or after the permutation alone."""
        if algorithm != _HASH:
            state = struct.unpack("<5Q", data)
        elif data:
            state = (state[0] ^ int.from_bytes(data, "little"), *state[1:])
        return tuple(permute(state, _ROUNDS[algorithm]))

    def output(self, algorithm: str, state: State) -> bytes:
        """Return the state, or its first word for the hash; lowest byte first."""
        return struct.pack("<5Q", *state)[: self.algorithms[algorithm].output_bytes]

    def build(self, p: Shape, inputs: Inputs) -> Outputs:
        """Build the engine."""
        return _Ascon(p, self.held(p), inputs).build()


ENGINE = Ascon()


class _Ascon:
    """One engine being built."""

    def __init__(self, p: Shape, held: Sequence[str], inputs: Inputs) -> None:
        self.p, self.held, self.inputs = p, held, inputs
        self.words = [pyrtl.Register(p.width) for _ in range(8 * STATE_BYTES // p.width)]
        self.hashes = inputs.selected[_HASH] if _HASH in held else pyrtl.Const(0, 1)
        self.busy, self.loading = pyrtl.Register(1), pyrtl.Register(1)
        self.number = pyrtl.Register(ENGINE.take_bits(p))
        self.group = pyrtl.Register((ROUNDS // p.rounds_per_cycle - 1).bit_length())

    def build(self) -> Outputs:
        """Connect everything."""
        p, inputs = self.p, self.inputs
        working = self.busy & ~self.loading
        end = working & phase_end(working, p.stages)
        final = end & (self.group == ROUNDS // p.rounds_per_cycle - 1)
        ready = ~self.busy | final
        self.busy.next <<= inputs.run | (self.busy & ~final)
        take = self._load(ready)
        # Fewer rounds are the last of twelve, and so begin at a later group.
        starts = {n: (ROUNDS - _ROUNDS[n]) // p.rounds_per_cycle for n in self.held}
        first = {s: pyrtl.Const(s, len(self.group)) for s in starts.values()}
        start = chosen({n: first[s] for n, s in starts.items()}, inputs.selected)
        group = pyrtl.select(end, incremented(self.group), self.group)
        self.group.next <<= pyrtl.select(working & ~final, group, start)
        self._state_next(end)
        return Outputs(take, self.busy, ready, item(self.words, inputs.select))

    def _load(self, ready: Wire) -> Wire:
        """Count the words pulled, and return `take`."""
        loaded = []
        for size in (STATE_BYTES, HASH_RATE_BYTES):
            names = [n for n in self.held if ENGINE.algorithms[n].block_bytes == size]
            if names:
                on = any_of(*(self.inputs.selected[n] for n in names))
                loaded.append(on & (self.number == 8 * size // self.p.width - 1))
        done = any_of(*loaded)
        pulls = self.inputs.run
        if _HASH in self.held:
            pulls = pulls & ~self.inputs.squeeze
        self.loading.next <<= pulls | (self.loading & ~done)
        return counted(self.number, self.loading & ~ready)

    def _state_next(self, end: Wire) -> None:
        """Shift words of a state in, add those of a message to the first, take rounds over."""
        width = self.p.width
        lanes = split(pyrtl.concat_list(self.words), 64)
        for i in range(self.p.rounds_per_cycle):
            entries = CONSTANTS[i :: self.p.rounds_per_cycle]
            lanes = _round(lanes, table_entry(entries, self.group, 8))
        new = split(pyrtl.concat_list(cut(lanes, self.p.stages, AFTER_FO4)), width)
        start = split(pyrtl.concat_list([pyrtl.Const(x, 64) for x in _HASH_START]), width)
        shifts = self.loading & ~self.hashes
        for i, register in enumerate(self.words):
            kept: Wire = register
            if _HASH in self.held:
                if i < 64 // width:
                    adds = self.loading & self.hashes & (self.number == i)
                    kept = kept ^ (self.inputs.word & adds.sign_extended(width))
                kept = pyrtl.select(self.inputs.init & self.hashes, start[i], kept)
            if any(name != _HASH for name in self.held):
                following = [*self.words[1:], self.inputs.word][i]
                kept = pyrtl.select(shifts, following, kept)
            register.next <<= pyrtl.select(end, new[i], kept)


def _round(words: Sequence[Wire], constant: Wire) -> list[Wire]:
    """Return the five words after a round (SP 800-232 sections 3.2 to 3.4)."""
    x0, x1, x2, x3, x4 = words
    x2 = x2 ^ constant.zero_extended(64)
    s = [x0 ^ x4, x1, x2 ^ x1, x3, x4 ^ x3]
    t = [s[i] ^ (~s[(i + 1) % 5] & s[(i + 2) % 5]) for i in range(5)]
    u = [t[0] ^ t[4], t[1] ^ t[0], ~t[2], t[3] ^ t[2], t[4]]
    return [x ^ rotr(x, a) ^ rotr(x, b) for x, (a, b) in zip(u, ROTATIONS, strict=True)]

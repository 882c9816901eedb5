"""SM4: encryption and decryption of blocks, round keys on the fly."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

import pyrtl

from hw.coprocessors.engines.engine import (
    Algorithm,
    Engine,
    Inputs,
    Operation,
    Outputs,
    Shape,
    State,
)
from hw.coprocessors.engines.phase import counted, phase_end
from hw.coprocessors.engines.stages import cut
from hw.coprocessors.engines.wiring import (
    Wire,
    byte_swapped,
    incremented,
    item,
    rotl,
    split,
    table_entry,
)
from hw.units import circuit
from isa.sm4_block import CK, FK, ROUNDS, decrypt_block, encrypt_block, expand_key

__all__ = ["ENGINE"]

AFTER_FO4 = 3.5
"""Delay of the multiplexers behind a group of rounds."""
BLOCK_BYTES = KEY_BYTES = 16
_ENCRYPT, _DECRYPT = "sm4-encrypt", "sm4-decrypt"
_ROTATIONS = (2, 10, 18, 24)
_KEY_ROTATIONS = (13, 23)
"""Left rotations of the linear maps L and L' (GB/T 32907-2016 sections 6.2 and 7.3)."""
_AHEAD = 4
"""Words of the key schedule, which stand ready for the next four rounds."""


class Sm4(Engine):
    """The four words of the key schedule are the round keys of the next four rounds.

    A KEY operation runs the schedule to where the direction selected begins: encryption four
    steps, decryption to the end, where the words are put in the opposite order; from there each
    step leads back.
    """

    name = "sm4"
    has_sbox = True
    algorithms = MappingProxyType(
        {
            name: Algorithm(
                name, BLOCK_BYTES, 16, "GB/T 32907-2016", key_bytes=KEY_BYTES, per_block=True
            )
            for name in (_ENCRYPT, _DECRYPT)
        }
    )

    def rounds(self, p: Shape) -> int:
        """Return the rounds of one group: 1, 2 and 4 divide 32."""
        return p.rounds_per_cycle

    def run_cycles(self, p: Shape, algorithm: str, operation: Operation = Operation.BLOCK) -> int:
        """Return the cycles of an operation: one for each word pulled, then the groups."""
        rounds = ROUNDS
        if operation is Operation.KEY and algorithm == _ENCRYPT:
            rounds = _AHEAD
        return 8 * BLOCK_BYTES // p.width + rounds // p.rounds_per_cycle * p.stages

    def initial(self, algorithm: str) -> State:
        """Return a key and an output of zeros."""
        return (0, 0)

    def step(
        self, algorithm: str, state: State, data: bytes, operation: Operation = Operation.BLOCK
    ) -> State:
        """Return the key and the output, as big-endian numbers."""
        key, out = state
        if operation is Operation.KEY:
            return int.from_bytes(data, "big"), out
        crypt = encrypt_block if algorithm == _ENCRYPT else decrypt_block
        result = crypt(data, expand_key(key.to_bytes(KEY_BYTES, "big")))
        return key, int.from_bytes(result, "big")

    def output(self, algorithm: str, state: State) -> bytes:
        """Return the block of the last operation."""
        return state[1].to_bytes(BLOCK_BYTES, "big")

    def build(self, p: Shape, inputs: Inputs) -> Outputs:
        """Build the engine."""
        return _Sm4(p, self.held(p), inputs).build()


ENGINE = Sm4()


class _Sm4:
    """One engine being built."""

    def __init__(self, p: Shape, held: Sequence[str], inputs: Inputs) -> None:
        self.p, self.held, self.inputs = p, held, inputs
        self.rounds = p.rounds_per_cycle
        self.sbox = circuit("sm4_sbox", p.aes_sbox).build
        self.decrypts: Wire = pyrtl.Const(int(_DECRYPT in held), 1)
        if len(held) == 2:
            self.decrypts = inputs.selected[_DECRYPT]
        self.state = [pyrtl.Register(32) for _ in range(4)]
        self.key = [pyrtl.Register(32) for _ in range(4)]
        self.kept = [pyrtl.Register(32) for _ in range(4)]
        self.busy, self.loading, self.keying = (pyrtl.Register(1) for _ in range(3))
        self.number = pyrtl.Register(ENGINE.take_bits(p))
        self.group = pyrtl.Register((ROUNDS // self.rounds - 1).bit_length())

    def build(self) -> Outputs:
        """Connect everything."""
        p, inputs = self.p, self.inputs
        working = self.busy & ~self.loading
        end = working & phase_end(working, p.stages)
        # Encryption begins with the constant of the fourth step, as far as its KEY operation came.
        ahead, whole = _AHEAD // self.rounds, ROUNDS // self.rounds
        last = pyrtl.select(self.decrypts, self.group == whole - 1, self.group == ahead - 1)
        final = end & last
        loaded = self.loading & (self.number == 8 * BLOCK_BYTES // p.width - 1)
        ready = ~self.busy | final
        self.busy.next <<= inputs.run | (self.busy & ~final)
        self.loading.next <<= inputs.run | (self.loading & ~loaded)
        self.keying.next <<= pyrtl.select(inputs.run, inputs.key, self.keying)
        take = counted(self.number, self.loading & ~loaded)
        late = ~self.keying & ~self.decrypts
        start = pyrtl.select(
            late, pyrtl.Const(ahead, len(self.group)), pyrtl.Const(0, len(self.group))
        )
        following = pyrtl.select(end, incremented(self.group), self.group)
        self.group.next <<= pyrtl.select(working, following, start)
        self._data(end, final)
        out = pyrtl.concat_list([byte_swapped(x) for x in reversed(self.state)])
        return Outputs(take, self.busy, ready, item(split(out, p.width), inputs.select))

    def _data(self, end: Wire, final: Wire) -> None:
        """Shift words in; let rounds and the key schedule run."""
        words = [byte_swapped(w) for w in split(self.inputs.word, 32)]
        state, key = list(self.state), list(self.key)
        for i in range(self.rounds):
            state.append(self._round(state[-4:], self.key[i], _ROTATIONS))
            key.append(self._round(key[-4:], self._constant(i), _KEY_ROTATIONS))
        results = cut([*state[-4:], *key[-4:]], self.p.stages, AFTER_FO4)
        loads_block, loads_key = self.loading & ~self.keying, self.loading & self.keying
        shifted = [*self.state, *words][-4:]
        for register, new, word in zip(self.state, results[:4], shifted, strict=True):
            kept = pyrtl.select(loads_block, word, register)
            register.next <<= pyrtl.select(end & ~self.keying, new, kept)
        # FK is added as the words come in: with 64 bits two of them at a time.
        count = len(words)
        added = []
        for i, word in enumerate(words):
            values = [pyrtl.Const(fk, 32) for fk in FK[i::count]]
            added.append(word ^ item(values, self.number))
        shifted = [*self.key, *added][-4:]
        for i, register in enumerate(self.key):
            turned = pyrtl.select(self.decrypts, results[7 - i], results[4 + i])
            new = pyrtl.select(self.keying & final, turned, results[4 + i])
            kept_now = pyrtl.select(end, new, pyrtl.select(loads_key, shifted[i], register))
            self.kept[i].next <<= pyrtl.select(self.keying & final, turned, self.kept[i])
            register.next <<= pyrtl.select(final & ~self.keying, self.kept[i], kept_now)

    def _round(self, words: Sequence[Wire], added: Wire, rotations: Sequence[int]) -> Wire:
        """Return the word behind four words, for rounds and key schedule alike."""
        x0, x1, x2, x3 = words
        mixed = x1 ^ x2 ^ x3 ^ added
        substituted = pyrtl.concat_list([self.sbox(b) for b in split(mixed, 8)])
        result = x0 ^ substituted
        for amount in rotations:
            result = result ^ rotl(substituted, amount)
        return result

    def _constant(self, position: int) -> Wire:
        """Return CK of a step; those of decryption run backwards."""
        if _DECRYPT not in self.held:
            return table_entry(CK[position :: self.rounds], self.group, 32)
        back = self.decrypts & ~self.keying
        number = self.group ^ back.sign_extended(len(self.group))
        forward = table_entry(CK[position :: self.rounds], number, 32)
        if self.rounds == 1:
            return forward
        backward = table_entry(CK[self.rounds - 1 - position :: self.rounds], number, 32)
        return pyrtl.select(back, backward, forward)

"""AES: AES-128 in both directions, Haraka-256 and Haraka-512 around the same rounds."""

from __future__ import annotations

from types import MappingProxyType

from hw.coprocessors.engines.aes_datapath import BLOCKS, DECRYPT, ENCRYPT, ROUNDS, build_aes
from hw.coprocessors.engines.engine import (
    Algorithm,
    Engine,
    Inputs,
    Operation,
    Outputs,
    Shape,
    State,
)
from isa import haraka
from isa.aes_block import decrypt_block, encrypt_block, expand_key, inverse_keys

__all__ = ["ENGINE"]

KEY_BYTES = BLOCK_BYTES = 16
_FIPS, _TOSC = "FIPS 197 (2001)", "Haraka v2, ToSC 2016(2)"


class Aes(Engine):
    """A block is pulled and, in AES, added to the first round key; then its rounds run.

    Round keys are computed on the fly, a group ahead of the rounds. A KEY operation keeps the key
    that the direction selected begins with and makes the next: encryption begins with the key
    itself, decryption with the last round key, for which the schedule runs once. The blocks of
    Haraka take turns; at the end the message is pulled again, as far as the digest needs it, and
    added.
    """

    name = "aes"
    has_sbox = True
    algorithms = MappingProxyType(
        {
            **{
                name: Algorithm(name, BLOCK_BYTES, 16, _FIPS, key_bytes=KEY_BYTES, per_block=True)
                for name in (ENCRYPT, DECRYPT)
            },
            **{
                name: Algorithm(name, BLOCK_BYTES * blocks, 32, _TOSC, per_block=True)
                for name, blocks in BLOCKS.items()
            },
        }
    )

    def rounds(self, p: Shape) -> int:
        """Return the rounds of one group: 1 or 2, since 4 does not divide 10."""
        return min(p.rounds_per_cycle, 2)

    def run_cycles(self, p: Shape, algorithm: str, operation: Operation = Operation.BLOCK) -> int:
        """Return the cycles of an operation: words pulled, groups, words pulled again."""
        rounds = ROUNDS // self.rounds(p) * p.stages
        if operation is Operation.KEY:
            schedule = rounds if algorithm == DECRYPT else 0
            return 8 * KEY_BYTES // p.width + schedule + p.stages
        pulled = 8 * self.algorithms[algorithm].block_bytes // p.width
        if algorithm in BLOCKS:
            return pulled + rounds * BLOCKS[algorithm] + 256 // p.width
        return pulled + rounds

    def initial(self, algorithm: str) -> State:
        """Return a key and an output of zeros."""
        return (0, 0)

    def step(
        self, algorithm: str, state: State, data: bytes, operation: Operation = Operation.BLOCK
    ) -> State:
        """Return the key and the output, as little-endian numbers, after an operation."""
        key, out = state
        if operation is Operation.KEY:
            return int.from_bytes(data, "little"), out
        if algorithm in BLOCKS:
            result = haraka.digest(data)
        else:
            keys = expand_key(key.to_bytes(KEY_BYTES, "little"))
            if algorithm == ENCRYPT:
                result = encrypt_block(data, keys)
            else:
                result = decrypt_block(data, inverse_keys(keys))
        return key, int.from_bytes(result, "little")

    def output(self, algorithm: str, state: State) -> bytes:
        """Return the block or the digest of the last operation."""
        return state[1].to_bytes(self.algorithms[algorithm].output_bytes, "little")

    def build(self, p: Shape, inputs: Inputs) -> Outputs:
        """Build the engine."""
        return build_aes(p, self.held(p), self.rounds(p), inputs, self.take_bits(p))


ENGINE = Aes()

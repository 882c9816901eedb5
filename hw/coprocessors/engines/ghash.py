"""GHASH: a digit-serial multiplier in GF(2^128).

A block is held as a polynomial: bit i of the register is the coefficient of x^i, which is bit
7 - i of the first byte for the first eight, so that pulled bytes turn their bits around.
"""

from __future__ import annotations

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
from hw.coprocessors.engines.wiring import Wire, incremented, item, split
from isa.ghash import multiply

__all__ = ["ENGINE"]

AFTER_FO4 = 2.0
"""Delay of the multiplexer behind a group of rounds."""
BLOCK_BYTES = 16
DIGIT_BITS = 8
"""Coefficients of a factor that a round multiplies by."""
ROUNDS = 8 * BLOCK_BYTES // DIGIT_BITS
_TAPS = (0, 1, 2, 7)
"""x^128 = x^7 + x^2 + x + 1 (NIST SP 800-38D section 6.3)."""


class Ghash(Engine):
    """A block is added to the hash, and the sum multiplied by H, highest coefficients first."""

    name = "ghash"
    algorithms = MappingProxyType(
        {
            "ghash": Algorithm(
                "ghash", BLOCK_BYTES, BLOCK_BYTES, "NIST SP 800-38D (2007)", key_bytes=BLOCK_BYTES
            )
        }
    )

    def rounds(self, p: Shape) -> int:
        """Return the digits of one group: 1, 2 and 4 divide 16."""
        return p.rounds_per_cycle

    def run_cycles(self, p: Shape, algorithm: str, operation: Operation = Operation.BLOCK) -> int:
        """Return the cycles of an operation: one for each word pulled, then the groups."""
        pulled = 8 * BLOCK_BYTES // p.width
        if operation is Operation.KEY:
            return pulled
        return pulled + ROUNDS // p.rounds_per_cycle * p.stages

    def initial(self, algorithm: str) -> State:
        """Return an H and a hash of 0."""
        return (0, 0)

    def step(
        self, algorithm: str, state: State, data: bytes, operation: Operation = Operation.BLOCK
    ) -> State:
        """Return H and the hash, as big-endian numbers."""
        h, y = state
        block = int.from_bytes(data, "big")
        return (block, y) if operation is Operation.KEY else (h, multiply(y ^ block, h))

    def output(self, algorithm: str, state: State) -> bytes:
        """Return the hash."""
        return state[1].to_bytes(BLOCK_BYTES, "big")

    def build(self, p: Shape, inputs: Inputs) -> Outputs:
        """Build the engine."""
        h, factor, y = (pyrtl.Register(128) for _ in range(3))
        busy, loading, keying = (pyrtl.Register(1) for _ in range(3))
        number = pyrtl.Register(self.take_bits(p))
        group = pyrtl.Register((ROUNDS // p.rounds_per_cycle - 1).bit_length())
        working = busy & ~loading
        end = working & phase_end(working, p.stages)
        loaded = loading & (number == 8 * BLOCK_BYTES // p.width - 1)
        final = (loaded & keying) | (end & (group == ROUNDS // p.rounds_per_cycle - 1))
        ready = ~busy | final
        busy.next <<= inputs.run | (busy & ~final)
        loading.next <<= inputs.run | (loading & ~loaded)
        keying.next <<= pyrtl.select(inputs.run, inputs.key, keying)
        take = counted(number, loading & ~loaded)
        following = pyrtl.select(end, incremented(group), group)
        group.next <<= pyrtl.select(working, following, pyrtl.Const(0, len(group)))
        # The hash leaves its register while the block comes in, so it is 0 when they are added.
        word = _bits_turned(inputs.word)
        adds = loading & ~keying
        digit = DIGIT_BITS * p.rounds_per_cycle
        (product,) = cut([_step(y, factor[128 - digit :], h)], p.stages, AFTER_FO4)
        h.next <<= pyrtl.select(loading & keying, pyrtl.concat(word, h)[p.width :], h)
        added = pyrtl.concat(word ^ y[: p.width], factor)[p.width :]
        rest = pyrtl.concat(factor, pyrtl.Const(0, digit))[:128]
        factor.next <<= pyrtl.select(adds, added, pyrtl.select(end, rest, factor))
        kept = pyrtl.select(adds, y[p.width :].zero_extended(128), y)
        kept = kept & (~inputs.init).sign_extended(128)
        y.next <<= pyrtl.select(end, product, kept)
        out = item(split(_bits_turned(y), p.width), inputs.select)
        return Outputs(take, busy, ready, out)


ENGINE = Ghash()


def _bits_turned(word: Wire) -> Wire:
    """Return a word with the bits of each byte in the opposite order."""
    return pyrtl.concat_list([byte[i] for byte in split(word, 8) for i in reversed(range(8))])


def _step(sum_before: Wire, digit: Wire, h: Wire) -> Wire:
    """Return the sum times x^n plus h times the n coefficients of a digit, reduced."""
    n = len(digit)
    rows: list[Wire] = [pyrtl.concat(sum_before, pyrtl.Const(0, n))]
    for i in range(n):
        row = (h & digit[i].sign_extended(128)).zero_extended(128 + n - i)
        rows.append(pyrtl.concat(row, pyrtl.Const(0, i)) if i else row)
    while len(rows) > 1:
        pairs = [a ^ b for a, b in zip(rows[::2], rows[1::2], strict=False)]
        rows = pairs + (rows[-1:] if len(rows) % 2 else [])
    reduced = rows[0][:128]
    high = rows[0][128:]
    for tap in _TAPS:
        shifted = pyrtl.concat(high, pyrtl.Const(0, tap)) if tap else high
        reduced = reduced ^ shifted.zero_extended(128)
    return reduced

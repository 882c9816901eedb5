"""AES round: a round of the cipher and a step of the key schedule as wires.

A block is 128 bits, its first byte lowest, which is the order of bytes in FIPS 197 section 3.4.
"""

from __future__ import annotations

import pyrtl

from hw.coprocessors.engines.wiring import Wire, split
from hw.units import Member, circuit

__all__ = ["Round", "Substitution", "key_step"]


class Substitution:
    """S-boxes of one circuit for one or both directions.

    Where the circuit can share an inversion between both (`hw.units.Member`), it does; else each
    direction has its own S-box and the result is selected.
    """

    def __init__(self, name: str, *, forward: bool, inverse: Wire | None) -> None:
        """Take a circuit.

        Args:
            name: Of the circuit of the AES S-box; the inverse S-box has the same.
            forward: Whether SubBytes is needed.
            inverse: Whether InvSubBytes is wanted, 1 bit; None where it is never.
        """
        self.inverse = inverse
        self.forward = forward
        self._forward = circuit("aes_sbox", name).build
        self._inverse = circuit("aes_inv_sbox", name).build

    def byte(self, x: Wire) -> Wire:
        """Return the S-box of a byte, in the direction wanted."""
        if self.inverse is None:
            return self._forward(x)
        if not self.forward:
            return self._inverse(x)
        if isinstance(self._forward, Member):
            joint = self._forward.of(("aes_inv_sbox", "aes_sbox"))
            return joint(pyrtl.concat(~self.inverse, x))
        return pyrtl.select(self.inverse, self._inverse(x), self._forward(x))

    def forward_byte(self, x: Wire) -> Wire:
        """Return SubBytes of a byte, as the key schedule needs it whatever the direction."""
        return self._forward(x)


class Round:
    """Rounds of one direction or both (FIPS 197 sections 5.1 and 5.3)."""

    def __init__(self, boxes: Substitution) -> None:
        self.boxes = boxes

    def __call__(self, block: Wire, key: Wire, last: Wire | None) -> Wire:
        """Return a block after a round.

        Args:
            block: The block.
            key: Round key.
            last: Whether the round leaves out (Inv)MixColumns, 1 bit; None where it never does.
        """
        inverse = self.boxes.inverse
        substituted = pyrtl.concat_list([self.boxes.byte(b) for b in split(block, 8)])
        if inverse is None:
            shifted = _shifted(substituted, 1)
            mixed = _mixed(shifted)
            return (mixed if last is None else pyrtl.select(last, shifted, mixed)) ^ key
        assert last is not None
        if not self.boxes.forward:
            keyed = _shifted(substituted, -1) ^ key
            return pyrtl.select(last, keyed, _mixed(_premixed(keyed)))
        shifted = pyrtl.select(inverse, _shifted(substituted, -1), _shifted(substituted, 1))
        keyed = shifted ^ key
        mixed = _mixed(pyrtl.select(inverse, _premixed(keyed), shifted))
        added = mixed ^ (key & (~inverse).sign_extended(128))
        return pyrtl.select(last, keyed, added)


def _shifted(block: Wire, direction: int) -> Wire:
    """Return ShiftRows of a block (direction 1), or InvShiftRows (-1)."""
    parts = split(block, 8)
    return pyrtl.concat_list([parts[(i + direction * 4 * (i % 4)) % 16] for i in range(16)])


def _twice(byte: Wire) -> Wire:
    """Return a byte times x in GF(2^8)."""
    top = byte[7]
    zero = pyrtl.Const(0, 1)
    reduction = pyrtl.concat_list([top, top, zero, top, top, zero, zero, zero])
    return pyrtl.concat(byte[:7], zero) ^ reduction


def _mixed(block: Wire) -> Wire:
    """Return MixColumns of a block."""
    result = []
    for column in split(block, 32):
        b = split(column, 8)
        pairs = [b[i] ^ b[(i + 1) % 4] for i in range(4)]
        result += [_twice(pairs[i]) ^ (b[(i + 1) % 4] ^ pairs[(i + 2) % 4]) for i in range(4)]
    return pyrtl.concat_list(result)


def _premixed(block: Wire) -> Wire:
    """Return what MixColumns makes InvMixColumns of: the columns times 4 x^2 + 5."""
    result = []
    for column in split(block, 32):
        b = split(column, 8)
        even, odd = _twice(_twice(b[0] ^ b[2])), _twice(_twice(b[1] ^ b[3]))
        result += [b[0] ^ even, b[1] ^ odd, b[2] ^ even, b[3] ^ odd]
    return pyrtl.concat_list(result)


def key_step(key: Wire, constant: Wire, boxes: Substitution, backward: Wire | None) -> Wire:
    """Return the round key behind one, or before it (FIPS 197 section 5.2).

    Args:
        key: Round key.
        constant: Round constant of the step, 8 bits.
        boxes: S-boxes.
        backward: Whether the key before it is wanted; None where it never is.
    """
    w = split(key, 32)
    earlier = [w[i] ^ w[i - 1] for i in range(1, 4)]  # words 1 to 3 of the key before
    last = w[3] if backward is None else pyrtl.select(backward, earlier[2], w[3])
    b = split(last, 8)
    turned = [boxes.forward_byte(x) for x in (b[1], b[2], b[3], b[0])]
    first = w[0] ^ pyrtl.concat_list([turned[0] ^ constant, *turned[1:]])
    second = w[1] ^ first
    third = w[2] ^ second
    later = [second, third, w[3] ^ third]
    if backward is not None:
        later = [
            pyrtl.select(backward, one, other) for one, other in zip(earlier, later, strict=True)
        ]
    return pyrtl.concat_list([first, *later])

"""Inversion: S-boxes that are an inversion in GF(2^8) between two affine maps, and their fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from hw.linear import Matrix, invert
from isa import aes, sm4
from isa.gf import multiply

__all__ = ["BOXES", "IDENTITY", "InversionBox", "add_constant", "isomorphisms", "xor"]

IDENTITY: Matrix = tuple(1 << i for i in range(8))


@dataclass(frozen=True)
class InversionBox:
    """The S-box x -> after (1 / (before (x + constant_in))) + constant_out, 1 / 0 being 0.

    Bit i of a byte is the coefficient of x^i modulo `polynomial`; matrices have row i for bit i.
    """

    polynomial: int
    constant_in: int = 0
    before: Matrix = IDENTITY
    after: Matrix = IDENTITY
    constant_out: int = 0


def _rotations(row: int) -> Matrix:
    """Return the circulant matrix whose row i is `row` rotated left by i."""
    return tuple((row << i | row >> (8 - i)) & 0xFF for i in range(8))


_AES = _rotations(0xF1)
_SM4 = _rotations(0xA7)

BOXES: dict[str, InversionBox] = {
    # FIPS 197 sections 5.1.1 and 5.3.2.
    "aes_sbox": InversionBox(aes.POLYNOMIAL, after=_AES, constant_out=0x63),
    "aes_inv_sbox": InversionBox(aes.POLYNOMIAL, constant_in=0x63, before=invert(_AES)),
    # GB/T 32907-2016 section 6.2: A (1 / (A x + c)) + c, and A x + c = A (x + A^-1 c).
    "sm4_sbox": InversionBox(
        sm4.POLYNOMIAL,
        constant_in=sum(((row & 0xD3).bit_count() & 1) << i for i, row in enumerate(invert(_SM4))),
        before=_SM4,
        after=_SM4,
        constant_out=0xD3,
    ),
}
"""By the name of the table that the S-box is."""


def xor(a: Any, b: Any) -> Any:
    """Return a ^ b; the operation of every network."""
    return a ^ b


def add_constant(word: Sequence[Any], constant: int) -> list[Any]:
    """Return the one-bit wires of `word` with those complemented that `constant` has a 1 for."""
    return [~bit if constant >> i & 1 else bit for i, bit in enumerate(word)]


@cache
def isomorphisms(source: int, target: int) -> tuple[Matrix, ...]:
    """Return the 8 maps of the field modulo `source` onto the field modulo `target`.

    Each sends x to a root, in the second field, of the polynomial of the first.
    """
    found = []
    for root in range(2, 256):
        powers = [1]
        for _ in range(8):
            powers.append(multiply(powers[-1], root, target))
        total = 0
        for i, power in enumerate(powers):
            total ^= power if source >> i & 1 else 0
        if total == 0:
            found.append(
                tuple(
                    sum((power >> i & 1) << j for j, power in enumerate(powers[:8]))
                    for i in range(8)
                )
            )
    return tuple(found)

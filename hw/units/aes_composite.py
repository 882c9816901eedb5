"""AES S-boxes by inversion in a tower of fields, after D. Canright (CHES 2005)."""

from __future__ import annotations

from functools import cache
from typing import Any

import pyrtl

from hw.linear import Matrix, apply_network, compose, invert, xor_network
from hw.tower import Tower, towers
from hw.units import register
from isa.aes import POLYNOMIAL

SOURCE = "tower of normal bases, Canright, CHES 2005; basis changes searched here"

AFFINE: Matrix = tuple(sum(1 << (i + k) % 8 for k in (0, 4, 5, 6, 7)) for i in range(8))
"""Affine map of the S-box, row i for bit i (FIPS 197 section 5.1.1)."""

CONSTANT = 0x63


def _layers(tower: Tower, inverse: bool) -> tuple[Any, Any]:
    """Return the XOR networks before and after the inversion in `tower`."""
    into, out = tower.to_tower(), tower.from_tower()
    if inverse:
        return xor_network(compose(into, invert(AFFINE)), 8), xor_network(out, 8)
    return xor_network(into, 8), xor_network(compose(AFFINE, out), 8)


@cache
def _best(inverse: bool) -> tuple[Tower, Any, Any]:
    """Return the tower whose two basis changes take the fewest XORs, and these."""
    candidates = [(tower, *_layers(tower, inverse)) for tower in towers(POLYNOMIAL)]
    return min(candidates, key=lambda c: len(c[1][0]) + len(c[2][0]))


def _xor(a: Any, b: Any) -> Any:
    return a ^ b


def _add_constant(word: list[Any]) -> list[Any]:
    return [~bit if CONSTANT >> i & 1 else bit for i, bit in enumerate(word)]


@register(table="aes_sbox", name="composite", source=SOURCE)
def forward(x: pyrtl.WireVector) -> pyrtl.WireVector:
    """Return the S-box of an 8-bit value: inversion, then the affine map."""
    tower, into, out = _best(False)
    inverted = tower.inverse(apply_network(into, list(x), _xor, 0))
    return pyrtl.concat_list(_add_constant(apply_network(out, inverted, _xor, 0)))


@register(table="aes_inv_sbox", name="composite", source=SOURCE)
def inverse(x: pyrtl.WireVector) -> pyrtl.WireVector:
    """Return the inverse S-box of an 8-bit value: the affine map back, then inversion."""
    tower, into, out = _best(True)
    word = apply_network(into, _add_constant(list(x)), _xor, 0)
    return pyrtl.concat_list(apply_network(out, tower.inverse(word), _xor, 0))

"""S-boxes with few levels of logic, between the table and the small circuits.

The inversion of `hw.tower` laid flat: one layer of XORs forms every sum that is multiplied, a
second adds up the norm in GF(2^4), nine Boolean functions of the norm's four bits stand side by
side for its inverse and the sums of it, and a last layer adds up 18 products. Each layer is found
under a bound on its depth. The aim, not the circuit, of J. Boyar and R. Peralta, "A small depth-16
circuit for the AES S-box", SEC 2012.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pyrtl

from hw.inversion import BOXES, InversionBox, add_constant, xor
from hw.linear import Matrix, Network, apply_network, compose, xor_network
from hw.rom import read_table
from hw.tower import Tower, towers
from hw.units import Build, register
from isa.table import Table

SOURCE = "tower of normal bases (Canright, CHES 2005), layers of bounded depth found here"

Signals = Sequence[Any]


@dataclass(frozen=True)
class _Flat:
    """An inversion laid flat between two linear maps.

    `sums` gives the 9 + 9 operands of the products and the 4 linear terms of the norm; `norm` adds
    9 products and these terms; `factors` maps the norm to the 9 operands made of its inverse;
    `totals` adds up the 18 products of these.
    """

    sums: Network
    norm: Network
    factors: Table
    totals: Network

    @property
    def xors(self) -> int:
        """Number of XORs in the three layers."""
        return sum(len(network[0]) for network in (self.sums, self.norm, self.totals))

    def build(self, x: Signals) -> list[Any]:
        """Return the outputs for 8 one-bit wires."""
        found = apply_network(self.sums, x, xor, pyrtl.Const(0, 1))
        first, second, linear = found[:9], found[9:18], found[18:]
        norm = apply_network(self.norm, [*_and(first, second), *linear], xor, pyrtl.Const(0, 1))
        factors = list(read_table(self.factors, pyrtl.concat_list(norm)))
        products = [*_and(factors, second), *_and(factors, first)]
        return apply_network(self.totals, products, xor, pyrtl.Const(0, 1))


def _and(a: Signals, b: Signals) -> list[Any]:
    return [x & y for x, y in zip(a, b, strict=True)]


def _shallow(matrix: Matrix, inputs: int) -> Network:
    """Return an XOR network of the least depth that `matrix` allows."""
    most = max(row.bit_count() for row in matrix)
    return xor_network(matrix, inputs, depth=(most - 1).bit_length())


def _flat(tower: Tower, before: Matrix, after: Matrix) -> _Flat:
    """Lay flat the inversion in `tower` between the linear maps `before` and `after`.

    `before` leads to tower coefficients, `after` away from them.
    """
    forms, mixing = tower.bilinear(4)
    first, second = before[:4], before[4:]
    square = tower.scaled_square(4)
    both = tuple(a ^ b for a, b in zip(first, second, strict=True))
    sums = (*compose(forms, first), *compose(forms, second), *compose(square, both))
    norm = tuple(row | 1 << (9 + i) for i, row in enumerate(mixing))
    inverses = [tower.inverse([n >> i & 1 for i in range(4)]) for n in range(16)]
    entries = [
        sum(
            ((row & sum(bit << i for i, bit in enumerate(word))).bit_count() & 1) << k
            for k, row in enumerate(forms)
        )
        for word in inverses
    ]
    halves = (*mixing, *(row << 9 for row in mixing))
    return _Flat(
        _shallow(sums, 8),
        _shallow(norm, 13),
        Table("inverse_factors", 9, tuple(entries)),
        _shallow(compose(after, halves), 18),
    )


@cache
def _best(box: InversionBox) -> _Flat:
    """Return the flat circuit that takes the fewest XORs over all towers."""
    flats = (
        _flat(tower, compose(tower.to_tower(), box.before), compose(box.after, tower.from_tower()))
        for tower in towers(box.polynomial)
    )
    return min(flats, key=lambda flat: flat.xors)


def _builder(box: InversionBox) -> Build:
    def build(x: pyrtl.WireVector) -> pyrtl.WireVector:
        word = _best(box).build(add_constant(list(x), box.constant_in))
        return pyrtl.concat_list(add_constant(word, box.constant_out))

    return build


for _name, _box in BOXES.items():
    register(table=_name, name="low_depth", source=SOURCE)(_builder(_box))

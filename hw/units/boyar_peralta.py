"""S-boxes with few gates: the circuit of Boyar and Peralta around one shared inversion.

The core of `isa.aes_circuit` inverts in the field of AES whatever the linear layers around it are,
so the inverse S-box, and after a change of field the S-box of SM4, is the same core between other
layers, which are computed here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import pyrtl

from hw.inversion import BOXES, InversionBox, add_constant, isomorphisms, xor
from hw.linear import Matrix, Network, apply_network, compose, invert, xor_network
from hw.units import Build, register
from isa.aes import POLYNOMIAL
from isa.aes_circuit import Signals, input_sums, output_sums, products

SOURCE = "Boyar and Peralta, SEA 2010"


def _masks(layer: Callable[[Sequence[Any]], Signals], inputs: int) -> Matrix:
    """Return the matrix of a linear layer, by running it on one-hot linear forms."""
    return tuple(layer([1 << i for i in range(inputs)]))


def reversed_bits(matrix: Matrix) -> Matrix:
    """Return an 8 x 8 matrix with rows and columns in the opposite order."""
    return tuple(int(f"{row:08b}"[::-1], 2) for row in reversed(matrix))


@register(table="aes_sbox", name="boyar_peralta", source=SOURCE)
def forward(x: pyrtl.WireVector) -> pyrtl.WireVector:
    """Return the S-box of an 8-bit value, the circuit as published."""
    total = output_sums(products(input_sums([x[7 - i] for i in range(8)])))
    return pyrtl.concat_list(add_constant(total[::-1], 0x63))


@cache
def _layers(box: InversionBox) -> tuple[Network, Network]:
    """Return the XOR networks before and after the core that make it `box`.

    The core gives total(products(sums(u))) = A / u, A being the matrix of AES's affine map, its
    bits most significant first. With a map F of the box's field onto that of AES, the box is
    after F^-1 A^-1 total(products(sums(F before u))); of the 8 maps that with fewest XORs is taken.
    """
    back = invert(BOXES["aes_sbox"].after)
    candidates = []
    for change in isomorphisms(box.polynomial, POLYNOMIAL):
        before = compose(change, box.before)
        after = compose(compose(box.after, invert(change)), back)
        candidates.append(
            (
                xor_network(compose(_masks(input_sums, 8), reversed_bits(before)), 8),
                xor_network(compose(reversed_bits(after), _masks(output_sums, 18)), 18),
            )
        )
    return min(candidates, key=lambda c: len(c[0][0]) + len(c[1][0]))


def _builder(box: InversionBox) -> Build:
    def build(x: pyrtl.WireVector) -> pyrtl.WireVector:
        before, after = _layers(box)
        shifted = add_constant(list(x), box.constant_in)[::-1]
        zero = pyrtl.Const(0, 1)
        forms = apply_network(before, shifted, xor, zero)
        total = apply_network(after, products(forms), xor, zero)
        return pyrtl.concat_list(add_constant(total[::-1], box.constant_out))

    return build


for _name in ("aes_inv_sbox", "sm4_sbox"):
    register(table=_name, name="boyar_peralta", source=SOURCE)(_builder(BOXES[_name]))

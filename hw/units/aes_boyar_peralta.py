"""AES S-boxes with few gates: the circuit of Boyar and Peralta around one shared inversion.

The core of `isa.aes_circuit` inverts in GF(2^8) whatever the linear layers around it are, so the
inverse S-box is the same core between other layers, which are computed here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import pyrtl

from hw.linear import Matrix, apply_network, compose, invert, xor_network
from hw.units import register
from hw.units.aes_composite import AFFINE
from isa.aes_circuit import Signals, input_sums, output_sums, products

SOURCE = "Boyar and Peralta, SEA 2010"


def _masks(layer: Callable[[Sequence[Any]], Signals], inputs: int) -> Matrix:
    """Return the matrix of a linear layer, by running it on one-hot linear forms."""
    return tuple(layer([1 << i for i in range(inputs)]))


def _reversed_bits(matrix: Matrix) -> Matrix:
    """Return an 8 x 8 matrix with rows and columns in the opposite order."""
    return tuple(int(f"{row:08b}"[::-1], 2) for row in reversed(matrix))


def _bits(x: pyrtl.WireVector) -> Signals:
    return [x[7 - i] for i in range(8)]


@register(table="aes_sbox", name="boyar_peralta", source=SOURCE)
def forward(x: pyrtl.WireVector) -> pyrtl.WireVector:
    """Return the S-box of an 8-bit value."""
    total = output_sums(products(input_sums(_bits(x))))
    return pyrtl.concat(*(~t if 0x63 >> (7 - i) & 1 else t for i, t in enumerate(total)))


@cache
def _inverse_layers() -> tuple[Any, Any]:
    """Return the XOR networks before and after the core that make it the inverse S-box.

    With S(u) = A inv(u) + 0x63 = total(products(sums(u))) + 0x63, the inverse is
    inv(u) = A^-1 total(products(sums(u))) at u = A^-1 (x + 0x63).
    """
    back = invert(_reversed_bits(AFFINE))
    before = compose(_masks(input_sums, 8), back)
    after = compose(back, _masks(output_sums, 18))
    return xor_network(before, 8), xor_network(after, 18)


@register(table="aes_inv_sbox", name="boyar_peralta", source=SOURCE)
def inverse(x: pyrtl.WireVector) -> pyrtl.WireVector:
    """Return the inverse S-box of an 8-bit value."""
    before, after = _inverse_layers()
    shifted = [~b if 0x63 >> (7 - i) & 1 else b for i, b in enumerate(_bits(x))]
    zero = pyrtl.Const(0, 1)
    forms = apply_network(before, shifted, lambda a, b: a ^ b, zero)
    return pyrtl.concat(*apply_network(after, products(forms), lambda a, b: a ^ b, zero))

"""Mathematics of SM4 (GB/T 32907-2016)."""

from __future__ import annotations

from functools import cache

from isa.gf import multiply
from isa.table import Table

POLYNOMIAL = 0x1F5
"""x^8 + x^7 + x^6 + x^5 + x^4 + x^2 + 1."""

_MATRIX_ROW = 0xA7
_CONSTANT = 0xD3


def _affine(x: int) -> int:
    """Circulant matrix with row 0 `_MATRIX_ROW`, then `_CONSTANT`."""
    result = 0
    for i in range(8):
        row = (_MATRIX_ROW << i | _MATRIX_ROW >> (8 - i)) & 0xFF
        result |= ((row & x).bit_count() & 1) << i
    return result ^ _CONSTANT


def _inverse(x: int) -> int:
    """x^254, the inverse of x; 0 for 0."""
    result, power = 1, x
    for _ in range(7):
        power = multiply(power, power, POLYNOMIAL)
        result = multiply(result, power, POLYNOMIAL)
    return result


INVERTED_ZERO = next(x for x in range(256) if _affine(x) == 0)
"""The input of the S-box that its inversion sees as 0."""


@cache
def sbox() -> Table:
    """S-box: the affine map, inversion, the affine map (Liu et al. 2007; GB/T 32907-2016, 6.2)."""
    return Table("sm4_sbox", 8, tuple(_affine(_inverse(_affine(x))) for x in range(256)))

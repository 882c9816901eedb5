"""Mathematics of AES shared by extensions and kernels (FIPS 197).

Bytes are polynomials over GF(2) modulo x^8 + x^4 + x^3 + x + 1, bit i the coefficient of x^i. A
column is a 32-bit word whose byte 0 (least significant) is the first byte of the column.
"""

from __future__ import annotations

from functools import cache

from isa import gf
from isa.bits import Bits, const, mux
from isa.table import Table

POLYNOMIAL = 0x11B


@cache
def multiply(a: int, b: int) -> int:
    """Product in GF(2^8) (FIPS 197 section 4.2)."""
    return gf.multiply(a, b, POLYNOMIAL)


@cache
def sbox() -> Table:
    """Forward S-box: inversion, then the affine map (FIPS 197 section 5.1.1)."""
    powers = [1]  # of the generator x + 1
    while len(powers) < 255:
        powers.append(multiply(powers[-1], 3))
    inverses = {p: powers[-i % 255] for i, p in enumerate(powers)}
    entries = []
    for x in range(256):
        inverse = inverses.get(x, 0)
        value = 0x63
        for k in range(5):
            value ^= (inverse << k | inverse >> (8 - k)) & 0xFF
        entries.append(value)
    return Table("aes_sbox", 8, tuple(entries))


@cache
def inverse_sbox() -> Table:
    """Inverse S-box (FIPS 197 section 5.3.2)."""
    entries = [0] * 256
    for x, y in enumerate(sbox().entries):
        entries[y] = x
    return Table("aes_inv_sbox", 8, tuple(entries))


MIX = (2, 1, 1, 3)
"""Column of MixColumns: byte i of the result of a column (b, 0, 0, 0) is MIX[i] * b."""

INVERSE_MIX = (14, 9, 13, 11)
"""Column of InvMixColumns, likewise."""


def times(x: Bits, factor: int) -> Bits:
    """Product in GF(2^8) of a byte and a constant."""
    total: Bits | None = None
    power = x
    while factor:
        if factor & 1:
            total = power if total is None else total ^ power
        factor >>= 1
        power = (power << 1) ^ mux(power.bit(7), const(POLYNOMIAL & 0xFF, 8), const(0, 8))
    return const(0, 8) if total is None else total

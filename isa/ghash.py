"""Mathematics of GHASH (NIST SP 800-38D): the product of two blocks.

A block is a polynomial whose bit 0, the most significant bit of its first byte, is the
coefficient of x^0; here it is the big-endian integer of its bytes.
"""

from __future__ import annotations

REDUCTION = 0xE1 << 120
"""x^128 = 1 + x + x^2 + x^7, as an integer (SP 800-38D section 6.3)."""


def multiply(x: int, y: int) -> int:
    """Product of two blocks as integers (SP 800-38D section 6.3, algorithm 1)."""
    z, v = 0, y
    for i in range(128):
        if x >> 127 - i & 1:
            z ^= v
        v = v >> 1 ^ (REDUCTION if v & 1 else 0)
    return z

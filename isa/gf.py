"""Arithmetic of binary fields: GF(2^n) as polynomials over GF(2) modulo an irreducible one."""

from __future__ import annotations


def multiply(a: int, b: int, polynomial: int) -> int:
    """Product of `a` and `b`, bit i being the coefficient of x^i.

    `polynomial` has its leading bit: 0x11B is x^8 + x^4 + x^3 + x + 1. Both operands are below it
    in degree.
    """
    top = 1 << polynomial.bit_length() - 1
    product = 0
    while b:
        if b & 1:
            product ^= a
        a <<= 1
        if a & top:
            a ^= polynomial
        b >>= 1
    return product

"""Roots of primes: the constants of SHA-2, computed as FIPS 180-4 defines them."""

from __future__ import annotations

from math import isqrt


def primes(count: int) -> tuple[int, ...]:
    """The first primes."""
    found: list[int] = []
    candidate = 2
    while len(found) < count:
        if all(candidate % p for p in found):
            found.append(candidate)
        candidate += 1
    return tuple(found)


def square_roots(count: int, bits: int) -> tuple[int, ...]:
    """First `bits` bits of the fractional parts of the square roots of the first primes."""
    return tuple(isqrt(p << 2 * bits) % (1 << bits) for p in primes(count))


def cube_roots(count: int, bits: int) -> tuple[int, ...]:
    """First `bits` bits of the fractional parts of the cube roots of the first primes."""
    return tuple(_cube_root(p << 3 * bits) % (1 << bits) for p in primes(count))


def _cube_root(x: int) -> int:
    """Largest integer whose cube is at most x."""
    root = 0
    for bit in reversed(range(x.bit_length() // 3 + 1)):
        if (root | 1 << bit) ** 3 <= x:
            root |= 1 << bit
    return root

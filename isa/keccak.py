"""Mathematics of Keccak (FIPS 202): constants and the permutation Keccak-f[1600].

Lane (x, y) stands at index x + 5 y.
"""

from __future__ import annotations

from collections.abc import Sequence

ROUNDS = 24
LANES = 25
_MASK = 2**64 - 1


def _offsets() -> tuple[int, ...]:
    """Rotation of each lane (FIPS 202 section 3.2.2)."""
    offsets = [0] * LANES
    x, y = 1, 0
    for t in range(24):
        offsets[x + 5 * y] = (t + 1) * (t + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    return tuple(offsets)


def _round_constants() -> tuple[int, ...]:
    """Constants of iota from its shift register (FIPS 202 section 3.2.5)."""
    constants, register = [], 1
    for _ in range(ROUNDS):
        constant = 0
        for j in range(7):
            constant |= (register & 1) << (1 << j) - 1
            register = register << 1 ^ (0x171 if register & 0x80 else 0)
        constants.append(constant)
    return tuple(constants)


OFFSETS = _offsets()
CONSTANTS = _round_constants()


def _rotl(x: int, n: int) -> int:
    return (x << n | x >> 64 - n) & _MASK


def permute(lanes: Sequence[int]) -> tuple[int, ...]:
    """Keccak-f[1600] on 25 lanes (FIPS 202 section 3.3)."""
    a = list(lanes)
    for constant in CONSTANTS:
        c = [a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20] for x in range(5)]
        d = [c[(x - 1) % 5] ^ _rotl(c[(x + 1) % 5], 1) for x in range(5)]
        b = [0] * LANES
        for x in range(5):
            for y in range(5):
                i = x + 5 * y
                b[y + 5 * ((2 * x + 3 * y) % 5)] = _rotl(a[i] ^ d[x], OFFSETS[i])
        for y in range(0, LANES, 5):
            for x in range(5):
                a[y + x] = b[y + x] ^ ~b[y + (x + 1) % 5] & b[y + (x + 2) % 5] & _MASK
        a[0] ^= constant
    return tuple(a)

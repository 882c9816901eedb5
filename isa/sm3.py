"""Mathematics of SM3 (GB/T 32905-2016): constants and block function."""

from __future__ import annotations

import struct
from collections.abc import Sequence

INITIAL = (
    0x7380166F,
    0x4914B2B9,
    0x172442D7,
    0xDA8A0600,
    0xA96F30BC,
    0x163138AA,
    0xE38DEE4D,
    0xB0FB0E4E,
)
"""GB/T 32905-2016 section 4.1."""
EARLY, LATE = 0x79CC4519, 0x7A879D8A
"""Constants of rounds 0 to 15 and 16 to 63, section 4.2."""


def _rotl(x: int, n: int) -> int:
    return (x << n % 32 | x >> -n % 32) & 0xFFFFFFFF


ROUND_CONSTANTS = tuple(_rotl(EARLY if j < 16 else LATE, j) for j in range(64))
"""The constants as the rounds use them, rotated by the number of the round."""


def _p0(x: int) -> int:
    return x ^ _rotl(x, 9) ^ _rotl(x, 17)


def _p1(x: int) -> int:
    return x ^ _rotl(x, 15) ^ _rotl(x, 23)


def compress(state: Sequence[int], block: bytes) -> tuple[int, ...]:
    """Return the state after one block (GB/T 32905-2016 section 5.3)."""
    w = list(struct.unpack(">16I", block))
    for j in range(16, 68):
        p = _p1(w[j - 16] ^ w[j - 9] ^ _rotl(w[j - 3], 15))
        w.append(p ^ _rotl(w[j - 13], 7) ^ w[j - 6])
    a, b, c, d, e, f, g, h = state
    for j in range(64):
        ss1 = _rotl((_rotl(a, 12) + e + ROUND_CONSTANTS[j]) & 0xFFFFFFFF, 7)
        ff = a ^ b ^ c if j < 16 else a & b | a & c | b & c
        gg = e ^ f ^ g if j < 16 else e & f | ~e & g
        tt1 = (ff + d + (ss1 ^ _rotl(a, 12)) + (w[j] ^ w[j + 4])) & 0xFFFFFFFF
        tt2 = (gg + h + ss1 + w[j]) & 0xFFFFFFFF
        a, b, c, d = tt1, a, _rotl(b, 9), c
        e, f, g, h = _p0(tt2), e, _rotl(f, 19), g
    return tuple(x ^ y for x, y in zip(state, (a, b, c, d, e, f, g, h), strict=True))

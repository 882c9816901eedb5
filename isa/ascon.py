"""Mathematics of Ascon (NIST SP 800-232): constants and the permutation on five 64-bit words."""

from __future__ import annotations

from collections.abc import Sequence

ROUNDS = 12
CONSTANTS = tuple(0xF0 - 15 * i for i in range(ROUNDS))
"""Constants of 12 rounds; fewer rounds use the last of them (SP 800-232 section 3.2)."""
ROTATIONS = ((19, 28), (61, 39), (1, 6), (10, 17), (7, 41))
"""Right rotations of the linear layer, word by word (SP 800-232 section 3.4)."""
HASH_IV = 0x0000080100CC0002
"""First word of Ascon-Hash256 (SP 800-232 section 5.1)."""
_MASK = 2**64 - 1


def _rotr(x: int, n: int) -> int:
    return (x >> n | x << 64 - n) & _MASK


def permute(state: Sequence[int], rounds: int) -> list[int]:
    """The permutation on five words (SP 800-232 section 3)."""
    s = list(state)
    for constant in CONSTANTS[ROUNDS - rounds :]:
        s[2] ^= constant
        s[0] ^= s[4]
        s[4] ^= s[3]
        s[2] ^= s[1]
        s = [s[i] ^ ~s[(i + 1) % 5] & s[(i + 2) % 5] for i in range(5)]
        s[1] ^= s[0]
        s[0] ^= s[4]
        s[3] ^= s[2]
        s[2] ^= _MASK
        s = [x ^ _rotr(x, a) ^ _rotr(x, b) for x, (a, b) in zip(s, ROTATIONS, strict=True)]
    return s

"""Mathematics of SHA-2 (FIPS 180-4): constants and block function of SHA-256 and SHA-512."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Sha2:
    """One size of SHA-2; the names are those of FIPS 180-4 section 4.1.

    Attributes:
        width: Bits of a word.
        initial: Initial hash value (sections 5.3.3 and 5.3.5).
        constants: Constant of each round (sections 4.2.2 and 4.2.3).
        big0: Right rotations of the function Sigma 0; likewise `big1`.
        small0: Two right rotations and a right shift of sigma 0; likewise `small1`.
    """

    width: int
    initial: tuple[int, ...]
    constants: tuple[int, ...]
    big0: tuple[int, int, int]
    big1: tuple[int, int, int]
    small0: tuple[int, int, int]
    small1: tuple[int, int, int]

    def compress(self, state: Sequence[int], block: bytes) -> tuple[int, ...]:
        """Return the state after one block (sections 6.2.2 and 6.4.2)."""
        size, mask = self.width // 8, (1 << self.width) - 1
        w = [int.from_bytes(block[size * i : size * i + size], "big") for i in range(16)]
        for t in range(16, len(self.constants)):
            s0, s1 = self._small(w[t - 15], self.small0), self._small(w[t - 2], self.small1)
            w.append((s1 + w[t - 7] + s0 + w[t - 16]) & mask)
        a, b, c, d, e, f, g, h = state
        for constant, word in zip(self.constants, w, strict=True):
            t1 = h + self._big(e, self.big1) + (e & f ^ ~e & g) + constant + word
            t2 = self._big(a, self.big0) + (a & b ^ a & c ^ b & c)
            a, b, c, d, e, f, g, h = (t1 + t2) & mask, a, b, c, (d + t1) & mask, e, f, g
        return tuple((x + y) & mask for x, y in zip(state, (a, b, c, d, e, f, g, h), strict=True))

    def _rotr(self, x: int, n: int) -> int:
        return (x >> n | x << self.width - n) & (1 << self.width) - 1

    def _big(self, x: int, r: tuple[int, int, int]) -> int:
        return self._rotr(x, r[0]) ^ self._rotr(x, r[1]) ^ self._rotr(x, r[2])

    def _small(self, x: int, r: tuple[int, int, int]) -> int:
        return self._rotr(x, r[0]) ^ self._rotr(x, r[1]) ^ x >> r[2]


SHA256 = Sha2(
    32,
    square_roots(8, 32),
    cube_roots(64, 32),
    (2, 13, 22),
    (6, 11, 25),
    (7, 18, 3),
    (17, 19, 10),
)
SHA512 = Sha2(
    64,
    square_roots(8, 64),
    cube_roots(80, 64),
    (28, 34, 39),
    (14, 18, 41),
    (1, 8, 7),
    (19, 61, 6),
)

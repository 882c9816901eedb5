"""Tower: GF(2^8) as GF(((2^2)^2)^2) in normal bases, where an inversion takes few gates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from hw.linear import Matrix, apply_network, invert, xor_network
from isa.gf import multiply

__all__ = ["Tower", "towers"]

Word = Sequence[Any]
"""One-bit wires (or ints 0 and 1), coefficient of the first basis element first."""


def _power(a: int, exponent: int, polynomial: int) -> int:
    result = 1
    for _ in range(exponent):
        result = multiply(result, a, polynomial)
    return result


@dataclass(frozen=True)
class Tower:
    """GF(2^8) modulo `polynomial` in the basis of products of (y, y^16), (z, z^4) and (w, w^2).

    `w` generates GF(4), `z` has trace 1 over GF(4) and `y` trace 1 over GF(16), so 1 is the sum
    of each pair. With norm n = v v^q of the pair (v, v^q), products and inverses are
        (a, b) (c, d) = (ac + e, bd + e) with e = n (a + b)(c + d)
        1 / (a, b)    = (b / f, a / f)   with f = ab + n (a + b)^2
    D. Canright, "A very compact S-box for AES", CHES 2005, where the same towers are searched.
    """

    polynomial: int
    y: int
    z: int
    w: int

    def _basis(self, bits: int) -> tuple[int, ...]:
        """Return the field elements that the coefficients of a `bits`-bit word stand for."""
        p = self.polynomial
        level: tuple[int, ...] = (1,)
        for v, conjugate in ((self.w, 2), (self.z, 4), (self.y, 16))[: bits.bit_length() - 1]:
            level = tuple(
                multiply(pair, low, p) for pair in (v, _power(v, conjugate, p)) for low in level
            )
        return level

    def to_tower(self) -> Matrix:
        """Return the matrix from polynomial coefficients (bit i of x^i) to tower coefficients."""
        return invert(self.from_tower())

    def from_tower(self) -> Matrix:
        """Return the inverse of `to_tower`."""
        basis = self._basis(8)
        return tuple(
            sum(1 << j for j, element in enumerate(basis) if element >> i & 1) for i in range(8)
        )

    def linear(self, bits: int, function: Callable[[int], int]) -> Matrix:
        """Return the matrix of a GF(2)-linear `function` on the subfield of 2^`bits` elements."""
        basis = self._basis(bits)
        coefficients = {}
        for word in range(1 << bits):
            element = 0
            for i, b in enumerate(basis):
                if word >> i & 1:
                    element ^= b
            coefficients[element] = word
        images = [coefficients[function(b)] for b in basis]
        return tuple(
            sum(1 << j for j, image in enumerate(images) if image >> i & 1) for i in range(bits)
        )

    def multiply(self, a: Word, b: Word) -> list[Any]:
        """Return the product of two words of 1, 2 or 4 bits, from & and ^ alone."""
        if len(a) == 1:
            return [a[0] & b[0]]
        half = len(a) // 2
        cross = self.multiply(_add(a[:half], a[half:]), _add(b[:half], b[half:]))
        if half > 1:
            cross = apply_network(_networks(self, half)[0], cross, _xor, 0)
        first, second = self.multiply(a[:half], b[:half]), self.multiply(a[half:], b[half:])
        return [*_add(first, cross), *_add(second, cross)]

    def bilinear(self, bits: int) -> tuple[Matrix, Matrix]:
        """Return forms F and mixing M such that a b = M (F a & F b) for words of `bits` bits.

        A word of 4 bits has 9 forms, one for each AND that `multiply` makes.
        """
        trace = _Trace([])
        product = self.multiply(
            [_Sum(trace, 1 << i) for i in range(bits)], [_Sum(trace, 1 << i) for i in range(bits)]
        )
        return tuple(trace.forms), tuple(word.mask for word in product)

    def scaled_square(self, bits: int) -> Matrix:
        """Return the matrix of x -> n x^2, the linear part of the norm, on `bits`-bit words."""
        return tuple(
            apply_network(_networks(self, bits)[1], [1 << i for i in range(bits)], _xor, 0)
        )

    def inverse(self, a: Word) -> list[Any]:
        """Return 1 / a (0 for 0) of a word of 2, 4 or 8 bits, from & and ^ alone."""
        if len(a) == 2:
            return [a[1], a[0]]
        half = len(a) // 2
        first, second = a[:half], a[half:]
        square = apply_network(_networks(self, half)[1], _add(first, second), _xor, 0)
        inverted = self.inverse(_add(self.multiply(first, second), square))
        return [*self.multiply(inverted, second), *self.multiply(inverted, first)]


@dataclass(frozen=True)
class _Trace:
    """The forms that were multiplied, in order."""

    forms: list[int]


@dataclass(frozen=True)
class _Sum:
    """A sum, as a mask: of operand bits before a product, of products after it."""

    trace: _Trace
    mask: int

    def __xor__(self, other: _Sum) -> _Sum:
        return _Sum(self.trace, self.mask ^ other.mask)

    def __and__(self, other: _Sum) -> _Sum:
        assert self.mask == other.mask  # both operands are traced with the same bits
        self.trace.forms.append(self.mask)
        return _Sum(self.trace, 1 << (len(self.trace.forms) - 1))


@cache
def _networks(tower: Tower, bits: int) -> tuple[Any, Any]:
    """Return XOR networks of x -> n x and x -> n x^2 on words of `bits` bits.

    n is the norm of the pair that the next level up is built on.
    """
    p = tower.polynomial
    v, conjugate = {2: (tower.z, 4), 4: (tower.y, 16)}[bits]
    norm = multiply(v, _power(v, conjugate, p), p)
    scale = tower.linear(bits, lambda x: multiply(norm, x, p))
    square = tower.linear(bits, lambda x: multiply(norm, multiply(x, x, p), p))
    return xor_network(scale, bits), xor_network(square, bits)


def _xor(a: Any, b: Any) -> Any:
    return a ^ b


def _add(a: Word, b: Word) -> list[Any]:
    return [x ^ y for x, y in zip(a, b, strict=True)]


@cache
def towers(polynomial: int) -> tuple[Tower, ...]:
    """Return the 16 towers of normal bases over GF(2)[x] modulo `polynomial`, up to conjugates."""

    def traces_to_one(v: int, conjugate: int) -> bool:
        return v ^ _power(v, conjugate, polynomial) == 1

    def members(order: int) -> list[int]:
        return [v for v in range(2, 256) if _power(v, order, polynomial) == v]

    w = next(v for v in members(4) if traces_to_one(v, 2))
    chosen = []
    for z in (v for v in members(16) if traces_to_one(v, 4) and v not in members(4)):
        for y in (v for v in range(2, 256) if traces_to_one(v, 16)):
            smaller = z < _power(z, 4, polynomial) and y < _power(y, 16, polynomial)
            if smaller:
                chosen.append(Tower(polynomial, y, z, w))
    return tuple(chosen)

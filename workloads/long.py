"""Long: a 64-bit value as one register of RV64 or two of RV32."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from isa.bits import Bits, const
from isa.kernel import Builder, Index, Pointer
from workloads.words import swapped


@dataclass(frozen=True, eq=False)
class Long:
    """A 64-bit value.

    Attributes:
        parts: One value of 64 bits, or the low and the high 32 bits.
    """

    parts: tuple[Bits, ...]

    @classmethod
    def of(cls, value: int, xlen: int) -> Self:
        """A constant."""
        return cls(tuple(const(value >> s, xlen) for s in range(0, 64, xlen)))

    def _other(self, other: Self | int) -> Self:
        return other if isinstance(other, Long) else self.of(other, self.parts[0].width)

    def __xor__(self, other: Self | int) -> Self:
        pairs = zip(self.parts, self._other(other).parts, strict=True)
        return type(self)(tuple(a ^ b for a, b in pairs))

    def __and__(self, other: Self | int) -> Self:
        pairs = zip(self.parts, self._other(other).parts, strict=True)
        return type(self)(tuple(a & b for a, b in pairs))

    def __or__(self, other: Self | int) -> Self:
        pairs = zip(self.parts, self._other(other).parts, strict=True)
        return type(self)(tuple(a | b for a, b in pairs))

    def __invert__(self) -> Self:
        return type(self)(tuple(~a for a in self.parts))

    def __add__(self, other: Self | int) -> Self:
        other = self._other(other)
        low = self.parts[0] + other.parts[0]
        if len(self.parts) == 1:
            return type(self)((low,))
        carry = low.ult(other.parts[0]).zext(32)
        return type(self)((low, self.parts[1] + other.parts[1] + carry))

    def rotr(self, amount: int) -> Self:
        """Rotation right by a static amount, taken modulo 64."""
        amount %= 64
        if len(self.parts) == 1:
            return type(self)((self.parts[0].rotr(amount),))
        low, high = self.parts if amount < 32 else self.parts[::-1]
        amount %= 32
        if not amount:
            return type(self)((low, high))
        return type(self)(
            (
                (low >> amount) ^ (high << 32 - amount),
                (high >> amount) ^ (low << 32 - amount),
            )
        )

    def rotl(self, amount: int) -> Self:
        """Rotation left by a static amount, taken modulo 64."""
        return self.rotr(-amount)

    def __rshift__(self, amount: int) -> Self:
        """Shift right by a static amount below 32."""
        if len(self.parts) == 1:
            return type(self)((self.parts[0] >> amount,))
        low, high = self.parts
        return type(self)(((low >> amount) ^ (high << 32 - amount), high >> amount))

    def swapped(self) -> Self:
        """The bytes in reverse order."""
        return type(self)(tuple(swapped(p) for p in reversed(self.parts)))


def load_long(k: Builder, pointer: Pointer, offset: Index | int = 0) -> Long:
    """Read 64 bits, little-endian."""
    step = k.xlen // 8
    return Long(tuple(k.load(pointer, offset + i, k.xlen) for i in range(0, 8, step)))


def store_long(k: Builder, pointer: Pointer, value: Long, offset: Index | int = 0) -> None:
    """Write 64 bits, little-endian."""
    step = k.xlen // 8
    for i, part in enumerate(value.parts):
        k.store(pointer, offset + step * i, part)


def flat(values: Sequence[Long]) -> tuple[Bits, ...]:
    """The parts of all values, as loops carry them."""
    return tuple(p for v in values for p in v.parts)


def unflat(parts: Sequence[Bits]) -> list[Long]:
    """Undo `flat`."""
    step = 64 // parts[0].width
    return [Long(tuple(parts[i : i + step])) for i in range(0, len(parts), step)]

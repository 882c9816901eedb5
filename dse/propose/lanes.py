"""Lanes: the value of a `Bits` expression on many inputs at once, as numpy arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.bits import Bits, apply, fold

Lanes = NDArray[Any]
"""One value a lane: uint64 for widths up to 64, Python ints beyond."""


def evaluate_lanes(root: Bits, arguments: Mapping[str, Lanes]) -> Lanes:
    """Values of `root`, one a lane; `arguments` are uint64 lanes by argument name."""

    def visit(n: Bits, xs: list[Lanes]) -> Lanes:
        if n.op == "arg":
            return arguments[str(n.attr)]
        if n.op == "const":
            return _constant(n)
        narrow = n.width <= 64 and all(a.width <= 64 for a in n.args)
        if narrow and n.op in _NARROW:
            return _NARROW[n.op](n, *xs)
        return _one_by_one(n, xs)

    result = fold([root], visit)[0]
    count = len(next(iter(arguments.values()))) if arguments else 1
    return np.broadcast_to(result, (count,)) if result.shape != (count,) else result


def _constant(n: Bits) -> Lanes:
    if n.width <= 64:
        return np.array([n.attr], dtype=np.uint64)
    return np.array([n.attr], dtype=object)


def _one_by_one(n: Bits, xs: list[Lanes]) -> Lanes:
    count = max(len(x) for x in xs)
    columns = [[int(v) for v in np.broadcast_to(x, (count,))] for x in xs]
    values = [apply(n.op, n.width, n.attr, n.args, v) for v in zip(*columns, strict=True)]
    return np.array(values, dtype=np.uint64 if n.width <= 64 else object)


def _mask(n: Bits) -> np.uint64:
    return np.uint64((1 << n.width) - 1)


def _word(value: int) -> np.uint64:
    return np.uint64(value)


def _amount(n: Bits) -> int:
    assert isinstance(n.attr, int)
    return n.attr


def _rotated(n: Bits, x: Lanes) -> Lanes:
    k = _amount(n)
    return (x >> _word(k) | x << _word(n.width - k)) & _mask(n)


def _joined(n: Bits, *parts: Lanes) -> Lanes:
    total = parts[0]
    for a, x in zip(n.args[1:], parts[1:], strict=True):
        total = total << _word(a.width) | x
    return total


def _looked_up(n: Bits, x: Lanes) -> Lanes:
    return np.array(n.attr.entries, dtype=np.uint64)[x.astype(np.intp)]  # type: ignore[union-attr]


_NARROW: dict[str, Callable[..., Lanes]] = {
    "and": lambda n, x, y: x & y,
    "or": lambda n, x, y: x | y,
    "xor": lambda n, x, y: x ^ y,
    "not": lambda n, x: x ^ _mask(n),
    "add": lambda n, x, y: (x + y) & _mask(n),
    "sub": lambda n, x, y: (x - y) & _mask(n),
    "mul": lambda n, x, y: (x * y) & _mask(n),
    "mul_wide": lambda n, x, y: x * y,
    "shl": lambda n, x: (x << _word(_amount(n))) & _mask(n),
    "shr": lambda n, x: x >> _word(_amount(n)),
    "rotr": _rotated,
    "shl_var": lambda n, x, k: (x << k) & _mask(n),
    "shr_var": lambda n, x, k: x >> k,
    "concat": _joined,
    "slice": lambda n, x: (x >> _word(_amount(n))) & _mask(n),
    "zext": lambda n, x: x,
    "eq": lambda n, x, y: (x == y).astype(np.uint64),
    "ult": lambda n, x, y: (x < y).astype(np.uint64),
    "mux": lambda n, c, x, y: np.choose(c != 0, [y, x]),
    "lookup": _looked_up,
}
"""Operators with a form on uint64; the others are evaluated one lane after the other."""

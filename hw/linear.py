"""Linear: matrices over GF(2), and the XOR network that computes one with few gates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TypeAlias, TypeVar

__all__ = ["Matrix", "Network", "apply_network", "compose", "invert", "xor_network"]

T = TypeVar("T")

Matrix: TypeAlias = tuple[int, ...]
"""Rows; bit j of row i is 1 if output i contains input j."""

Network: TypeAlias = tuple[tuple[tuple[int, int], ...], Matrix]
"""XORs of two earlier signals each, and the signal of each output; see `xor_network`."""


def product(row: int, matrix: Matrix) -> int:
    """Return the row vector `row` times `matrix`: the XOR of the rows it selects."""
    result = 0
    for i, other in enumerate(matrix):
        if row >> i & 1:
            result ^= other
    return result


def compose(outer: Matrix, inner: Matrix) -> Matrix:
    """Return the matrix of x -> outer(inner(x))."""
    return tuple(product(row, inner) for row in outer)


def invert(matrix: Matrix) -> Matrix:
    """Return the inverse of a square matrix, by Gauss-Jordan elimination.

    Raises:
        ValueError: when it has none.
    """
    n = len(matrix)
    rows = [row | 1 << (n + i) for i, row in enumerate(matrix)]
    for column in range(n):
        pivot = next((i for i in range(column, n) if rows[i] >> column & 1), None)
        if pivot is None:
            raise ValueError(f"matrix must have full rank {n}, not {column} or less")
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for i in range(n):
            if i != column and rows[i] >> column & 1:
                rows[i] ^= rows[column]
    return tuple(row >> n for row in rows)


def xor_network(matrix: Matrix, inputs: int, depth: int | None = None) -> Network:
    """Return two-input XORs that compute `matrix`, and which signals each output is.

    Greedy: the pair of signals that occurs in most outputs becomes a signal, ties to the pair of
    lowest numbers (C. Paar, "Optimized arithmetic for Reed-Solomon encoders", ISIT 1997). XOR k
    is signal `inputs` + k. Each returned row has at most one signal; 0 is the constant.

    With `depth`, no output is more than that many XORs deep: an output whose signals have depths
    d1, d2, ... can still be finished in time exactly while 2^d1 + 2^d2 + ... is at most 2^depth,
    so a pair is taken only for the outputs that keep to it.

    Raises:
        ValueError: when an output adds more inputs than `depth` levels can.
    """
    columns = [sum(1 << i for i, row in enumerate(matrix) if row >> j & 1) for j in range(inputs)]
    depths = [0] * inputs
    room = [0 if depth is None else (1 << depth) - row.bit_count() for row in matrix]
    if min(room, default=0) < 0:
        raise ValueError(f"depth must be enough for every output, not {depth}")
    steps: list[tuple[int, int]] = []
    while True:
        best, rows, pair = 0, 0, (0, 0)
        live = [j for j, column in enumerate(columns) if column]
        allowed: dict[int, int] = {}
        for i, j in combinations(live, 2):
            shared = columns[i] & columns[j]
            if shared.bit_count() <= best:
                continue
            if depth is not None:
                loss = _loss(depths[i], depths[j])
                if loss not in allowed:
                    fitting = (1 << k for k, space in enumerate(room) if space >= loss)
                    allowed[loss] = sum(fitting)
                shared &= allowed[loss]
            if shared.bit_count() > best:
                best, rows, pair = shared.bit_count(), shared, (i, j)
        if best == 0:
            break
        i, j = pair
        columns[i] &= ~rows
        columns[j] &= ~rows
        columns.append(rows)
        steps.append(pair)
        if depth is not None:
            room = [
                space - _loss(depths[i], depths[j]) * (rows >> k & 1)
                for k, space in enumerate(room)
            ]
        depths.append(max(depths[i], depths[j]) + 1)
    outputs = tuple(
        sum(1 << j for j, column in enumerate(columns) if column >> i & 1)
        for i in range(len(matrix))
    )
    return tuple(steps), outputs


def _loss(a: int, b: int) -> int:
    """Return what joining signals of depths `a` and `b` costs of an output's room."""
    return int(abs((1 << a) - (1 << b)))


def apply_network(
    network: Network,
    inputs: Sequence[T],
    xor: Callable[[T, T], T],
    zero: T,
) -> list[T]:
    """Return the outputs of `network` for `inputs`, which may be wires or ints."""
    steps, outputs = network
    signals = list(inputs)
    for i, j in steps:
        signals.append(xor(signals[i], signals[j]))
    return [signals[row.bit_length() - 1] if row else zero for row in outputs]

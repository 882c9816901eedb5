"""Linear: matrices over GF(2), and the XOR network that computes one with few gates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TypeVar

__all__ = ["apply_network", "compose", "invert", "xor_network"]

T = TypeVar("T")

Matrix = tuple[int, ...]
"""Rows; bit j of row i is 1 if output i contains input j."""


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


def xor_network(matrix: Matrix, inputs: int) -> tuple[tuple[tuple[int, int], ...], Matrix]:
    """Return two-input XORs that compute `matrix`, and which signals each output is.

    Greedy: the pair of signals that occurs in most outputs becomes a signal, ties to the pair of
    lowest numbers (C. Paar, "Optimized arithmetic for Reed-Solomon encoders", ISIT 1997). XOR k
    is signal `inputs` + k. Each returned row has at most one signal; 0 is the constant.
    """
    columns = [sum(1 << i for i, row in enumerate(matrix) if row >> j & 1) for j in range(inputs)]
    steps: list[tuple[int, int]] = []
    while True:
        best, pair = 0, (0, 0)
        live = [j for j, column in enumerate(columns) if column]
        for i, j in combinations(live, 2):
            shared = (columns[i] & columns[j]).bit_count()
            if shared > best:
                best, pair = shared, (i, j)
        if best == 0:
            break
        both = columns[pair[0]] & columns[pair[1]]
        columns[pair[0]] &= ~both
        columns[pair[1]] &= ~both
        columns.append(both)
        steps.append(pair)
    outputs = tuple(
        sum(1 << j for j, column in enumerate(columns) if column >> i & 1)
        for i in range(len(matrix))
    )
    return tuple(steps), outputs


def apply_network(
    network: tuple[tuple[tuple[int, int], ...], Matrix],
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

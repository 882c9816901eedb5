"""Fits values by a sum of terms: some always there, others joining while that pays."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

import numpy as np

from dse.learn.structure import Floats

Term = TypeVar("Term", bound=Hashable)
_MOST_JOINING = 40
_SHRINKAGE = 1e-3  # of the values' variance, for each term: what few values tell stays small
_COST = 3.0  # values that a term must be worth to join: it is the best of many
_PATIENCE = 4  # terms that may join without a gain
_GAIN = 0.995


def fit(
    always: Mapping[Term, Floats], joining: Mapping[Term, Floats], values: Floats
) -> dict[Term, float]:
    """Coefficients of terms, so that their sum comes near the values in relative error.

    Terms of `joining` are added one after another, that of the largest gain first; their number is
    that of the least error to be expected of values not seen (generalised cross-validation).

    Args:
        always: Terms and what they are at each value; the first may be of any size, the others are
            held small.
        joining: Terms that may be added.
        values: Those near 0 weigh no more than a twentieth of the largest.
    """
    size = np.maximum(np.abs(values), max(0.05 * float(np.abs(values).max(initial=0)), 1e-12))
    target = values / size
    columns = {term: column / size for term, column in always.items()}
    scale = {term: float(np.abs(c).max()) or 1.0 for term, c in columns.items()}
    names = [term for term in columns if columns[term].any()]
    pool = [term for term in joining if joining[term].any()]
    scale |= {term: float(np.abs(joining[term] / size).max()) for term in pool}
    matrix = np.column_stack([columns[term] / scale[term] for term in names])
    rest = np.column_stack(
        [joining[term] / size / scale[term] for term in pool] or [np.zeros(len(values))]
    )
    joined: list[int] = []
    least, count, patience = float("inf"), 0, _PATIENCE
    best: Floats = np.zeros(0)
    while True:
        solved = _solve(matrix, target)
        residual = target - matrix @ solved
        freedom = float(np.trace(_solve(matrix, matrix))) + (_COST - 1) * len(joined)
        left = 1 - freedom / len(values)
        error = float(np.sqrt((residual**2).mean())) / max(left, 1e-3)
        patience -= 1
        if error < _GAIN * least:
            least, count, patience = error, len(joined), _PATIENCE
            best = solved
        if not patience or len(joined) == min(_MOST_JOINING, len(pool)) or left < 0.2:
            break
        # what each would take off the residual beside the terms there are
        apart = rest - matrix @ _solve(matrix, rest)
        norms = (apart * rest).sum(axis=0)
        gains = (rest.T @ residual) ** 2 / np.maximum(norms, 1e-9)
        gains[norms < 1e-6 * (rest**2).sum(axis=0)] = 0.0
        gains[joined] = -1.0
        index = int(np.argmax(np.round(gains, 12)))  # the last bits must decide nothing
        joined.append(index)
        matrix = np.hstack([matrix, rest[:, [index]]])
    terms = [*names, *(pool[index] for index in joined[:count])]
    return {term: float(value) / scale[term] for term, value in zip(terms, best, strict=True)}


def _solve(matrix: Floats, target: Floats) -> Floats:
    penalty = _SHRINKAGE * np.eye(matrix.shape[1])
    penalty[0, 0] = 0.0
    found = np.linalg.solve(matrix.T @ matrix + penalty, matrix.T @ target)
    return np.asarray(found, dtype=np.float64)

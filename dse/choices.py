"""`Choices`: the choices of a parameter as an Optuna distribution, quick to compare and to copy."""

from __future__ import annotations

from optuna.distributions import CategoricalDistribution


class Choices(CategoricalDistribution):
    """A categorical distribution that is never changed.

    Optuna compares the distribution of every parameter of every trial, and copies those of a trial
    it is told the result of, both choice by choice.
    """

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Choices) and self.choices is other.choices:
            return True
        return bool(super().__eq__(other))

    __hash__ = CategoricalDistribution.__hash__

    def __deepcopy__(self, memo: object) -> Choices:
        return self

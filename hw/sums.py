"""Sums: additions that feed each other alone, which a synthesiser adds up in carry-save form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyrtl

__all__ = ["Sum", "Sums", "Term"]


@dataclass(frozen=True)
class Term:
    """One summand: a wire, or the product of two; `negative` if it is taken away."""

    wires: tuple[Any, ...]
    negative: bool


@dataclass(frozen=True)
class Sum:
    """The sum of all terms modulo 2^`width`, each zero-extended to it."""

    terms: tuple[Term, ...]
    width: int


class Sums:
    """The additions of a block, seen as sums of as many terms as can be added in one go.

    The operand of an addition is replaced by its own operands when it is itself a sum, difference
    or product that nothing else reads and that loses no bit this addition needs: (a + b) + c
    modulo 2^n is one sum of three. What yosys calls `alumacc` does the same.
    """

    def __init__(self, nets: Iterable[Any]) -> None:
        """Look at the nets of a whole block."""
        self._readers: dict[Any, list[Any]] = {}
        self._driver: dict[Any, Any] = {}
        for net in nets:
            for wire in dict.fromkeys(net.args):
                self._readers.setdefault(wire, []).append(net)
            for wire in net.dests:
                self._driver[wire] = net

    def of(self, net: Any) -> Sum | None:
        """Return the sum that a "+" or "-" net ends, or None if it has two plain operands."""
        if net.op not in "+-":
            return None
        width = self._needed(net.dests[0])
        terms = self._operands(net, width, negative=False)
        if len(terms) == 2 and all(len(t.wires) == 1 for t in terms):
            return None
        return Sum(tuple(terms), width)

    def _needed(self, wire: Any) -> int:
        """Return how many of the low bits of `wire` anything reads."""
        most = 0
        for net in self._readers.get(wire, ()):
            if net.op == "s":
                most = max(most, max(net.op_param) + 1)
            elif net.op == "w" and not isinstance(net.dests[0], pyrtl.Output):
                most = max(most, self._needed(net.dests[0]))
            else:
                return len(wire)
        return most or len(wire)

    def _operands(self, net: Any, width: int, *, negative: bool) -> list[Term]:
        first, second = net.args
        if first is second:
            return [Term((first,), negative), Term((second,), negative != (net.op == "-"))]
        return [
            *self._terms(first, width, negative=negative),
            *self._terms(second, width, negative=negative != (net.op == "-")),
        ]

    def _terms(self, wire: Any, width: int, *, negative: bool) -> list[Term]:
        """Return the terms that `wire` is the sum of, as far as the low `width` bits go."""
        inner = wire
        while len(self._readers.get(inner, ())) == 1:
            net = self._driver.get(inner)
            if net is None:
                break
            if net.op == "w" or (net.op == "c" and _extends(net)):
                inner = net.args[-1]
            elif net.op == "s" and _is_low(net) and width <= len(inner):
                inner = net.args[0]
            elif net.op == "+" or (net.op == "-" and width <= len(inner)):
                return self._operands(net, width, negative=negative)
            elif net.op == "*" and not negative:
                return [Term(tuple(net.args), negative)]
            else:
                break
        return [Term((wire,), negative)]


def _is_low(net: Any) -> bool:
    return bool(net.op_param == tuple(range(len(net.op_param))))


def _extends(net: Any) -> bool:
    """Whether a concatenation puts nothing but zeros above its last part."""
    return all(isinstance(a, pyrtl.Const) and a.val == 0 for a in net.args[:-1])

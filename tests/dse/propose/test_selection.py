"""Selection, on scores given by a table instead of by compiling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from dse.propose.selection import Candidate, select


@dataclass(frozen=True)
class Sum:
    cycles: float


class Table:
    """Cycles and area of a set of instructions by a function of their names."""

    runs = 0

    def __init__(self, cycles: Callable[[frozenset[str]], float]) -> None:
        self.cycles = cycles

    def score(self, added: Sequence[Any], kernels: Any, before: Any) -> Sum:
        return Sum(min(before.cycles, self.cycles(frozenset(i.name for i in added))))

    def cost(self, added: Sequence[Any], rung: str = "estimate") -> Any:
        return SimpleNamespace(area_ge=10.0 * sum(len(i.name) for i in added))


def chosen(names: str, scores: Table, **limits: Any) -> tuple[list[str], list[float], list[float]]:
    candidates = [
        Candidate(
            SimpleNamespace(operands=2 if name.isupper() else 1),  # type: ignore[arg-type]
            SimpleNamespace(name=name),  # type: ignore[arg-type]
            None,  # type: ignore[arg-type]
            {"w": ("k",)},
            None,  # type: ignore[arg-type]
            None,  # type: ignore[arg-type]
            Sum(scores.cycles(frozenset([name]))),  # type: ignore[arg-type]
        )
        for name in names.split()
    ]
    count = limits.pop("count", 5)
    result = select(candidates, scores, Sum(100.0), count, **limits)  # type: ignore[arg-type]
    order = [candidates[i].instruction.name for i in result.order]
    return order, list(result.after), list(result.lost_without)


def less(savings: dict[str, float]) -> Table:
    return Table(lambda names: 100 - sum(savings[n] for n in names))


def test_independent_savings_are_taken_largest_first() -> None:
    order, after, lost = chosen("a b c", less({"a": 5, "b": 20, "c": 1}))
    assert (order, after, lost) == (["b", "a", "c"], [80, 75, 74], [20, 5, 1])


def test_no_more_than_asked_for() -> None:
    assert chosen("a b c", less({"a": 5, "b": 20, "c": 1}), count=2)[0] == ["b", "a"]


def test_what_saves_nothing_is_not_chosen() -> None:
    assert chosen("a b", less({"a": 0, "b": -3})) == ([], [], [])


def test_ties_go_to_fewer_operands_then_to_the_smaller() -> None:
    assert chosen("A long", less({"A": 5, "long": 5}), count=1)[0] == ["long"]
    assert chosen("long s", less({"long": 5, "s": 5}), count=1)[0] == ["s"]


def test_area_is_a_limit_of_the_whole_set() -> None:
    scores = less({"aaa": 30, "bb": 20, "c": 10})
    assert chosen("aaa bb c", scores, area_ge=40)[0] == ["aaa", "c"]
    assert chosen("aaa bb c", scores, area_ge=20)[0] == ["bb"]


def test_under_a_limit_many_small_ones_may_beat_a_large_one() -> None:
    scores = less({"large": 30, "a": 15, "b": 15, "c": 15})
    assert chosen("large a b c", scores, area_ge=50)[0] == ["a", "b", "c"]
    assert chosen("large a b c", scores)[0] == ["large", "a", "b", "c"]


def test_a_choice_made_useless_is_dropped() -> None:
    def cycles(names: frozenset[str]) -> float:
        if {"left", "right"} <= names:
            return 40
        return {"left": 75, "right": 75}.get("".join(names & {"left", "right"}), 100) - (
            30 if names == {"whole"} else 0 if "whole" not in names else 10
        )

    order, _, lost = chosen("whole left right", Table(cycles))
    assert sorted(order) == ["left", "right"]
    assert min(lost) > 0


@pytest.mark.parametrize("count", [1, 2, 3])
def test_overlap_is_seen_by_measuring(count: int) -> None:
    """`w` covers what `a` and `b` cover; once it is there they add nothing."""

    def cycles(names: frozenset[str]) -> float:
        covered = {p for n in names for p in {"w": "pq", "a": "p", "b": "q", "z": "r"}[n]}
        return 100 - sum({"p": 10, "q": 10, "r": 3}[p] for p in covered)

    assert chosen("a b w z", Table(cycles), count=count)[0] == ["w", "z"][:count]


def test_a_good_start_that_leads_astray_is_given_up() -> None:
    """`large` saves most, for its area too, but leaves no room for the three that beat it."""
    scores = less({"large": 52, "aa": 20, "bb": 20, "cc": 20})
    assert chosen("large aa bb cc", scores, area_ge=60)[0] == ["aa", "bb", "cc"]


def test_a_given_set_is_a_start_of_its_own() -> None:
    """Only together do the last two save; no greedy step finds them."""

    def cycles(names: frozenset[str]) -> float:
        return 100 - 10 * ("a" in names) - 30 * ({"p", "q"} <= names) - 1 * ("p" in names)

    assert chosen("a p q", Table(cycles))[0] == ["a", "p"]
    assert sorted(chosen("a p q", Table(cycles), starts=[[1, 2]])[0]) == ["a", "p", "q"]
    assert chosen("a p q", Table(cycles), starts=[[1, 2]], count=1)[0] == ["a"]

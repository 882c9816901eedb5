"""Selection, on scores given by a table instead of by compiling."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import pytest

from dse.propose import selection
from dse.propose.candidate import Candidate, Pool
from dse.propose.selection import Selection, select


@dataclass(frozen=True)
class Sum:
    cycles: float
    used: frozenset[str] = frozenset()


class Table:
    """Cycles and area of a set of instructions by a function of their names."""

    def __init__(self, cycles: Callable[[frozenset[str]], float]) -> None:
        self.cycles = cycles
        self.seen: set[frozenset[str]] = set()

    @property
    def runs(self) -> int:
        return len(self.seen)

    def score(self, added: Sequence[Any], kernels: Any, before: Any) -> Sum:
        names = frozenset(i.name for i in added)
        self.seen.add(names)
        cycles = self.cycles(names)
        used = frozenset(n for n in names if self.cycles(names - {n}) != cycles)
        return Sum(min(before.cycles, cycles), used)

    def cost(self, added: Sequence[Any], rung: str = "estimate") -> Any:
        return SimpleNamespace(area_ge=10.0 * sum(len(i.name) for i in added))


def selected(names: str, scores: Table, **limits: Any) -> tuple[Selection, list[str]]:
    candidates = [
        Candidate(
            SimpleNamespace(operands=2 if name.isupper() else 1),  # type: ignore[arg-type]
            (SimpleNamespace(name=name),),  # type: ignore[arg-type]
            (),
            {"w": ("k",)},
            None,  # type: ignore[arg-type]
            None,  # type: ignore[arg-type]
            Sum(scores.cycles(frozenset([name]))),  # type: ignore[arg-type]
        )
        for name in names.split()
    ]
    starts = limits.pop("starts", ())
    pool = Pool(candidates, scores, Sum(limits.pop("base", 100.0)), **{"count": 5, **limits})  # type: ignore[arg-type]
    result = select(pool, starts)
    return result, [candidates[i].instructions[0].name for i in result.order]


def chosen(names: str, scores: Table, **limits: Any) -> tuple[list[str], list[float], list[float]]:
    result, order = selected(names, scores, **limits)
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


def together(names: frozenset[str]) -> float:
    """Only together do `p` and `q` save; no greedy step finds them."""
    return 100 - 10 * ("a" in names) - 30 * ({"p", "q"} <= names) - 1 * ("p" in names)


def test_a_given_set_is_a_start_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "BRANCHING_PROGRAMS", 0)
    assert chosen("a p q", Table(together))[0] == ["a", "p"]
    assert sorted(chosen("a p q", Table(together), starts=[[1, 2]])[0]) == ["a", "p", "q"]
    assert chosen("a p q", Table(together), starts=[[1, 2]], count=1)[0] == ["a"]


def test_branching_finds_what_only_saves_together() -> None:
    result, order = selected("a p q", Table(together))
    assert sorted(order) == ["a", "p", "q"]
    assert result.gap == 0


def test_a_choice_that_could_not_be_proven_says_how_far_it_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scores = less({"a": 30, "b": 25, "c": 20, "d": 5})
    monkeypatch.setattr(selection, "BRANCHING_PROGRAMS", 1)
    result, _ = selected("a b c d", scores, count=2)
    assert result.score.cycles == 45
    assert result.bound.cycles == 20 / 1.05  # all four, and what the compiler may lose by that
    assert result.gap == 1 - 20 / 1.05 / 45
    monkeypatch.undo()
    assert selected("a b c d", scores, count=2)[0].gap == 0


def test_a_compiler_that_loses_by_being_offered_more_widens_the_bound() -> None:
    def cycles(names: frozenset[str]) -> float:
        return 100 - 50 * ("a" in names) - 20 * ("b" in names) + 30 * ({"a", "c"} <= names)

    result, order = selected("a b c", Table(cycles))
    assert order == ["a", "b"]
    assert result.bound.excess == pytest.approx(60 / 30 - 1)


@pytest.mark.parametrize("seed", range(60))
def test_the_best_of_all_sets_is_found(seed: int) -> None:
    """Against every set within the limits, for savings that overlap and that need each other."""
    generator = random.Random(seed)
    names = ["a", "b", "c", "d", "e", "f", "g"]
    alone = {n: generator.choice([0, 0, 3, 7, 12, 20]) for n in names}
    pairs = {frozenset(generator.sample(names, 2)): generator.choice([2, 9, 15]) for _ in range(5)}
    parts = [frozenset(generator.sample(names, 3)) for _ in range(2)]

    def cycles(chosen: frozenset[str]) -> float:
        saved = sum(alone[n] for n in chosen) + sum(s for p, s in pairs.items() if p <= chosen)
        return 400 - saved - sum(11 for p in parts if p & chosen)

    count, area_ge = generator.choice([2, 3]), generator.choice([None, 20.0, 30.0])
    sizes = [count] if area_ge is None else [min(count, int(area_ge // 10))]
    best = min(cycles(frozenset(s)) for k in range(sizes[0] + 1) for s in combinations(names, k))
    scores = Table(cycles)
    result, _ = selected(" ".join(names), scores, count=count, area_ge=area_ge, base=400.0)
    if result.gap == 0:
        assert result.score.cycles == best

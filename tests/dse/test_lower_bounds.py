"""Bounds beside the cycles of a design, and the compiler's effort as a parameter of a space."""

from __future__ import annotations

from pathlib import Path

import pytest

from dse.cache import Cache
from dse.measure.evaluate import evaluate
from dse.measure.lower_bounds import with_bounds
from dse.space import Space, SpaceError, load_space

TEXT = """\
name: effort
workloads: [{workload: ascon-p6, kernel: interleaved}]
compiler: {effort: [default, search]}
"""


def loaded(folder: Path, text: str) -> Space:
    path = folder / "effort.yaml"
    path.write_text(text)
    return load_space(path)


def test_search_proves_what_the_default_does_not(tmp_path: Path) -> None:
    space, cache = loaded(tmp_path, TEXT), Cache(None)
    cycles, orders = [], []
    for effort in ("default", "search"):
        design = space.neutral.replace({"compiler.effort": effort})
        evaluation = with_bounds(space, evaluate(space=space, design=design, cache=cache), cache)
        data = evaluation.workloads["ascon-p6"]
        bounds = data["bounds"]
        assert bounds["critical_path"] < bounds["issue_width"] <= data["instructions"]
        assert bounds["gap"] == pytest.approx(data["cycles"] / bounds["issue_width"] - 1)
        assert bounds["spills"] < 10
        cycles.append(data["cycles"])
        orders.append(bounds["orders"])
    assert cycles[1] <= cycles[0]
    assert orders == ["0 of 2 proven", "2 of 2 proven"]


def test_a_space_that_states_no_effort_has_no_such_parameter(tmp_path: Path) -> None:
    without = TEXT.replace("compiler: {effort: [default, search]}", "")
    assert "compiler.effort" not in loaded(tmp_path, without).by_name


def test_other_efforts_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SpaceError, match=r"effort.* must be default, search or exact, not"):
        loaded(tmp_path, TEXT.replace("default", "hard"))
    monkeypatch.setattr("dse.space_resolver.has_solver", lambda: False)
    with pytest.raises(SpaceError, match=r"compiler\.effort: effort exact needs OR-Tools"):
        loaded(tmp_path, TEXT.replace("default", "exact"))

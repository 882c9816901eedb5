"""Spaces and backends without compiler or hardware."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dse.evaluator import Evaluator
from dse.space import Space, load_space, parse_space
from tests.dse.synthetic import BACKEND, SPACES, VOCABULARY


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DSE_CACHE", str(tmp_path / "default-cache"))


@pytest.fixture
def aes() -> Space:
    return load_space(SPACES / "aes.yaml", VOCABULARY)


@pytest.fixture
def parse() -> Callable[[str], Space]:
    """Parse the text of a space that is named x and has one workload unless it says otherwise."""

    def parse(text: str) -> Space:
        head = "name: x\n" + ("" if "workloads:" in text else "workloads: [aes128-encrypt]\n")
        return parse_space(head + text, Path("x.yaml"), VOCABULARY)

    return parse


@pytest.fixture
def evaluator_of(tmp_path: Path) -> Iterator[Callable[..., Evaluator]]:
    """Make evaluators in this process, with a cache of their own unless given one."""
    made: list[Evaluator] = []

    def make(space: Space, *, cache: Path | None = tmp_path / "cache", jobs: int = 0) -> Evaluator:
        made.append(Evaluator(space, BACKEND, cache, jobs))
        return made[-1]

    yield make
    for evaluator in made:
        evaluator.close()

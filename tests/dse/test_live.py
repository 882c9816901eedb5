"""The growing front, as frames on a recorded terminal and as lines elsewhere."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from dse.cli import run
from dse.evaluator import Evaluator
from dse.proposer import Proposer
from dse.search import Found, Progress, sampled_search
from dse.seeds import seed_designs
from dse.show.live import LiveFront
from dse.space import Space
from tests.dse.synthetic import BACKEND, SPACES

Make = Callable[..., Evaluator]


def watched(space: Space, evaluator: Evaluator, console: Console) -> Found:
    """A search of 40 designs under a display."""
    seeds = seed_designs(space, evaluator.set_baseline().canonical)
    proposer = Proposer(space, "random", 1, seeds, evaluator.reductions)
    with LiveFront(space, console) as live:
        return sampled_search(evaluator, proposer, 40, None, live)


def frames(file: io.StringIO) -> list[str]:
    """What was drawn between two returns of the cursor to the first line."""
    drawn = re.split(r"\r\x1b\[2K(?:\x1b\[1A\x1b\[2K)*", file.getvalue())
    return [frame for frame in drawn if "designs/s" in frame]


def test_frames_show_the_front_as_it_grows(aes: Space, evaluator_of: Make) -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=110, height=40, color_system=None)
    found = watched(aes, evaluator_of(aes), console)
    texts = frames(file)
    sizes = [int(match) for match in re.findall(r"front (\d+)", file.getvalue())]
    assert len(set(sizes)) > 3
    assert sizes[-1] == len(found.front)
    last = texts[-1]
    for evaluation in found.rows():
        assert f"{evaluation.metrics['area_ge'].value:,.0f}" in last
    assert len(re.findall(r"rv32i\S*", last)) == len(found.front)
    assert f"hypervolume {found.history[-1][1]:.4f}" in last
    first = next(text for text in texts if "rv32i" in text)
    assert len(re.findall(r"rv32i\S*", first)) < len(found.front)
    assert "time_ns" in last
    assert "search 40/40" in last


def test_front_longer_than_the_terminal_keeps_its_ends(aes: Space, evaluator_of: Make) -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=110, height=11, color_system=None)
    found = watched(aes, evaluator_of(aes), console)
    last = frames(file)[-1]
    rows = found.rows()
    assert len(rows) > 4
    assert f"and {len(rows) - 4} between" in last
    for evaluation in (rows[0], rows[-1]):
        assert f"{evaluation.metrics['area_ge'].value:,.0f}" in last


def test_without_a_terminal_each_new_front_is_a_line(aes: Space, evaluator_of: Make) -> None:
    file = io.StringIO()
    found = watched(aes, evaluator_of(aes), Console(file=file, width=200))
    lines = file.getvalue().splitlines()
    assert 3 < len(lines) < 40
    assert re.fullmatch(
        r"search \d+/40, \S+ designs/s, \d+ cached, front \d+, hypervolume \d\.\d{4}", lines[-1]
    )
    assert f"front {len(found.front)}" in lines[-1]
    assert "\x1b" not in file.getvalue()


def test_random_search_for_comparison_does_not_replace_the_front(aes: Space) -> None:
    file = io.StringIO()
    live = LiveFront(aes, Console(file=file, width=200))
    mine = Found()
    mine.history.append((8, 0.5))
    live(Progress("search", 8, 8, found=mine))
    other = Found()
    other.history.append((8, 0.25))
    live(Progress("random", 1, 8, found=other))
    assert "random 1/8" in file.getvalue()
    assert "0.2500" not in file.getvalue()


def test_search_takes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["search", str(SPACES / "aes-ctr-small.yaml"), "--trials", "6", "--jobs", "0", "--live"]
    assert run([*words, "--out", str(tmp_path / "run")], BACKEND) == 0
    captured = capsys.readouterr()
    assert re.search(r"^search 6/6, .*front \d", captured.err, re.M)
    assert "front" in captured.out

"""What every run ends with: how good its front is, and how it got there."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest

from dse.cli import run
from tests.dse.synthetic import BACKEND, SPACES

Capture = pytest.CaptureFixture[str]


def search(capsys: Capture, *words: object) -> str:
    assert run(["search", *map(str, words), "--jobs", "0"], BACKEND) == 0
    return " ".join(capsys.readouterr().out.split())


def test_search_ends_with_hypervolume_its_history_and_random(
    tmp_path: Path, capsys: Capture
) -> None:
    words = (SPACES / "aes.yaml", "--trials", 40, "--exact-seconds", 0, "--sampler", "random")
    text = search(capsys, *words, "--out", tmp_path)
    assert "Evaluated 40 distinct designs (40 feasible) at " in text
    assert " answers from the cache, " in text
    assert re.search(r"Hypervolume 0\.\d{4}; random search with as many designs: 0\.\d", text)
    found = re.search(r"as designs were evaluated, share of the last: (.*?)\. Hyper", text)
    assert found
    steps = [re.fullmatch(r"(\d+)% at (\d+)", step) for step in found[1].split(", ")]
    shares, counts = zip(*((int(s[1]), int(s[2])) for s in steps if s), strict=True)
    assert list(shares) == sorted(shares)
    assert shares[0] < 100 == shares[-1]
    assert counts[-1] == 40
    assert all(later >= 2 * before for before, later in itertools.pairwise(counts[:-1]))
    history = json.loads((tmp_path / "front.json").read_text())["history"]
    assert {count for count, _ in history} >= set(counts)
    assert json.loads((tmp_path / "manifest.json").read_text())["result"]["history"][-1][1] == 1


def test_exhaustive_search_ends_with_them_too(tmp_path: Path, capsys: Capture) -> None:
    text = search(capsys, SPACES / "aes-ctr-small.yaml", "--exhaustive", "--out", tmp_path)
    assert re.search(r"Hypervolume 0\.\d{4}; every design was evaluated\.", text)
    assert re.search(r"Exact front \(8 distinct designs enumerated\): 4 points, 100% of them", text)
    assert "share of the last: 100% at 8." in text

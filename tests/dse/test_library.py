"""`--liberty FILE`: designs in the cells of a user's own library."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dse.cli import run as run_cli
from hw.liberty import liberty_text

SPACE = """
name: tiny
workloads: [hight-encrypt]
instructions: {base: rv32i, choose: [zbkb]}
objectives: [cycles, area_ge]
search: {trials: 2}
"""


def doubled(text: str) -> str:
    """Return our library with every area doubled, as a user's in another unit."""
    lines = []
    for line in text.splitlines():
        head, mark, rest = line.partition("area : ")
        if mark:
            number, _, tail = rest.partition(";")
            line = f"{head}{mark}{2 * float(number)};{tail}"
        lines.append(line)
    return "\n".join(lines) + "\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DSE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "tiny.yaml").write_text(SPACE)
    (tmp_path / "ours.lib").write_text(liberty_text())
    (tmp_path / "twice.lib").write_text(doubled(liberty_text()))
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """Return exit code and what was printed, results before errors."""
    code = run_cli(words)
    captured = capsys.readouterr()
    return code, captured.out + captured.err


@pytest.mark.slow
def test_areas_are_those_of_the_library_and_gate_equivalents_those_of_its_nand2(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {}
    for name in ("ours", "twice"):
        words = ("--set", "zbkb=true", "--liberty", str(files / f"{name}.lib"), "--json")
        code, output = run(capsys, "evaluate", str(files / "tiny.yaml"), *words)
        assert code == 0, output
        data = json.loads(output[output.index("{") : output.rindex("}") + 1])
        found[name] = data["library"]
        # The register file is outside: 14,012 of the core's gate equivalents.
        logic = data["metrics"]["area_ge"]["value"] - 14_012
        assert data["library"]["area_ge"] == pytest.approx(logic, rel=0.15)
    assert found["twice"]["area"] == pytest.approx(2 * found["ours"]["area"], rel=0.02)
    assert found["twice"]["area_ge"] == pytest.approx(found["ours"]["area_ge"], rel=0.02)
    assert found["twice"]["flip_flops"] == found["ours"]["flip_flops"] > 200


@pytest.mark.slow
def test_a_search_prices_its_front_and_verify_does_so_again(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    liberty, out = str(files / "ours.lib"), files / "run"
    words = ("--jobs", "0", "--out", str(out), "--liberty", liberty, "--exact-seconds", "0")
    code, output = run(capsys, "search", str(files / "tiny.yaml"), *words)
    assert code == 0, output
    assert "1: area " in output
    first = (out / "library.json").read_text()
    front = json.loads((out / "front.json").read_text())
    assert len(json.loads(first)["front"]) == len(front["rows"])
    code, output = run(capsys, "verify", str(out), "--jobs", "1", "--liberty", liberty)
    assert code == 0, output
    assert (out / "library.json").read_text() == first


def test_a_file_that_is_no_library_is_one_line(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "none.lib").write_text("library(x) {}\n")
    words = ("--liberty", str(files / "none.lib"))
    code, output = run(capsys, "evaluate", str(files / "tiny.yaml"), *words)
    assert code == 2
    (line,) = [x for x in output.splitlines() if "liberty file" in x]
    assert "none.lib cannot be used: yosys failed" in line
    assert "Traceback" not in output

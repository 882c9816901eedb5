"""`dse propose` on the command line: what it prints and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dse.cli import run
from dse.propose import selection

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "Missing argument"),
        ("aes-encrypt", "workload must be one of `dse list workloads`, not 'aes-encrypt'"),
        ("aes128-encrypt aes128-encrypt", "workload aes128-encrypt must be given once, not twice"),
        ("aes128-encrypt --inputs 0", "inputs must be 1 to 3, not 0"),
        ("aes128-encrypt --inputs 4", "inputs must be 1 to 3, not 4"),
        ("aes128-encrypt --outputs 3", "outputs must be 1 or 2, not 3"),
        ("aes128-encrypt --outputs 2 --inputs 5", "inputs must be 1 to 4, not 5"),
        ("aes128-encrypt --area 0", "area must be above 0 GE, not 0"),
        ("aes128-encrypt --top 0", "top must be at least 1, not 0"),
        ("aes128-encrypt --base rv32", "base must start with rv32i or rv64i, not 'rv32'; did"),
        ("aes128-encrypt --base rv32i+zknn", "base must name extensions, not 'zknn'; did you mean"),
        ("nowhere.yaml", "SPACE must be a file or a bundled space"),
        ("aes128-encrypt --inputs two", "Invalid value for '--inputs'"),
    ],
)
def test_bad_input_is_one_line(words: str, message: str, capsys: Capture) -> None:
    assert run(["propose", *words.split()]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_known_lists_what_was_found_again(capsys: Capture) -> None:
    assert run(["propose", "sha256-block", "--known", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {"rori", "sha256sum0", "sha256sig1"} <= {row["instruction"] for row in data["known"]}
    assert run(["propose", "sha256-block", "--known"]) == 0
    assert "sha256sum0" in capsys.readouterr().out


def test_a_space_gives_its_workloads_and_kernels(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "space.yaml"
    file.write_text(
        "name: s\nworkloads: [{workload: aes128-encrypt, kernel: ttable, weight: 3}]\n"
        "objectives: [cycles, area_ge]\n"
    )
    assert run(["propose", str(file), "--known", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert "aes32esmi" in {row["instruction"] for row in data["known"]}


@pytest.mark.slow
def test_the_promised_command(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selection, "BRANCHING_PROGRAMS", 4)
    monkeypatch.setattr(selection, "IMPROVEMENT_PROGRAMS", 4)
    words = ["propose", "aes128-encrypt", "--base", "rv32i", "--top", "5", "--out", str(tmp_path)]
    assert run(words) == 0
    assert "equals aes32esmi" in capsys.readouterr().out
    assert (tmp_path / "xaes32esmi.json").is_file()

"""`dse compare` on the command line, with the synthetic evaluator."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dse.cli import run
from tests.dse.synthetic import BACKEND

LEDGER = """\
paper: own2026
title: A paper of one's own
authors: A User
year: 2026
url: https://example.org
sources: {paper: {seen: table 2, kind: printed}}
entries:
  - {algorithm: aes, configuration: zkne, metric: cycles, value: 3, unit: x, form: factor,
     relative_to: rv32i, per: block, source: paper}
  - {algorithm: aes, configuration: zkne, metric: area, value: 1200, unit: GE, scope: extension,
     technology: nand2_cmos, source: paper}
reproductions:
  - id: base
    algorithm: aes
    configuration: rv32i
    per: block
    space: {workloads: [aes128-encrypt]}
  - id: zkne
    algorithm: aes
    configuration: zkne
    per: block
    baselines: [base]
    space:
      workloads: [aes128-encrypt]
      instructions: {choose: [zkne]}
"""


@pytest.fixture
def paper(tmp_path: Path) -> str:
    file = tmp_path / "own2026.yaml"
    file.write_text(LEDGER)
    return str(file)


def test_ones_own_paper_takes_one_file_and_no_code(
    paper: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Kernels left open are chosen as `dse evaluate` does: the fewest cycles."""
    assert run(["compare", paper, "--no-cache", "--json"], BACKEND) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    speedup = next(row for row in rows if row["metric"] == "cycles")
    assert speedup["ours"] == pytest.approx(1000 / 300)
    assert speedup["verdict"] == "agrees"
    area = next(row for row in rows if row["metric"] == "area")
    assert (area["ratio"], area["verdict"]) == (None, "not comparable")
    assert area["reason"] == "unlike technology: ge and nand2_cmos"


@pytest.mark.parametrize("form", ["table", "md", "csv"])
def test_other_formats(form: str, paper: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", paper, "--no-cache", "--format", form], BACKEND) == 0
    assert "not comparable" in capsys.readouterr().out


def test_a_page_and_its_plot_are_written(
    paper: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page is what `--format md` prints, below a summary."""
    written = tmp_path / "page.md"
    assert run(["compare", paper, "--no-cache", "--output", str(written)], BACKEND) == 0
    text = written.read_text("utf-8")
    assert text.startswith("# Reproductions\n")
    assert "![Ours over published, every comparable row](page.svg)" in text
    assert written.with_suffix(".svg").read_bytes().startswith(b"<?xml")
    capsys.readouterr()
    assert run(["compare", paper, "--no-cache", "--format", "md"], BACKEND) == 0
    assert text.endswith(f"\n\n{capsys.readouterr().out}")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "dse compare: error: give papers or --all, one of the two"),
        (["nluv2024", "--all"], "dse compare: error: give papers or --all, one of the two"),
        (["nluv2023"], "not 'nluv2023'; did you mean 'nluv2024'?"),
        (["nluv2024", "--format", "xml"], "'xml' is not one of 'table', 'md', 'csv', 'json'"),
    ],
)
def test_wrong_use_is_one_line_and_code_2(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *words], BACKEND) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert len(captured.err.strip().splitlines()) == 1
    assert captured.out == ""


def test_a_bad_ledger_is_one_located_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(LEDGER.replace("unit: GE, ", ""))
    assert run(["compare", str(file)], BACKEND) == 2
    expected = f"{file}:10:5: error: entries.1: key 'unit' must be given\n"
    assert capsys.readouterr().err == expected


def test_a_design_that_cannot_be_evaluated_is_told(
    paper: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYNTHETIC_RAISE", '"zkne":true')
    assert run(["compare", paper, "--no-cache"], BACKEND) == 1
    captured = capsys.readouterr()
    assert "own2026: zkne cannot be evaluated: failed: RuntimeError: told to fail" in captured.err
    assert "our design cannot be evaluated" in captured.out

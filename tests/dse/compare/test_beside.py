"""`dse compare RUN --with PAPER`, on the synthetic backend."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from dse.cli import run
from tests.dse.synthetic import BACKEND, SPACES

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("run")
    space, out = place / "aes.yaml", place / "aes"
    text = (SPACES / "aes.yaml").read_text("utf-8")
    space.write_text(text.replace("[time_ns, area_ge]", "[cycles, area_ge]"), "utf-8")
    words = ["search", str(space), "--trials", "24", "--jobs", "0", "--no-cache"]
    assert run([*words, "--exact-seconds", "0", "--out", str(out)], BACKEND) == 0
    return out


def test_the_front_and_the_paper_stand_on_the_same_axes(folder: Path, capsys: Capture) -> None:
    words = ["compare", str(folder), "--with", "marshall2021aes", "--json"]
    assert run(words, BACKEND) == 0
    points = json.loads(capsys.readouterr().out)["points"]
    front = json.loads((folder / "front.json").read_text("utf-8"))
    ours = [point for point in points if point["source"] == "our model"]
    theirs = [point for point in points if point["source"] != "our model"]
    assert len(ours) == len(front["rows"])
    assert {"cycles", "area_ge"} <= ours[0].keys()
    (v3,) = (point for point in theirs if point["design"] == "marshall2021aes V3")
    assert (v3["area_ge"], v3["technology"], v3["host core"]) == (38301.0, "nand2_cmos", "scarv")
    assert "github:scarv/aes-risc-pipeline@c7d190c" in v3["source"]
    assert (v3["cycles"], v3["note"]) == (291.0, "")


@pytest.mark.parametrize("form", ["table", "md", "csv"])
def test_every_format_has_every_design(folder: Path, capsys: Capture, form: str) -> None:
    assert (
        run(["compare", str(folder), "--with", "marshall2021aes", "--format", form], BACKEND) == 0
    )
    text = capsys.readouterr().out
    assert "marshall2021aes V3" in text
    if form == "csv":
        header, *lines = csv.reader(io.StringIO(text))
        assert header == [
            "design",
            "cycles",
            "area_ge",
            "technology",
            "host core",
            "source",
            "note",
        ]
        assert all(len(line) == len(header) for line in lines)


def test_a_paper_without_such_a_design_is_said(folder: Path, capsys: Capture) -> None:
    assert run(["compare", str(folder), "--with", "nisanci2022"], BACKEND) == 0
    note = "note: no design of theirs has cycles and area_ge in this technology"
    assert note in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--with", "nluv2024"], "give one run before --with, and neither --all nor --output"),
        (["nowhere", "--with", "nluv2024"], "RUN must be the folder of a search"),
        (["nowhere", "--with", "nluv"], "did you mean 'nluv2024'?"),
    ],
)
def test_refusals(capsys: Capture, words: list[str], message: str) -> None:
    assert run(["compare", *words], BACKEND) == 2
    assert message in capsys.readouterr().err

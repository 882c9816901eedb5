"""A search that chooses among existing and proposed instructions together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dse.cli import run
from dse.propose import joined, pipeline
from dse.propose.joined import with_proposals
from dse.space import Space, parse_space
from dse.vocabulary import REGISTRIES

TEXT = """
name: mine
workloads: [{workload: aes128-encrypt, kernel: ttable}]
instructions: {choose: [zkne]}
core: {pipeline: 5}
objectives: [cycles, code_bytes]
"""


def space(tmp_path: Path) -> Space:
    return parse_space(TEXT, tmp_path / "space.yaml", REGISTRIES)


def proposal(name: str, function: int) -> dict[str, Any]:
    return {
        "format": 1,
        "name": name,
        "xlen": 32,
        "encoding": f"{name} rd rs1 rs2 31..25={function} 14..12=0 6..2=0x0a 1..0=3",
        "fields": {},
        "meaning": "(bits (xor (arg rs1 32) (arg rs2 32)))",
        "source": "a test",
    }


def test_proposals_in_the_folder_join_the_choices(tmp_path: Path) -> None:
    nearest = [{"relation": "new", "name": ""}, {"relation": "equals", "name": "aes32esmi"}]
    rows = [{**proposal(f"xmine{i}", i), "nearest": near} for i, near in enumerate(nearest)]
    for row in rows:
        (tmp_path / f"{row['name']}.json").write_text(json.dumps(row))
    (tmp_path / "proposals.json").write_text(json.dumps({"proposals": rows}))
    said: list[str] = []
    found = with_proposals(space(tmp_path), tmp_path, REGISTRIES, said.append)
    assert said == ["1 proposed instructions join the choices of the space"]
    assert [entry.name for entry in found.entries] == ["zkne", "xmine0"]
    assert found.entries[1].kind == "proposal"
    assert found.objectives == space(tmp_path).objectives
    again = with_proposals(space(tmp_path), tmp_path, REGISTRIES, said.append)
    assert again.digest == found.digest
    assert with_proposals(found, tmp_path, REGISTRIES, said.append).digest == found.digest


@pytest.mark.slow
def test_search_proposes_and_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pipeline, "SHORTLIST", 3)
    monkeypatch.setattr(pipeline, "PER_PROPOSAL", 0)
    monkeypatch.setenv("DSE_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "space.yaml"
    file.write_text(TEXT)
    out = tmp_path / "out"
    words = ["search", str(file), "--trials", "4", "--jobs", "0", "--exact-seconds", "0"]
    words += ["--out", str(out), "--propose"]
    assert run(words) == 0
    front = json.loads((out / "front.json").read_text())
    chosen = {k for row in front["rows"] for k, v in row["design"].items() if v is True}
    assert chosen & {p.stem for p in (out / "proposals").glob("x*.json")}
    assert all(row["status"] == "confirmed" for row in front["rows"])
    monkeypatch.setattr(joined, "propose", None)  # a resumed search proposes nothing again
    assert run([*words, "--resume"]) == 0
    assert json.loads((out / "front.json").read_text())["rows"] == front["rows"]
    assert run(["export", str(out), "--format", "c,verilog"]) == 0

"""A proposal measured in another view of a kernel brings that view to the space that chooses it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dse.cache import Cache
from dse.measure.evaluate import evaluate
from dse.propose import pipeline
from dse.propose.delivery import deliver
from dse.propose.pipeline import propose
from dse.propose.request import Request, named_workloads
from dse.space import Space, parse_space
from isa.proposal import load_proposal

SPACE = """
name: views
workloads: [{{workload: {workload}, kernel: {kernel}}}]
instructions: {{choose: [{choose}]}}
objectives: [cycles, area_ge]
"""


TURNED = Path(__file__).parent / "turned"
"""Two of the proposals for aes128-encrypt: a step of MixColumns and one of the last round."""


def space(folder: Path, choose: str, kernel: str = "auto", workload: str = "sm4-encrypt") -> Space:
    text = SPACE.format(workload=workload, kernel=kernel, choose=choose)
    return parse_space(text, folder / "space.yaml")


@pytest.mark.slow
def test_aes_takes_the_cycles_of_zkne_on_less_area(tmp_path: Path) -> None:
    names = [file.stem for file in sorted(TURNED.glob("*.json"))]
    for name in names:
        (tmp_path / f"{name}.json").write_text((TURNED / f"{name}.json").read_text())
    idle = json.loads((TURNED / f"{names[0]}.json").read_text())
    idle |= {"name": "xidle", "meaning": "(bits (mul (arg rs1 32) (arg rs2 32)))"}
    idle["encoding"] = "xidle rd rs1 rs2 31..25=9 14..12=0 6..2=0x0a 1..0=3"
    (tmp_path / "xidle.json").write_text(json.dumps(idle))
    choose = ", ".join(["zkne", "xidle.json", *(f"{name}.json" for name in names)])
    mine = space(tmp_path, choose, workload="aes128-encrypt")
    turned = mine.neutral.replace({"kernel.aes128-encrypt": "sbox-turned"})
    cache = Cache(None)
    proposed = turned.replace(dict.fromkeys([*names, "xidle"], True))
    found = evaluate(space=mine, design=proposed, cache=cache)
    assert found.feasible, found.reason
    assert found.workloads["aes128-encrypt"]["kernel"] == "sbox-turned"
    assert [e.name for e in mine.entries if found.canonical[e.name]] == names  # xidle is not kept
    zkne = mine.neutral.replace({"zkne": True, "kernel.aes128-encrypt": "ttable"})
    ratified = evaluate(space=mine, design=zkne, cache=cache)
    assert found.metrics["cycles"].value == ratified.metrics["cycles"].value == 441
    assert found.metrics["area_ge"].value < ratified.metrics["area_ge"].value - 100


@pytest.mark.slow
def test_sm4_takes_the_cycles_that_propose_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "SHORTLIST", 4)
    monkeypatch.setattr(pipeline, "PER_PROPOSAL", 0)
    report = propose(Request(named_workloads(["sm4-encrypt"]), top=1, area_ge=648.0))
    deliver(report, tmp_path)
    (chosen,) = (p for p in report.proposals if p.is_chosen)
    assert load_proposal(tmp_path / f"{chosen.name}.json").views == ("turned",)
    kernel = report.selection.score.best["sm4-encrypt"].kernel
    assert kernel.endswith("-turned")

    mine = space(tmp_path, f"zksed, {chosen.name}.json")
    design = mine.neutral.replace({"kernel.sm4-encrypt": kernel})
    assert mine.reduce(design)["kernel.sm4-encrypt"] != kernel  # without the proposal
    cache = Cache(None)
    found = evaluate(space=mine, design=design.replace({chosen.name: True}), cache=cache)
    assert found.feasible, found.reason
    assert found.workloads["sm4-encrypt"]["kernel"] == kernel
    assert found.workloads["sm4-encrypt"]["known_answers"] > 0
    assert found.metrics["cycles"].value == report.selection.score.cycles
    ratified = mine.neutral.replace({"zksed": True, "kernel.sm4-encrypt": "ttable"})
    known = evaluate(space=mine, design=ratified, cache=cache)
    assert known.canonical["zksed"]
    assert found.metrics["cycles"].value == known.metrics["cycles"].value
    assert found.metrics["area_ge"].value < known.metrics["area_ge"].value
    # a kernel as written stands with its views; a view may be named alone
    pinned = space(tmp_path, f"{chosen.name}.json", kernel="sbox").workloads[0]
    assert pinned.kernels[0] == "sbox"
    assert kernel in space(tmp_path, f"{chosen.name}.json", kernel).workloads[0].kernels
    assert not any("-turned" in k for k in space(tmp_path, "zksed").workloads[0].kernels)

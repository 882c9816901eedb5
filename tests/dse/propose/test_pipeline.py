"""From a workload to proposals that a space can use, end to end."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

import workloads
from dse.backend import Backend
from dse.cache import Cache
from dse.evaluate import evaluate
from dse.propose import pipeline
from dse.propose.delivery import check, deliver
from dse.propose.pipeline import Report, propose
from dse.propose.request import Request, RequestError
from dse.propose.survey import survey
from dse.run import RunError
from dse.space import load_space
from isa.instruction_set import InstructionSet
from isa.proposal import load_proposal


def only(name: str, *kernels: str) -> tuple[workloads.Workload, float]:
    """A workload with some of its kernels."""
    workload = workloads.get(name)
    kept = {n: workload.kernels[n] for n in kernels}
    return workloads.Workload(**{**vars(workload), "kernels": kept}), 1.0


@cache
def report() -> Report:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "SHORTLIST", 8)
        return propose(Request((only("aes128-encrypt", "ttable"),), top=5))


def test_aes32esmi_is_among_the_proposals() -> None:
    (found,) = (p for p in report().proposals if str(p.nearest) == "equals aes32esmi")
    assert found.name == "xaes32esmi"
    assert found.proof.is_proof
    assert found.saved > 300
    assert [name for name, _ in found.idea.immediates] == ["bs"]


def test_every_proposal_is_proven_and_saves() -> None:
    base = report().base.cycles
    for p in report().proposals:
        assert p.proof.is_proof
        assert p.saved == base - sum(s.cycles for s in p.savings) > 0
        assert p.cost.rung == "mapped"


def test_the_set_is_worth_more_than_any_of_its_members() -> None:
    chosen = [p for p in report().proposals if p.is_chosen]
    assert report().selection.score.cycles <= report().base.cycles - max(p.saved for p in chosen)
    assert report().selection.score.cycles == chosen[-1].cycles_after
    assert all(p.lost_without and p.lost_without > 0 for p in chosen)


def test_encodings_stand_together() -> None:
    everything = [p.instruction for p in report().proposals]
    InstructionSet.of(32, "rv32i", "m", "zbkb", "zbkx", "zkne", "zknd", "nluv", *everything)


def test_files_are_instructions_that_a_space_can_choose(tmp_path: Path) -> None:
    folder = tmp_path / "proposals"
    check(folder)
    files = deliver(report(), folder)
    assert [f.name for f in files if f.suffix == ".py"] == [
        f"{p.name}.py" for p in report().proposals
    ]
    for p in report().proposals:
        (loaded,) = load_proposal(folder / f"{p.name}.json").instructions
        assert loaded.effects(32).rd is p.instruction.effects(32).rd
        scope: dict[str, object] = {}
        exec((folder / f"{p.name}.py").read_text(), scope)  # our own text
        (listed,) = scope["EXTENSION"].instructions  # type: ignore[attr-defined]
        assert listed.effects(32).rd is loaded.effects(32).rd
    first = report().proposals[0]
    file = tmp_path / "space.yaml"
    file.write_text(
        "name: mine\nworkloads: [{workload: aes128-encrypt, kernel: ttable}]\n"
        f"instructions: {{choose: [proposals/{first.name}.json]}}\n"
        "objectives: [cycles, area_ge]\nsearch: {trials: 2}\n"
    )
    space = load_space(file, Backend.load(Backend().vocabulary))
    design = space.neutral.replace({first.name: True})
    evaluation = evaluate(space=space, design=design, cache=Cache(None))
    assert evaluation.feasible
    assert evaluation.metrics["cycles"].value == sum(s.cycles for s in first.savings)
    (folder / "mine.txt").write_text("")
    assert deliver(report(), folder) == files  # the same again replaces what is there
    assert {f.name for f in folder.iterdir()} == {"mine.txt", *(f.name for f in files)}


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(RunError, match="must be empty or hold earlier proposals; choose another"):
        check(tmp_path)
    (tmp_path / "proposals.json").write_text("[]")
    with pytest.raises(RunError, match=r"is not a report of dse propose; choose another --out$"):
        check(tmp_path)


def test_report_is_plain_data(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    deliver(report(), folder)
    data = json.loads((folder / "proposals.json").read_text())
    assert data["base"] == "rv32i"
    assert data["truncated"] == []
    assert data["final_cycles"] < data["base_cycles"]
    assert {p["name"] for p in data["proposals"]} >= set(data["set"])


def test_area_limits_the_set() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "SHORTLIST", 2)
        request = Request((only("aes128-encrypt", "ttable"),), top=2, area_ge=5.0)
        with pytest.raises(RequestError, match="saves anything within 5 GE; allow more inputs or"):
            propose(request)


def test_budget_shows_in_the_survey() -> None:
    cut = survey(Request((only("aes128-encrypt", "ttable"),), budget=50))
    assert "aes128-encrypt/ttable" in cut.truncated
    assert cut.subgraphs < survey(Request((only("aes128-encrypt", "ttable"),))).subgraphs


def test_workload_without_a_kernel_for_the_base() -> None:
    with pytest.raises(RequestError, match=r"^base rv32i must admit a kernel of aes128-encrypt;"):
        survey(Request((only("aes128-encrypt", "nluv"),)))

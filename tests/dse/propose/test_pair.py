"""Two results are two instructions on one datapath."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dse.cli import run
from dse.propose import pipeline
from dse.propose.collection import ideas
from dse.propose.enumeration import enumerate_subgraphs
from dse.propose.graph import Graph
from dse.propose.group import Group, group
from dse.propose.idea import Idea
from dse.propose.meaning import meaning_of
from dse.propose.nearest import Nearest
from dse.propose.proof import ProofError, prove
from dse.propose.proposal import make_instructions
from dse.propose.work import Work
from isa.bits import Bits, arg
from isa.proposal import load_proposal

X, Y, Z = (arg(name, 32) for name in ("rs1", "rs2", "rs3"))


def sums(a: Bits, b: Bits) -> tuple[Bits, Bits]:
    total = a.rotr(7) + b
    return total, total ^ b.rotr(3)


def pairs(*roots: Bits, inputs: int = 2) -> list[Idea]:
    graph = Graph.of(roots)
    groups = group([(graph, enumerate_subgraphs(graph, inputs, 2))], Work(), 32)
    return [idea for idea in ideas(groups, 32) if idea.second is not None]


def test_a_pair_has_one_meaning_in_any_order_of_operands_and_results() -> None:
    first, second = sums(X, Y)
    swapped, other = sums(Y, X)
    same = [
        meaning_of(first, 2, second),
        meaning_of(second, 2, first),
        meaning_of(other, 2, swapped),
    ]
    assert len({m.fingerprint for m in same}) == 1
    different = meaning_of(first, 2, second ^ 1)
    assert different.fingerprint != same[0].fingerprint
    assert meaning_of(first, 2).fingerprint != same[0].fingerprint


def test_a_pair_counts_two_instructions() -> None:
    (whole,) = (idea for idea in pairs(*sums(arg("a", 32), arg("b", 32))) if idea.bound == 6)
    assert whole.operands == 2  # seven operations of 3 + 1 + 3 + 1 instructions, less two
    assert prove(whole).checked == 1


def test_both_results_are_proven() -> None:
    first, second = sums(X, Y)
    group_of_pair = Group(meaning_of(first, 2, second), [], [meaning_of(first, 2, second)])
    right = Idea(first, 2, (), (group_of_pair,), ((),), "", second)
    assert prove(right).is_proof
    wrong = Idea(first, 2, (), (group_of_pair,), ((),), "", second ^ X)
    with pytest.raises(ProofError, match="the equivalence checker finds a difference"):
        prove(wrong)


def test_each_result_becomes_an_instruction_of_the_registers_it_reads() -> None:
    idea = Idea(X.rotr(3) ^ Z, 3, (), (), ((),), "", Y.rotr(3) + Y)
    (first, second), slots = make_instructions(idea, Nearest(), [], [], "a test")
    assert first.name.removesuffix("_a") == second.name.removesuffix("_b")
    assert first.encoding.registers == ("rd", "rs1", "rs2")
    assert second.encoding.registers == ("rd", "rs1")
    assert first.effects(32).rd is X.rotr(3) ^ Y
    assert second.effects(32).rd is X.rotr(3) + X
    a, b = (slot.encoding for slot in slots)
    assert (a.match ^ b.match) & a.mask & b.mask


@pytest.mark.slow
def test_a_pair_is_delivered_measured_and_proven(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pipeline, "SHORTLIST", 5)
    words = ["propose", "chacha20-block", "--outputs", "2", "--top", "4", "--out", str(tmp_path)]
    assert run([*words, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    rows = [row for row in data["proposals"] if "pair" in row]
    assert rows[0]["pair"] == [row["name"] for row in rows[:2]]
    assert all(row["proof"]["method"] != "vectors" for row in rows)
    assert rows[0]["measured"]["cycles_saved"] > 0
    for name in rows[0]["pair"]:
        assert load_proposal(tmp_path / f"{name}.json").instructions[0].name == name
        assert (tmp_path / f"{name}.v").is_file()

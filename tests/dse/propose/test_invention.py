"""A proposed set beats a ratified instruction on cycles and on area at once."""

from __future__ import annotations

import pytest

from dse.propose import pipeline
from dse.propose.pipeline import propose
from dse.propose.request import Request, named_workloads


@pytest.mark.slow
def test_chacha_is_better_off_with_four_fixed_rotations_than_with_rori() -> None:
    report = propose(Request(named_workloads(["chacha20-block"]), top=4, area_ge=520.0))
    (ratified,) = (r for r in report.references if r.names == ("rori",))
    assert report.selection.score.cycles < 0.8 * ratified.cycles
    assert report.selection.area_ge < 0.8 * ratified.area_ge
    assert report.selection.gap == 0
    chosen = [p for p in report.proposals if p.is_chosen]
    assert sorted(p.idea.formula for p in chosen) == [
        f"rotr(rs1 ^ rs2, {amount})" for amount in (16, 20, 24, 25)
    ]
    assert all(p.proof.is_proof for p in chosen)


@pytest.mark.slow
def test_sm4_needs_no_multiplexer_that_places_a_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    """The accumulator turns instead: as many cycles as with `sm4ed`, on three quarters of it."""
    monkeypatch.setattr(pipeline, "SHORTLIST", 4)
    monkeypatch.setattr(pipeline, "PER_PROPOSAL", 0)
    report = propose(Request(named_workloads(["sm4-encrypt"]), top=1, area_ge=648.0))
    (ratified,) = (r for r in report.references if "sm4ed" in r.names)
    (chosen,) = (p for p in report.proposals if p.is_chosen)
    assert chosen.idea.formula == "rotr(rs1, 8) ^ M(sm4_sbox[rs2.byte(bs)])"
    assert chosen.proof.is_proof
    assert report.selection.score.cycles == ratified.cycles
    assert report.selection.area_ge < 0.8 * ratified.area_ge

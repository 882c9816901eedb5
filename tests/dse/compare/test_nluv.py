"""The AES rows of `dse compare nluv2024`, evaluated for real."""

from __future__ import annotations

from pathlib import Path

import pytest

from dse.backend import Backend
from dse.compare.ledger import find_paper, load_ledger
from dse.compare.reproduce import evaluator, reproduce
from dse.compare.rows import Row, compare

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    backend = Backend()
    cache: Path = tmp_path_factory.mktemp("cache")
    ledger = load_ledger(find_paper("nluv2024"))
    vocabulary = Backend.load(backend.vocabulary)
    return compare(ledger, reproduce(ledger, evaluator(backend, cache), vocabulary))


def one(rows: list[Row], configuration: str, metric: str, kind: str) -> Row:
    (found,) = (
        row
        for row in rows
        if (row.configuration, row.metric, row.kind, row.scope)
        == (f"aes128-encrypt {configuration}", metric, kind, "")
    )
    return found


def test_the_printed_gain_in_cycles_times_program_memory_agrees(rows: list[Row]) -> None:
    row = one(rows, "NLU-V over rv32i", "tap_code", "printed")
    assert (row.published, row.verdict) == (0.32, "agrees")


@pytest.mark.parametrize("configuration", ["rv32i", "rv32i T-table", "NLU-V"])
@pytest.mark.parametrize("metric", ["cycles", "instructions", "tap_code"])
def test_what_was_measured_on_the_papers_own_rtl_agrees(
    rows: list[Row], configuration: str, metric: str
) -> None:
    assert one(rows, configuration, metric, "remeasured").verdict == "agrees"


def test_silicon_turns_the_verdict(rows: list[Row]) -> None:
    """NLU-V gains in cycles x program memory and loses in time x silicon, here as in Yosys."""
    row = one(rows, "NLU-V over rv32i", "tap_silicon_luts", "remeasured")
    assert row.published is not None
    assert row.published > 1
    assert row.ours is not None
    assert row.ours > 1
    assert (row.ratio, row.verdict) == (None, "not comparable")


def test_a_t_table_on_plain_rv32i_is_faster_than_nluv_as_published(rows: list[Row]) -> None:
    row = one(rows, "NLU-V over rv32i T-table", "cycles", "remeasured")
    assert row.published is not None
    assert row.published > 3
    assert row.ours is not None
    assert row.ours > 3


def test_published_luts_and_flip_flops_are_not_comparable(rows: list[Row]) -> None:
    hardware = [row for row in rows if row.metric in ("luts", "ffs")]
    assert {4520, 1088} <= {row.published for row in hardware}
    assert {row.verdict for row in hardware} == {"not comparable"}
    assert {row.ratio for row in hardware} == {None}


def test_every_design_could_be_evaluated_and_every_difference_has_its_cause(
    rows: list[Row],
) -> None:
    assert not [row for row in rows if "cannot be evaluated" in row.reason]
    assert not [row for row in rows if "no cause is written down" in row.reason]

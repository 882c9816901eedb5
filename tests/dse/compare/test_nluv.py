"""The rows of `dse compare nluv2024`, evaluated for real."""

from __future__ import annotations

from pathlib import Path

import pytest

from dse.backend import Backend
from dse.compare.ledger import find_paper, load_ledger
from dse.compare.reproduce import evaluator, reproduce
from dse.compare.rows import Row, compare
from dse.compare.unit import unit_pricer

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    backend = Backend()
    cache: Path = tmp_path_factory.mktemp("cache")
    ledger = load_ledger(find_paper("nluv2024"))
    vocabulary = Backend.load(backend.vocabulary)
    price_unit = unit_pricer(backend, cache)
    return compare(ledger, reproduce(ledger, evaluator(backend, cache), vocabulary, price_unit))


AES, PRESENT = "aes128-encrypt", "present80-encrypt"


def one(
    rows: list[Row],
    configuration: str,
    metric: str,
    kind: str,
    algorithm: str = AES,
    scope: str = "",
) -> Row:
    (found,) = (
        row
        for row in rows
        if (row.configuration, row.metric, row.kind, row.scope)
        == (f"{algorithm} {configuration}", metric, kind, scope)
    )
    return found


@pytest.mark.parametrize(("algorithm", "published"), [(AES, 0.32), (PRESENT, 0.11)])
def test_the_printed_gain_in_cycles_times_program_memory_agrees(
    rows: list[Row], algorithm: str, published: float
) -> None:
    row = one(rows, "NLU-V over rv32i", "tap_code", "printed", algorithm)
    assert (row.published, row.verdict) == (published, "agrees")


@pytest.mark.parametrize("configuration", ["rv32i", "rv32i T-table", "NLU-V"])
@pytest.mark.parametrize("metric", ["cycles", "instructions", "tap_code"])
def test_what_was_measured_on_the_papers_own_rtl_agrees(
    rows: list[Row], configuration: str, metric: str
) -> None:
    assert one(rows, configuration, metric, "remeasured").verdict == "agrees"


@pytest.mark.parametrize("configuration", ["rv32i", "NLU-V", "NLU-V over rv32i"])
@pytest.mark.parametrize("metric", ["cycles", "instructions"])
def test_present_as_measured_on_the_papers_own_rtl_agrees(
    rows: list[Row], configuration: str, metric: str
) -> None:
    assert one(rows, configuration, metric, "remeasured", PRESENT).verdict == "agrees"


def test_present_compiled_for_plain_rv32i_is_faster_than_nluv(rows: list[Row]) -> None:
    assert one(rows, "rv32i, table", "cycles", "remeasured", PRESENT).verdict == "agrees"
    row = one(rows, "NLU-V over rv32i, table", "cycles", "remeasured", PRESENT)
    assert row.published is not None
    assert row.published > 1
    assert row.ours is not None
    assert row.ours > 1


def test_most_of_present_on_nluv_is_loading_one_matrix_until_there_are_four(
    rows: list[Row],
) -> None:
    one_bank = one(rows, "NLU-V", "instructions", "remeasured", PRESENT, "nldl")
    assert (one_bank.published, one_bank.verdict) == (3968, "agrees")
    four_banks = one(rows, "NLU-V, 4 banks", "instructions", "", PRESENT, "nldl")
    assert four_banks.ours == 4 * 64
    faster = one(rows, "NLU-V, 4 banks over NLU-V", "cycles", "", PRESENT)
    assert faster.ours is not None
    assert faster.ours < 0.4


def test_the_host_core_inflates_the_gain_of_present(rows: list[Row]) -> None:
    """3.09x on the published core, 1.93x in instructions: what one cycle each would give."""
    theirs = one(rows, "NLU-V over rv32i", "cycles", "remeasured", PRESENT).ours
    ours = one(rows, "NLU-V, our core over rv32i, our core", "cycles", "", PRESENT).ours
    assert theirs is not None
    assert ours is not None
    assert ours > 1.5 * theirs


@pytest.mark.parametrize(
    "configuration", ["NLU-V over rv32i, table", "NLU-V, our core over rv32i, our core"]
)
def test_silicon_turns_the_verdict_of_present(rows: list[Row], configuration: str) -> None:
    gain = one(rows, configuration, "tap_code", "", PRESENT).ours
    silicon = one(rows, configuration, "tap_silicon_ge", "", PRESENT).ours
    assert gain is not None
    assert silicon is not None
    assert gain < 1 < silicon


def test_silicon_turns_the_verdict(rows: list[Row]) -> None:
    """NLU-V gains in cycles x program memory and loses in time x silicon, here as in Yosys."""
    row = one(rows, "NLU-V over rv32i", "tap_silicon_luts", "remeasured")
    assert row.published is not None
    assert row.published > 1
    assert row.ours is not None
    assert row.ours > 1
    # A ratio to an own baseline is compared whatever mapped the LUTs; each side has its own host.
    assert row.verdict == "differs"
    assert "our host takes fewer LUTs" in row.reason


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

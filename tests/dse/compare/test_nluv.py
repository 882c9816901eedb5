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


VARIANTS = ("", ", 2 banks", ", 4 banks", *(f"{b}, 32-bit pushes" for b in ("", ", 2 banks")))


def test_four_banks_and_wide_pushes_together_repair_the_verdict_of_present(rows: list[Row]) -> None:
    """In gate equivalents, over the paper's own baseline; neither alone, nor over our best ones."""

    def product(variant: str, baseline: str, metric: str = "tap_silicon_ge") -> float:
        kind = "remeasured" if (variant, metric) == ("", "tap_silicon_luts") else ""
        found = one(rows, f"NLU-V{variant} over {baseline}", metric, kind, PRESENT).ours
        assert found is not None
        return found

    both = ", 4 banks, 32-bit pushes"
    assert product(both, "rv32i") < 0.6 < min(product(v, "rv32i") for v in VARIANTS)
    assert product(", 2 banks", "rv32i") > 1
    luts = [product(v, "rv32i", "tap_silicon_luts") for v in (both, *VARIANTS)]
    assert 1 < luts[0] < 1.25
    assert luts[0] == min(luts)
    for baseline in ("rv32i, table", "rv32i, exchanges of bits"):
        assert 1 < product(both, baseline) < min(product(v, baseline) for v in VARIANTS)


def test_on_a_core_of_one_cycle_they_repair_it_too(rows: list[Row]) -> None:
    plain, both = (
        one(rows, f"{name}, our core over rv32i, our core", "tap_silicon_ge", "", PRESENT).ours
        for name in ("NLU-V", "NLU-V, 4 banks, 32-bit pushes")
    )
    assert plain is not None
    assert both is not None
    assert both < 0.7 < 1.4 < plain


def test_a_wide_push_halves_the_area_and_saves_no_time_on_the_papers_host(rows: list[Row]) -> None:
    for banks in ("", ", 4 banks"):
        narrow, wide = (
            one(rows, f"NLU-V{banks}{width}", "cycles", kind, PRESENT).ours
            for width, kind in (("", "" if banks else "remeasured"), (", 32-bit pushes", ""))
        )
        assert narrow is not None
        assert wide == pytest.approx(narrow, rel=0.02)
    narrow = one(rows, "NLU-V, 4 banks", "area", "", PRESENT, "extension").ours
    wide = one(rows, "NLU-V, 4 banks, 32-bit pushes", "area", "", PRESENT, "extension").ours
    assert narrow is not None
    assert wide is not None
    assert wide < 0.6 * narrow


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

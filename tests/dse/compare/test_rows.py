"""Rows and verdicts, with a closed-form evaluator in place of compiler and hardware."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from dse.compare.ledger import Ledger, Unit, parse_ledger
from dse.compare.report import comparison_text, page
from dse.compare.reproduce import reproduce
from dse.compare.rows import Row, compare, summarise
from dse.design import Design
from dse.evaluation import Evaluation
from dse.metrics import Quantity
from dse.space import Space
from dse.yaml_source import SourceError
from tests.dse.synthetic import VOCABULARY

LEDGER = """\
paper: demo2024
title: A demonstration
authors: Nobody
year: 2024
url: https://example.org
missing: [its figures 3 to 5]
sources:
  paper: {seen: its abstract, kind: printed}
  rtl: {seen: its RTL, kind: remeasured, how: Verilator}
entries:
  - {algorithm: aes, configuration: plain, metric: cycles, value: 1000, unit: cycles, per: block,
     core: icicle, source: rtl}
  - {algorithm: aes, configuration: unit, metric: cycles, value: 500, unit: cycles, per: block,
     core: icicle, source: rtl}
  - {algorithm: aes, configuration: unit, metric: cycles, value: 400, unit: cycles, per: block,
     core: scarv, source: paper}
  - {algorithm: aes, configuration: unit, metric: tap_code, value: 68, unit: "%", form: gain,
     relative_to: plain, per: block, source: paper, table: table 1}
  - {algorithm: aes, configuration: unit, metric: cycles, value: 1.9, unit: x, form: factor,
     relative_to: plain, per: block, source: paper}
  - {algorithm: aes, configuration: unit, metric: luts, value: 4520, unit: LUT, scope: extension,
     technology: Kintex-7, source: paper}
  - {algorithm: aes, configuration: unit, metric: tap_silicon_luts, value: 3.6, unit: ratio,
     form: ratio, relative_to: plain, per: block, source: rtl}
  - {algorithm: aes, configuration: unit, metric: data_bytes, value: 0, unit: bytes, source: rtl}
  - {algorithm: aes, configuration: other, metric: cycles, value: 1, unit: cycles, source: paper}
reproductions:
  - id: plain
    algorithm: aes
    configuration: plain
    per: block
    space:
      workloads: [{workload: aes128-encrypt, kernel: table}]
      core: {preset: icicle}
  - id: unit
    algorithm: aes
    configuration: unit
    per: block
    baselines: [plain]
    figures: [code_bytes]
    ratios: [cycles, instructions]
    note: a stand-in
    reasons: {cycles: our program differs}
    space:
      workloads: [{workload: aes128-encrypt, kernel: nluv}]
      core: {preset: icicle}
      instructions: {choose: [{nluv: {banks: 2}}]}
"""
PLAIN = {"cycles": 1100.0, "instructions": 900.0, "code_bytes": 600.0, "data_bytes": 400.0}
UNIT = {"cycles": 800.0, "instructions": 700.0, "code_bytes": 440.0, "data_bytes": 0.0}
AREAS = {"extension_area_ge": 9000.0, "tap_silicon_ge": 8e6}


def evaluation(design: Design, values: Mapping[str, float]) -> Evaluation:
    values = {
        **values,
        "tap_code": values["cycles"] * (values["code_bytes"] + values["data_bytes"]),
    }
    return Evaluation(design, True, "", {k: Quantity(v, "", "exact") for k, v in values.items()})


def evaluate(space: Space, design: Design) -> Evaluation:
    if design["kernel.aes128-encrypt"] == "nluv":
        assert (design["nluv"], design["nluv.banks"]) == (True, 2)
        return evaluation(design, {**UNIT, **AREAS})
    return evaluation(design, {**PLAIN, "tap_silicon_ge": 2e6})


def no_unit(_: Unit) -> Evaluation:
    raise AssertionError("there is no unit in this ledger")


@pytest.fixture
def ledger() -> Ledger:
    return parse_ledger(LEDGER, "demo.yaml")


@pytest.fixture
def rows(ledger: Ledger) -> list[Row]:
    return compare(ledger, reproduce(ledger, evaluate, VOCABULARY, no_unit))


def one(rows: list[Row], configuration: str, metric: str, **more: object) -> Row:
    (found,) = (
        row
        for row in rows
        if (row.configuration, row.metric) == (configuration, metric)
        and all(getattr(row, key) == value for key, value in more.items())
    )
    return found


def test_within_tolerance_agrees(rows: list[Row]) -> None:
    row = one(rows, "aes plain", "cycles")
    assert (row.published, row.ours, row.ratio, row.verdict) == (1000, 1100, 1.1, "agrees")
    assert row.source == "re-measured: its RTL (Verilator)"
    assert row.kind == "remeasured"


def test_outside_tolerance_differs_and_says_why(rows: list[Row]) -> None:
    row = one(rows, "aes unit", "cycles", kind="remeasured")
    assert (row.ratio, row.verdict) == (1.6, "differs")
    assert row.reason == "our program differs; a stand-in"


def test_another_host_core_is_not_compared(rows: list[Row]) -> None:
    row = one(rows, "aes unit", "cycles", kind="printed")
    assert (row.published, row.ours, row.ratio) == (400, 800, None)
    assert row.verdict == "not comparable"
    assert row.reason.startswith("unlike host core: icicle and scarv; ")


def test_a_gain_is_compared_as_a_ratio(rows: list[Row]) -> None:
    row = one(rows, "aes unit over plain", "tap_code")
    assert (row.published, row.unit) == (0.32, "ratio")
    assert row.ours == pytest.approx(800 * 440 / (1100 * 1000))
    assert (row.ratio, row.verdict) == (pytest.approx(1.0), "agrees")
    assert row.source == "printed: its abstract, table 1; stands there as gain of 68 %"


def test_time_area_products_have_the_narrow_tolerance(ledger: Ledger) -> None:
    def slower(space: Space, design: Design) -> Evaluation:
        is_unit = design["kernel.aes128-encrypt"] == "nluv"
        return evaluation(design, {**UNIT, "cycles": 960.0} if is_unit else PLAIN)

    found = compare(ledger, reproduce(ledger, slower, VOCABULARY, no_unit))
    row = one(found, "aes unit over plain", "tap_code")
    assert (row.ratio, row.verdict) == (pytest.approx(1.2), "differs")
    assert row.reason == "outside 15%, and no cause is written down; a stand-in"


def test_a_speed_up_is_compared_as_a_speed_up(rows: list[Row]) -> None:
    row = one(rows, "aes unit over plain", "cycles", kind="printed")
    assert (row.published, row.unit, row.verdict) == (1.9, "x", "differs")
    assert row.ours == pytest.approx(1100 / 800)


def test_a_ratio_is_derived_from_absolute_figures_of_one_definition(rows: list[Row]) -> None:
    row = one(rows, "aes unit over plain", "cycles", kind="remeasured")
    assert (row.published, row.ours) == (0.5, pytest.approx(800 / 1100))
    assert row.source == "ratio of absolute figures, re-measured: its RTL (Verilator)"


def test_a_ratio_that_is_not_published_stands_alone(rows: list[Row]) -> None:
    row = one(rows, "aes unit over plain", "instructions")
    assert (row.published, row.ratio, row.verdict) == (None, None, "not comparable")
    assert row.ours == pytest.approx(700 / 900)
    assert row.reason == "no published figure; a stand-in"


def test_luts_stand_beside_gates_without_a_ratio(rows: list[Row]) -> None:
    row = one(rows, "aes unit", "luts")
    assert (row.published, row.ours, row.unit) == (4520, 9000, "LUT; ours GE")
    assert (row.ratio, row.verdict) == (None, "not comparable")
    assert row.reason.startswith("unlike metric: area and luts")


def test_unlike_products_stand_side_by_side(rows: list[Row]) -> None:
    row = one(rows, "aes unit over plain", "tap_silicon_luts")
    assert (row.published, row.ours, row.ratio) == (3.6, 4.0, None)
    assert row.reason.startswith("unlike metric: tap_silicon_ge and tap_silicon_luts")


def test_both_zero_agree(rows: list[Row]) -> None:
    row = one(rows, "aes unit", "data_bytes")
    assert (row.published, row.ours, row.ratio, row.verdict) == (0, 0, 1.0, "agrees")


def test_ours_beside_a_published_zero_differs(ledger: Ledger) -> None:
    def with_table(space: Space, design: Design) -> Evaluation:
        return evaluation(design, {**UNIT, "data_bytes": 256.0})

    found = compare(ledger, reproduce(ledger, with_table, VOCABULARY, no_unit))
    row = one(found, "aes unit", "data_bytes")
    assert (row.ratio, row.verdict) == (None, "differs")
    assert row.reason == "256 must not be divided by a figure of 0; a stand-in"


def test_extra_figures_have_no_published_side(rows: list[Row]) -> None:
    row = one(rows, "aes unit", "code_bytes")
    assert (row.published, row.ours, row.source) == (None, 440, "our model")


def test_an_infeasible_design_has_rows_without_figures(ledger: Ledger) -> None:
    def nothing(space: Space, design: Design) -> Evaluation:
        return Evaluation(design, False, "kernel nluv lacks nmu")

    found = compare(ledger, reproduce(ledger, nothing, VOCABULARY, no_unit))
    assert {row.verdict for row in found} == {"not comparable"}
    assert {row.ours for row in found} == {None}
    assert found[0].reason == "our design cannot be evaluated: kernel nluv lacks nmu"


def test_every_row_shows_its_source(rows: list[Row]) -> None:
    assert all(row.source and row.definition for row in rows)


def test_summary(rows: list[Row]) -> None:
    summary = summarise("demo2024", rows)
    assert summary.rows == len(rows) == 11
    assert summary.compared == 6
    assert summary.agreeing_share == pytest.approx(0.5)
    assert summary.worst == 1.6


def test_json_has_the_promised_keys(ledger: Ledger, rows: list[Row]) -> None:
    data = json.loads(comparison_text([(ledger, rows)], "json"))
    promised = {
        "paper", "configuration", "metric", "definition", "unit", "published", "ours", "ratio",
        "verdict", "reason", "source",
    }  # fmt: skip
    assert len(data["rows"]) == len(rows)
    assert all(promised <= set(row) for row in data["rows"])
    assert data["rows"][0]["paper"] == "demo2024"


def test_csv_has_a_line_a_row(ledger: Ledger, rows: list[Row]) -> None:
    found = list(csv.DictReader(io.StringIO(comparison_text([(ledger, rows)], "csv"))))
    assert [row["metric"] for row in found] == [row.metric for row in rows]
    assert one(rows, "aes unit", "luts").ratio is None
    assert [row["ratio"] for row in found if row["metric"] == "luts"] == [""]


@pytest.mark.parametrize("form", ["table", "md"])
def test_text_names_every_reason_and_source(form: str, ledger: Ledger, rows: list[Row]) -> None:
    text = comparison_text([(ledger, rows)], form)
    for row in rows:
        assert row.source in text
        assert row.reason in text
    assert "6 of 11 rows can be compared; 50% of them agree" in text
    assert "No design of ours stands for 1 more of its figures yet." in text
    assert "Not in the ledger: its figures 3 to 5." in text


def test_a_re_measured_figure_is_not_in_the_published_column(
    ledger: Ledger, rows: list[Row]
) -> None:
    lines = comparison_text([(ledger, rows)], "md").splitlines()
    header = next(line for line in lines if line.startswith("| configuration"))
    row = next(line for line in lines if line.startswith("| aes plain | cycles"))
    cells = dict(zip(header.split(" | "), row.split(" | "), strict=True))
    assert (cells["published"], cells["re-measured"], cells["ours"]) == ("", "1,000", "1,100")


def test_summary_text_lists_papers_without_a_design(ledger: Ledger, rows: list[Row]) -> None:
    bare = parse_ledger(LEDGER[: LEDGER.index("reproductions:")], "demo.yaml")
    text = comparison_text([(ledger, rows), (bare, [])], "md", is_summary=True)
    assert "| demo2024 | 11 | 6 | 50% |" in text
    assert "Figures recorded, no design of ours yet: demo2024 (9)." in text


def test_mistakes_in_a_reproduction_are_located_in_the_ledger() -> None:
    ledger = parse_ledger(LEDGER.replace("kernel: nluv", "kernel: nulv"), "demo.yaml")
    with pytest.raises(SourceError, match=r"did you mean 'nluv'\?") as caught:
        reproduce(ledger, evaluate, VOCABULARY, no_unit)
    (problem,) = caught.value.problems
    written = LEDGER.splitlines()[problem.line - 1][problem.column - 1 :]
    assert written.startswith("nluv}]")
    assert problem.message.startswith("reproductions.1.space: workloads.0.kernel: must be auto, ")


def test_a_reproduction_leaves_nothing_to_choose() -> None:
    text = LEDGER.replace("core: {preset: icicle}", "core: {pipeline: [3, 5]}", 1)
    ledger = parse_ledger(text, str(Path("demo.yaml")))
    expected = r"reproductions\.0\.space: must leave nothing to choose, not core\.pipeline$"
    with pytest.raises(SourceError, match=expected):
        reproduce(ledger, evaluate, VOCABULARY, no_unit)


MORE = """\
paper: more2024
title: A demonstration
authors: Nobody
year: 2024
url: https://example.org
sources:
  paper: {seen: its abstract, kind: printed}
entries:
  - {algorithm: two of three, configuration: unit, metric: cycles, value: 1.9, unit: x,
     form: factor, relative_to: plain, bound: max, source: paper}
  - {algorithm: aes, configuration: sized, metric: cycles, value: 790, unit: cycles,
     per: 16 bytes, core: icicle, source: paper}
  - {algorithm: aes, configuration: sized, metric: cycles, value: 1580, unit: cycles,
     per: 32 bytes, core: icicle, source: paper}
  - {algorithm: all, configuration: datapath, metric: area, value: 100, unit: GE, scope: unit,
     technology: nand2_cmos, source: paper}
  - {algorithm: all, configuration: datapath, metric: area, value: 120, unit: gates, scope: unit,
     technology: another, source: paper}
reproductions:
  - id: plain
    algorithm: aes
    configuration: plain
    space: {workloads: [{workload: aes128-encrypt, kernel: table}], core: {preset: icicle}}
  - id: bounded
    algorithm: aes
    published_as: two of three
    configuration: unit
    baselines: [plain]
    note: one of them
    space: {workloads: [{workload: aes128-encrypt, kernel: table}], core: {preset: icicle}}
  - id: sized
    algorithm: aes
    configuration: sized
    per: 16 bytes
    space: {workloads: [{workload: aes128-encrypt, kernel: table}], core: {preset: icicle}}
  - id: datapath
    algorithm: all
    configuration: datapath
    unit: {instructions: [aes32esi], circuits: {aes_sbox: table}}
"""


@pytest.fixture
def more() -> list[Row]:
    ledger = parse_ledger(MORE, "more.yaml")

    def price_unit(unit: Unit) -> Evaluation:
        assert (unit.xlen, unit.instructions) == (32, ["aes32esi"])
        area = Quantity(110.0, "GE", "synthesised")
        return Evaluation(Design({}), True, "", {"unit_area_ge": area})

    return compare(ledger, reproduce(ledger, evaluate, VOCABULARY, price_unit))


def test_the_most_of_several_is_shown_beside_each_and_compared_with_none(more: list[Row]) -> None:
    row = one(more, "aes unit over plain", "cycles")
    assert (row.published, row.ours) == (1.9, 1.0)
    assert (row.ratio, row.verdict) == (None, "not comparable")
    assert row.reason == "published is the most of several; one of them"


def test_of_figures_for_many_sizes_that_of_the_designs_size_is_taken(more: list[Row]) -> None:
    row = one(more, "aes sized", "cycles")
    assert (row.published, row.ours) == (790, 1100)


def test_a_unit_is_compared_in_its_own_technology(more: list[Row]) -> None:
    alike = one(more, "all datapath", "area", unit="GE")
    assert (alike.published, alike.ours, alike.verdict) == (100, 110, "agrees")
    other = one(more, "all datapath", "area", unit="gates; ours GE")
    assert (other.ratio, other.reason) == (None, "unlike unit: GE and gates")


def test_the_page_has_the_summary_and_every_row(ledger: Ledger, rows: list[Row]) -> None:
    text = page([(ledger, rows)], "ratios.svg")
    assert "](ratios.svg)" in text
    assert text.startswith("# Reproductions\n")
    assert "| demo2024 | " in text
    assert "\n## demo2024: " in text
    assert text.count("| aes ") == len(rows)

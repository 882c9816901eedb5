"""Ledgers: the schema, its located errors, and the bundled files."""

from __future__ import annotations

from pathlib import Path

import pytest

from dse.compare.ledger import (
    Ledger,
    LedgerError,
    find_paper,
    load_ledger,
    paper_names,
    parse_ledger,
)

GOOD = """\
paper: demo2024
title: A demonstration
authors: Nobody
year: 2024
url: https://example.org
sources:
  paper: {seen: its table 1, kind: printed}
entries:
  - {algorithm: aes128-encrypt, configuration: base, metric: cycles, value: 1000, unit: cycles,
     per: block, core: icicle, source: paper}
"""


def mistakes(text: str) -> list[str]:
    with pytest.raises(LedgerError, match=r"^demo\.yaml:") as caught:
        parse_ledger(text, "demo.yaml")
    return caught.value.lines()


def entry(**changes: str | None) -> str:
    """A file with one entry, some of its keys changed or left out (None)."""
    keys: dict[str, str | None] = {
        "algorithm": "aes128-encrypt", "configuration": "base", "metric": "cycles",
        "value": "1000", "unit": "cycles", "source": "paper", **changes,
    }  # fmt: skip
    written = ", ".join(f"{key}: {value}" for key, value in keys.items() if value is not None)
    return GOOD[: GOOD.index("  - {")] + f"  - {{{written}}}\n"


def test_good_file_is_read() -> None:
    ledger = parse_ledger(GOOD, "demo.yaml")
    assert ledger.paper == "demo2024"
    assert ledger.cite(ledger.file.entries[0]) == "printed: its table 1"


@pytest.mark.parametrize(
    ("changes", "key", "message"),
    [
        ({"source": None}, "", "entries.0: key 'source' must be given"),
        ({"unit": None}, "", "entries.0: key 'unit' must be given"),
        (
            {"source": "papre"},
            "source",
            "entries.0.source: must be paper, not 'papre'; did you mean 'paper'?",
        ),
        ({"unit": "ms"}, "unit", "entries.0.unit: cycles must be in cycles, not 'ms'"),
        ({"unit": '" "'}, "unit", "entries.0.unit: must be text, not empty"),
        ({"unit": "null"}, "unit", "entries.0.unit: must be text, not null"),
        ({"value": "many"}, "value", "entries.0.value: must be a number, not 'many'"),
        (
            {"metric": "area", "unit": "GE"},
            "",
            "entries.0: key 'technology' must be given, for area depends on it",
        ),
        (
            {"form": "factor", "unit": "x"},
            "",
            "entries.0: key 'relative_to' must be given, for the form is factor",
        ),
        (
            {"form": "gain", "relative_to": "rv32i"},
            "unit",
            "entries.0.unit: a gain must be in '%', not 'cycles'",
        ),
        (
            {"relative_to": "rv32i"},
            "relative_to",
            "entries.0.relative_to: must be left out, for the figure is absolute; give `form` "
            "otherwise",
        ),
        (
            {"metric": "code_bytes", "unit": "bytes", "per": "block"},
            "per",
            "entries.0.per: must be left out, for code_bytes is not of one run",
        ),
        (
            {"metric": "area", "unit": "GE", "technology": "ge", "scope": "unit",
             "key_schedule": "included"},
            "key_schedule",
            "entries.0.key_schedule: must be left out, for area has none",
        ),
    ],
)  # fmt: skip
def test_mistakes_in_an_entry_are_located(
    changes: dict[str, str | None], key: str, message: str
) -> None:
    text = entry(**changes)
    line = text.splitlines()[8]
    column = line.index(f"{key}: ") + len(key) + 3 if key else 5
    assert f"demo.yaml:9:{column}: error: {message}" in mistakes(text)


def test_unknown_metric_names_the_nearest() -> None:
    (line,) = mistakes(entry(metric="cycels"))
    assert line.startswith("demo.yaml:9:62: error: entries.0.metric: must be one of cycles, ")
    assert line.endswith("not 'cycels'; did you mean 'cycles'?")


def test_unknown_keys_name_the_nearest() -> None:
    (line,) = mistakes(GOOD.replace("per: block", "pre: block"))
    assert line.startswith(
        "demo.yaml:10:6: error: entries.0.pre: unknown key 'pre'; must be one of"
    )
    assert line.endswith("did you mean 'per'?")


def test_same_figure_twice_is_refused() -> None:
    line = GOOD[GOOD.index("  - {") :]
    expected = "demo.yaml:11:5: error: entries.1: is given twice (first as entries.0)"
    assert mistakes(GOOD + line.replace("1000", "1001")) == [expected]


def test_baseline_of_a_reproduction_must_exist() -> None:
    text = GOOD + (
        "reproductions:\n"
        "  - {id: a, algorithm: aes128-encrypt, configuration: base, space: {}, baselines: [b]}\n"
        "  - {id: c, algorithm: aes128-encrypt, configuration: base, space: {}}\n"
    )
    expected = "demo.yaml:12:84: error: reproductions.0.baselines.0: must be c, not 'b'"
    assert mistakes(text) == [expected]


def test_every_bundled_ledger_is_good_and_every_figure_has_its_source() -> None:
    names = paper_names()
    assert "nluv2024" in names
    assert len(names) >= 24
    total = 0
    for name in names:
        ledger = load_ledger(find_paper(name))
        assert ledger.paper == name
        for figure in ledger.file.entries:
            cited = ledger.cite(figure)
            assert ledger.file.sources[figure.source].seen in cited
            assert cited.startswith(("printed: ", "read from artefact: ", "re-measured: "))
        total += len(ledger.file.entries)
    assert total > 850


def test_unknown_paper_names_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"not 'nluv2023'; did you mean 'nluv2024'\?$"):
        find_paper("nluv2023")


def figure(ledger: Ledger, algorithm: str, configuration: str, metric: str) -> float:
    (found,) = (
        e.value
        for e in ledger.file.entries
        if (e.algorithm, e.configuration, e.metric, e.form, e.scope)
        == (algorithm, configuration, metric, "absolute", "")
    )
    return found


@pytest.mark.parametrize(
    ("algorithm", "gain", "fewer_lines"),
    [("aes128-encrypt", 68, 23), ("present80-encrypt", 89, 44)],
)
def test_nluv_figures_read_from_its_artefact_meet_its_abstract(
    algorithm: str, gain: int, fewer_lines: int
) -> None:
    """The printed gains follow, truncated, from the cycles and sizes of the published programs."""
    ledger = load_ledger(find_paper("nluv2024"))
    products = []
    for name in ("rv32i", "NLU-V"):
        size = figure(ledger, algorithm, name, "code_bytes")
        size += figure(ledger, algorithm, name, "data_bytes")
        assert size == figure(ledger, algorithm, name, "program_bytes")
        products.append(figure(ledger, algorithm, name, "cycles") * size)
        assert products[-1] == figure(ledger, algorithm, name, "tap_code")
    assert int(100 * (1 - products[1] / products[0])) == gain
    lines = [figure(ledger, algorithm, name, "code_lines") for name in ("rv32i", "NLU-V")]
    assert 100 * (1 - lines[1] / lines[0]) == pytest.approx(fewer_lines, abs=1)


def test_the_example_of_the_page_is_a_good_ledger() -> None:
    page = Path(__file__).parents[3] / "docs" / "papers.md"
    example = page.read_text().split("```yaml\n")[1].split("```")[0]
    ledger = parse_ledger(example, "own2026.yaml")
    assert [r.id for r in ledger.file.reproductions] == ["base", "unit"]


@pytest.mark.parametrize("body", ["", "    space: {}\n    unit: {instructions: [sm3p0]}\n"])
def test_a_reproduction_is_a_space_or_a_unit(body: str) -> None:
    head = "paper: a\ntitle: a\nauthors: a\nyear: 2024\nurl: a\nsources: {}\nreproductions:\n"
    text = f"{head}  - id: one\n    algorithm: a\n    configuration: b\n{body}"
    message = (
        r"^a.yaml:8:\d: error: reproductions.0: either key 'space' or key 'unit' must be given$"
    )
    with pytest.raises(LedgerError, match=message):
        parse_ledger(text, "a.yaml")

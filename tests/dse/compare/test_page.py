"""docs/reproductions.md, and the units that published counts are set beside."""

from __future__ import annotations

from pathlib import Path

import pytest

from dse.backend import Backend
from dse.compare.ledger import Ledger, Unit, find_paper, load_ledger, paper_names
from dse.compare.report import comparison_text, page
from dse.compare.reproduce import Reproduced, evaluator, reproduce
from dse.compare.rows import Row, compare
from dse.compare.unit import unit_pricer
from dse.design import Design
from dse.evaluation import Evaluation

PAGE = Path(__file__).parents[3] / "docs" / "reproductions.md"


REPRODUCED = [n for n in paper_names() if load_ledger(find_paper(n)).file.reproductions]


def summary_and_sections(text: str) -> tuple[str, dict[str, str]]:
    """What stands before the papers, and the section of each by its name, as written."""
    summary, *sections = text.rstrip("\n").split("\n\n## ")
    return summary, {s.split(":", 1)[0]: f"## {s}" for s in sections}


def not_evaluated(name: str) -> tuple[Ledger, list[Row]]:
    """A paper none of whose designs can be evaluated."""
    ledger = load_ledger(find_paper(name))
    failed = Evaluation(Design({}), feasible=False, reason="not evaluated here")
    reproduced = {r.id: Reproduced(r, failed, "ge", "a core") for r in ledger.file.reproductions}
    return ledger, compare(ledger, reproduced)


def test_the_page_is_put_together_as_the_command_does() -> None:
    """All but the rows, which `test_the_page_has_the_rows_of_a_paper` looks at paper by paper."""
    summary, sections = summary_and_sections(PAGE.read_text("utf-8"))
    written = page([not_evaluated(n) for n in paper_names()], "reproductions.svg")
    expected, others = summary_and_sections(written)
    assert list(sections) == list(others) == REPRODUCED

    def frame(text: str) -> list[str]:
        return [line for line in text.splitlines() if line.split(" | ")[0][2:] not in REPRODUCED]

    assert frame(summary) == frame(expected)
    assert len(summary.splitlines()) == len(frame(summary)) + len(REPRODUCED)
    for name, section in sections.items():
        assert section.splitlines()[0] == others[name].splitlines()[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", REPRODUCED)
def test_the_page_has_the_rows_of_a_paper(name: str, tmp_path: Path) -> None:
    """Regenerate it by `dse compare --all --output docs/reproductions.md`."""
    ledger = load_ledger(find_paper(name))
    backend = Backend()
    vocabulary = Backend.load(backend.vocabulary)
    price_unit = unit_pricer(backend, tmp_path)
    rows = compare(ledger, reproduce(ledger, evaluator(backend, tmp_path), vocabulary, price_unit))
    summary, sections = summary_and_sections(PAGE.read_text("utf-8"))
    assert sections[name] == comparison_text([(ledger, rows)], "md")
    (line,) = comparison_text([(ledger, rows)], "md", is_summary=True).splitlines()[2:]
    assert line in summary.splitlines()


def test_at_least_half_of_the_comparable_rows_of_each_paper_agree() -> None:
    summary = PAGE.read_text("utf-8").split("\n## ", 1)[0]
    rows = [
        line.strip("| ").split(" | ")
        for line in summary.splitlines()
        if "%" in line and "|" in line
    ]
    shares = {row[0]: int(row[3].strip().rstrip("%")) for row in rows if row[3].strip()}
    assert len(shares) >= 8
    assert min(shares.values()) >= 50, shares


@pytest.mark.parametrize("name", paper_names())
def test_no_figure_of_a_bundled_paper_is_used_without_its_source(name: str) -> None:
    """Whatever our designs do: here none of them can be evaluated."""
    ledger, rows = not_evaluated(name)
    seen = [source.seen for source in ledger.file.sources.values()]
    for row in rows:
        assert (row.published is None) == (row.source == "our model")
        assert row.published is None or any(where in row.source for where in seen)
    for form in ("table", "md"):
        text = "".join(comparison_text([(ledger, rows)], form, width=10_000).split())
        assert all("".join(row.source.split()) in text for row in rows)
    used = {row.published for row in rows if row.published is not None}
    assert bool(used) == bool(ledger.file.reproductions)


def test_a_unit_is_priced_once_and_then_read_from_the_cache(tmp_path: Path) -> None:
    """github.com/riscv/riscv-crypto counts 474 for its SM3 unit."""
    unit = Unit(instructions=["sm3p0", "sm3p1"])
    price = unit_pricer(Backend(version="1"), tmp_path)
    area = price(unit).metrics["unit_area_ge"]
    assert (area.unit, area.rung) == ("GE", "synthesised")
    assert area.value == pytest.approx(474, rel=0.1)
    assert unit_pricer(Backend(version="1"), tmp_path)(unit).metrics["unit_area_ge"] == area


def test_a_unit_of_unknown_instructions_is_refused(tmp_path: Path) -> None:
    priced = unit_pricer(Backend(version="1"), tmp_path)(Unit(instructions=["sm3p9"]))
    assert not priced.feasible
    assert priced.reason.startswith("instruction must be one that exists on RV32, not 'sm3p9'")

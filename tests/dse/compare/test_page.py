"""docs/reproductions.md, and the units that published counts are set beside."""

from __future__ import annotations

from pathlib import Path

import pytest

from dse.backend import Backend
from dse.cli import run
from dse.compare.ledger import Unit, find_paper, load_ledger, paper_names
from dse.compare.unit import unit_pricer

PAGE = Path(__file__).parents[3] / "docs" / "reproductions.md"


def test_the_page_has_every_paper_that_designs_of_ours_stand_for() -> None:
    text = PAGE.read_text("utf-8")
    for name in paper_names():
        is_reproduced = bool(load_ledger(find_paper(name)).file.reproductions)
        assert (f"\n## {name}: " in text) == is_reproduced


@pytest.mark.slow
def test_the_page_is_what_the_command_writes(tmp_path: Path) -> None:
    """Regenerate it by `dse compare --all --output docs/reproductions.md`."""
    written = tmp_path / "page.md"
    arguments = ["compare", "--all", "--output", str(written), "--cache", str(tmp_path)]
    assert run(arguments) == 0
    assert written.read_text("utf-8") == PAGE.read_text("utf-8")


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

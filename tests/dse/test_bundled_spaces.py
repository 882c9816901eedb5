"""Every bundled space is sound, and docs/spaces.md says what its front shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from dse.space import load_space
from dse.vocabulary import Registries

ROOT = Path(__file__).parent.parent.parent
FILES = sorted((ROOT / "spaces").glob("*.yaml"))
PAGE = (ROOT / "docs" / "spaces.md").read_text()


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_bundled_space(file: Path) -> None:
    space = load_space(file, Registries())
    assert space.name == file.stem
    assert space.search.trials <= space.raw_size
    assert f"**{file.stem}**:" in PAGE


def test_objectives_of_every_kind_are_shown() -> None:
    shown = {o.metric for f in FILES for o in load_space(f, Registries()).objectives}
    assert shown >= {"time_ns", "area_ge", "code_bytes", "geomean_speedup", "luts"}

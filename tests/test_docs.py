"""The how-tos work as written: their files are made, their snippets run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").glob("add-*.md"))
BLOCK = re.compile(r"<!-- (file: (?P<file>\S+)|run) -->\n```python\n(?P<code>.*?)```", re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_how_to(page: Path, tmp_path: Path) -> None:
    for room in ("isa", "hw", "workloads"):
        target = tmp_path / room
        for file in (ROOT / room).rglob("*.py"):
            copy = target / file.relative_to(ROOT / room)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.symlink_to(file)
    blocks = list(BLOCK.finditer(page.read_text()))
    assert any(b["file"] for b in blocks)
    snippets = []
    for block in blocks:
        if block["file"]:
            new = tmp_path / block["file"]
            assert not (ROOT / block["file"]).exists(), "the page must describe a new file"
            new.write_text(block["code"])
        else:
            snippets.append(block["code"])
    assert snippets
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(snippets)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))])
def test_links_resolve(page: Path) -> None:
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_examples_run() -> None:
    for example in sorted((ROOT / "examples").glob("*.py")):
        done = subprocess.run(
            [sys.executable, example],
            cwd=ROOT,
            env={"PYTHONPATH": str(ROOT), "PATH": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr

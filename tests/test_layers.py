"""Imports point down: isa <- {hw, workloads} <- dse, and inside dse from room to room."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAY_IMPORT = {
    "isa": {"isa"},
    "hw": {"isa", "hw"},
    "workloads": {"isa", "workloads"},
    "dse": {"isa", "hw", "workloads", "dse"},
}
# of the rooms of dse, what knows nothing of whom
MAY_NOT_IMPORT = {
    "measure": {"learn", "show", "simulate", "propose", "compare", "commands"},
    "learn": {"show", "simulate", "propose", "compare", "commands"},
    "simulate": {"learn", "show", "propose", "compare", "commands"},
    "propose": {"learn", "compare", "commands"},
    "compare": {"commands"},
    "show": {"commands"},
}
FILES = [f for room in MAY_IMPORT for f in sorted((ROOT / room).rglob("*.py"))]


def imported(file: Path) -> list[tuple[int, str]]:
    found = []
    for n in ast.walk(ast.parse(file.read_text())):
        if isinstance(n, ast.Import):
            found += [(n.lineno, a.name) for a in n.names]
        elif isinstance(n, ast.ImportFrom) and n.module:
            found.append((n.lineno, n.module))
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(ROOT)))
def test_imports_point_down(file: Path) -> None:
    room = file.relative_to(ROOT).parts[0]
    for line, module in imported(file):
        top, *below = module.split(".")
        if top in MAY_IMPORT:
            assert top in MAY_IMPORT[room], f"{file}:{line}: {room} must not import {module}"
        inner = file.relative_to(ROOT).parts[1]
        if top == "dse" and below:
            refused = MAY_NOT_IMPORT.get(inner, set())
            assert below[0] not in refused, f"{file}:{line}: {inner} must not import {module}"

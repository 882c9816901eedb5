"""The instructions of a front for compilers and hardware tools."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dse.show.front_hardware import front_files
from dse.space import parse_space
from dse.vocabulary import REGISTRIES
from hw import icarus

SPACE = """
name: mine
workloads: [{workload: aes128-encrypt, kernel: ttable}]
instructions: {choose: [zkne, {nluv: {banks: [1, 2]}}]}
objectives: [cycles, area_ge]
"""


def files(name: str) -> dict[str, str]:
    """Files of a front of three designs: one extension, none, and one with state."""
    space = parse_space(SPACE, Path("space.yaml"), REGISTRIES)
    designs = [space.neutral.replace({e: True}) for e in ("zkne", "nluv")]
    rows = [
        SimpleNamespace(evaluation=SimpleNamespace(canonical=design))
        for design in (designs[0], space.neutral, designs[1])
    ]
    run: Any = SimpleNamespace(space=lambda vocabulary: space)
    front: Any = SimpleNamespace(rows=rows)
    return dict(front_files(run, front, name))


def test_instructions_of_all_designs_are_described_once() -> None:
    assert set(files("c")) == {"instructions32.h"}
    header = files("c")["instructions32.h"]
    assert header.count("#define aes32esmi(") == 1
    assert "/* nmu: " in header  # it has state
    assert files("opcodes")["instructions32.opcodes"].count("aes32esi rd rs1 rs2 bs") == 1
    assert "aes32esmi {" in files("coredsl")["instructions32.core_desc"]


@pytest.mark.tool
@pytest.mark.skipif(not icarus.available(), reason="needs iverilog")
def test_verilog_holds_one_extension_for_each_design_that_has_one(tmp_path: Path) -> None:
    written = files("verilog")
    assert set(written) == {"extension_1.v", "extension_3.v"}
    for name, text in written.items():
        (tmp_path / name).write_text(text)
    subprocess.run(["iverilog", "-g2005", "-t", "null", *written], cwd=tmp_path, check=True)

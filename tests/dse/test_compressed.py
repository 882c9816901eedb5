"""Compressed instructions as an entry of a space."""

from __future__ import annotations

from pathlib import Path

import pytest

from dse.cache import Cache
from dse.evaluation import Evaluation
from dse.measure.evaluate import evaluate
from dse.space import load_space
from hw.composition import compose
from isa.core import Core
from isa.instruction_set import InstructionSet

SPACE = """
name: short
workloads: [aes128-encrypt]
core: {%s}
instructions: {base: rv32i, choose: [zbkb, zkne, %s]}
objectives: [tap_code, area_ge]
"""


def evaluated(folder: Path, core: str, entry: str, chosen: bool) -> Evaluation:
    file = folder / "short.yaml"
    file.write_text(SPACE % (core, entry))
    space = load_space(file)
    values = {"zkne": True, "zbkb": True, entry: chosen, "kernel.aes128-encrypt": "ttable"}
    return evaluate(space=space, design=space.neutral.replace(values), cache=Cache(None))


@pytest.mark.parametrize("entry", ["zca", "c"])
def test_it_shortens_code_and_costs_area(entry: str, tmp_path: Path) -> None:
    with_, without = (evaluated(tmp_path, "pipeline: 3", entry, on) for on in (True, False))
    assert with_.feasible, with_.reason
    assert (with_.canonical[entry], without.canonical[entry]) == (True, False)
    assert (with_.canonical["zkne"], with_.canonical["zbkb"]) == (True, False)
    assert with_.metrics["code_bytes"].value < 0.9 * without.metrics["code_bytes"].value
    assert with_.metrics["cycles"].value == without.metrics["cycles"].value
    assert with_.metrics["area_ge"].value > without.metrics["area_ge"].value + 500


def test_a_core_without_them_makes_the_design_infeasible(tmp_path: Path) -> None:
    found = evaluated(tmp_path, "preset: icicle", "zca", True)
    assert not found.feasible
    assert found.reason.startswith("instructions of core icicle must have 32 bits, not 16")


@pytest.mark.parametrize("stages", [2, 3, 5])
def test_area_of_buffer_and_expander(stages: int) -> None:
    core = Core(pipeline=stages)
    plain = compose(core, InstructionSet.of(32, "rv32i"), rung="estimate")
    short = compose(core, InstructionSet.of(32, "rv32i", "zca"), rung="estimate")
    assert short.core_area_ge == plain.area_ge
    assert short.extension_ffs == (19 if stages == 5 else 18)
    assert 800 < short.extension_area_ge < 1600

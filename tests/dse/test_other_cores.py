"""A core's timing parameters change prices, not runs, unless its programs are scheduled anew."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import Any

import pytest

import workloads
from dse.cache import Cache
from dse.measure import execution
from dse.measure.measurement import measure
from dse.measure.target import Target
from hw.technology import technology
from isa.core import PRESETS, Core
from isa.instruction_set import InstructionSet
from isa.machine import Machine

CORES = (Core(pipeline=3), Core(pipeline=2), Core(branch="decode"), PRESETS["icicle"])


def test_another_core_executes_nothing_and_counts_as_a_fresh_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workload = workloads.get("present80-encrypt")
    kernel = next(iter(workload.kernels))
    on = Target(InstructionSet.of(32, "rv32i"), Core(), (), (), 1, technology("ge"))
    fresh = {}
    for core in CORES:
        monkeypatch.setattr(execution, "_EXECUTED", OrderedDict())
        fresh[core] = measure(workload, kernel, replace(on, core=core), {}, Cache(None)).cycles

    cache = Cache(None)
    monkeypatch.setattr(execution, "_EXECUTED", OrderedDict())
    measure(workload, kernel, on, {}, cache)

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a program was executed again")

    monkeypatch.setattr(Machine, "run", refuse)
    monkeypatch.setattr(Machine, "run_tracked", refuse)
    priced = {c: measure(workload, kernel, replace(on, core=c), {}, cache).cycles for c in CORES}
    assert priced == fresh
    assert len(set(priced.values())) > 2

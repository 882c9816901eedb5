"""Designs with a co-processor: read, reduced, evaluated and confirmed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from dse.cache import Cache
from dse.coprocessor import untimed
from dse.design import Design, Value
from dse.measure import execution
from dse.measure.evaluate import evaluate
from dse.measure.verify import confirm
from dse.space import Space, parse_space
from hw.coprocessors.model import Model
from hw.coprocessors.parameters import Coprocessor

TEXT = """
name: x
workloads:
  - {workload: sha256, bytes: 120, kernel: [rolling, coprocessor]}
  - {workload: haraka256, weight: 2, kernel: [sbox, coprocessor]}
coprocessor:
  - null
  - width: [64, 32]
    buffer_words: [16, 32]
    double_buffer: [false, true]
    mover: [cpu, dma]
    bus_width: [32, 64]
    burst_length: [1, 4, 8, 16]
    bus_latency: [1, 3]
    aes_sbox: [boyar_peralta, table]
    attachment: [commands, mapped]
"""
BOTH = {"coprocessor": True, "kernel.sha256": "coprocessor", "kernel.haraka256": "coprocessor"}


@pytest.fixture(scope="module")
def space() -> Space:
    return parse_space(TEXT, Path("x.yaml"))


@pytest.fixture(scope="module")
def cache() -> Cache:
    return Cache(None)


def design(space: Space, changes: Mapping[str, Value]) -> Design:
    return space.reduce(space.neutral.replace(changes))


@pytest.mark.parametrize(
    ("changes", "idle"),
    [
        # nothing to do: no co-processor, and none of its parameters
        ({"coprocessor": True, "coprocessor.width": 32}, {"coprocessor", "coprocessor.width"}),
        # a driver needs the co-processor
        ({"kernel.sha256": "coprocessor"}, {"kernel.sha256"}),
        # the CPU moves the data: no bus
        (
            {**BOTH, "coprocessor.bus_width": 64, "coprocessor.burst_length": 4},
            {"coprocessor.bus_width", "coprocessor.burst_length"},
        ),
        ({**BOTH, "coprocessor.bus_latency": 3}, {"coprocessor.bus_latency"}),
        # the window waits for the bus
        ({**BOTH, "coprocessor.attachment": "mapped", "coprocessor.bus_latency": 3}, set()),
        # no AES
        (
            {
                "coprocessor": True,
                "kernel.sha256": "coprocessor",
                "coprocessor.aes_sbox": "table",
            },
            {"coprocessor.aes_sbox"},
        ),
        ({**BOTH, "coprocessor.aes_sbox": "table"}, set()),
    ],
)
def test_what_makes_no_difference_is_neutral(
    space: Space, changes: dict[str, Value], idle: set[str]
) -> None:
    asked = space.neutral.replace(changes)
    found = space.reduce(asked)
    assert {n for n in found if found[n] != asked[n]} == idle
    assert all(found[n] == space.neutral[n] for n in idle)


def test_choices_that_build_the_same_are_one_design(space: Space) -> None:
    double = {"coprocessor.double_buffer": True, "coprocessor.bus_width": 64}
    dma = {**BOTH, **double, "coprocessor.mover": "dma", "coprocessor.buffer_words": 16}
    sixteen = design(space, {**dma, "coprocessor.burst_length": 16})  # half a buffer is 8 beats
    eight = design(space, {**dma, "coprocessor.burst_length": 8})
    assert sixteen == eight != design(space, dma)


def test_the_buffer_is_part_of_the_answers_where_blocks_have_outputs() -> None:
    found = {
        name: {
            untimed(Coprocessor((name,), buffer_words=n, double_buffer=d, stages=s))
            for n, d, s in ((32, False, 1), (64, True, 3), (512, True, 2))
        }
        for name in ("sha256", "shake128", "ghash", "aes128-encrypt", "haraka512")
    }
    assert [len(members) for members in found.values()] == [1, 1, 1, 3, 3]


def test_evaluation_joins_program_core_and_coprocessor(space: Space, cache: Cache) -> None:
    software = evaluate(space=space, design=design(space, {}), cache=cache)
    found = evaluate(space=space, design=design(space, BOTH), cache=cache)
    assert found.feasible
    metric = {name: quantity.value for name, quantity in found.metrics.items()}
    parts = ("core_area_ge", "extension_area_ge", "coprocessor_area_ge")
    assert metric["area_ge"] == pytest.approx(sum(metric[part] for part in parts))
    assert metric["ffs"] == metric["core_ffs"] + metric["coprocessor_ffs"]
    assert metric["cycles"] < software.metrics["cycles"].value / 10
    assert metric["critical_path_fo4"] >= software.metrics["critical_path_fo4"].value
    assert 0 < metric["unit_utilisation"] < 1
    assert "coprocessor_area_ge" not in software.metrics
    cycles = [found.workloads[n]["cycles"] for n in ("sha256", "haraka256")]
    assert metric["cycles"] == cycles[0] + 2 * cycles[1]
    alone = design(space, {**BOTH, "kernel.haraka256": "sbox"})
    smaller = evaluate(space=space, design=alone, cache=cache)
    assert smaller.metrics["coprocessor_area_ge"].value < metric["coprocessor_area_ge"] - 5000


@pytest.mark.parametrize(
    "changes",
    [
        {"coprocessor.mover": "dma", "coprocessor.burst_length": 4, "coprocessor.bus_width": 64},
        pytest.param({}, marks=pytest.mark.slow),
        pytest.param(
            {"coprocessor.attachment": "mapped", "kernel.haraka256": "sbox"},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_netlist_confirms_the_cycles(space: Space, cache: Cache, changes: dict[str, Value]) -> None:
    chosen = design(space, {**BOTH, **changes})
    found = evaluate(space=space, design=chosen, cache=cache)
    verdict = confirm(space=space, design=found.canonical, cache=cache)
    assert verdict.ok, verdict.reason
    assert verdict.shortened == {}
    assert verdict.netlist_cycles == sum(w["cycles"] for w in found.workloads.values())


def test_a_confirmation_says_which_messages_were_shorter() -> None:
    text = """
name: x
workloads: [{workload: sha256, bytes: 1000, kernel: coprocessor}]
coprocessor: {mover: dma}
"""
    space = parse_space(text, Path("x.yaml"))
    verdict = confirm(space=space, design=design(space, {}))
    assert verdict.ok, verdict.reason
    assert verdict.shortened == {"sha256": 256 + 1000 % 256}


def test_a_driver_with_a_wrong_answer_has_no_metrics(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Wrong(Model):
        def _taken(self, offset: int) -> int:
            return super()._taken(offset) ^ 1

    monkeypatch.setattr(execution, "Model", Wrong)
    monkeypatch.setattr(execution, "_EXECUTED", type(execution._EXECUTED)())
    found = evaluate(space=space, design=design(space, BOTH), cache=Cache(None))
    assert not found.feasible
    assert not found.metrics
    assert found.reason.startswith("sha256 (coprocessor) must give ")


def test_a_buffer_smaller_than_two_blocks_is_infeasible(space: Space, cache: Cache) -> None:
    text = TEXT.replace("sha256, bytes: 120, kernel: [rolling", "sha512, kernel: [plain")
    other = parse_space(text, Path("x.yaml"))
    changes = {"coprocessor": True, "kernel.sha512": "coprocessor"}
    small = design(other, {**changes, "coprocessor.double_buffer": True})
    found = evaluate(space=other, design=small, cache=cache)
    assert not found.feasible
    assert found.reason == (
        "coprocessor: buffer_words must be at least 32 to hold two blocks of sha512, not 16"
    )


def test_several_sizes_of_a_workload_have_names_of_their_own() -> None:
    text = """
name: x
workloads:
  - {workload: sha256, bytes: 64, weight: 3}
  - {workload: sha256, bytes: 1480}
coprocessor: {buffer_words: 32}
"""
    space = parse_space(text, Path("x.yaml"))
    assert [use.workload for use in space.workloads] == ["sha256@64", "sha256@1480"]
    chosen = {f"kernel.{use.workload}": "coprocessor" for use in space.workloads}
    found = evaluate(space=space, design=design(space, chosen), cache=Cache(None))
    assert found.feasible
    small, large = (found.workloads[use.workload]["cycles"] for use in space.workloads)
    assert found.metrics["cycles"].value == 3 * small + large


@pytest.mark.parametrize(
    ("core", "coprocessor", "reason"),
    [
        (
            "{memory_latency: 2}",
            "{mover: dma}",
            "coprocessor: mover dma needs data memory with a port of its own that answers in the "
            "next cycle, not memory=separate and memory_latency=2",
        ),
        (
            "{memory: shared}",
            "{attachment: mapped}",
            "coprocessor: attachment mapped needs data memory with a port of its own that answers "
            "in the next cycle, not memory=shared and memory_latency=1",
        ),
        (
            "{preset: icicle}",
            "{width: 64}",
            "coprocessor: core must be one of parameters, not icicle",
        ),
    ],
)
def test_a_core_that_cannot_host_is_infeasible(core: str, coprocessor: str, reason: str) -> None:
    text = f"""
name: x
workloads: [{{workload: sha256, kernel: coprocessor}}]
core: {core}
coprocessor: {coprocessor}
"""
    space = parse_space(text, Path("x.yaml"))
    found = evaluate(space=space, design=design(space, {}), cache=Cache(None))
    assert (found.feasible, found.reason) == (False, reason)


@pytest.mark.parametrize("kernel", ["coprocessor", "[rolling, coprocessor]"])
def test_the_baseline_has_a_coprocessor_where_nothing_else_will_do(kernel: str) -> None:
    text = f"""
name: x
workloads: [{{workload: sha256, kernel: {kernel}}}]
coprocessor: [null, {{width: 64}}]
"""
    space = parse_space(text, Path("x.yaml"))
    is_driven = kernel == "coprocessor"
    assert space.baseline["coprocessor"] is is_driven
    without = space.neutral.replace({"coprocessor": False, "kernel.sha256": "coprocessor"})
    found = evaluate(space=space, design=without, cache=Cache(None))
    reason = "coprocessor must be true for a kernel that drives one" if is_driven else ""
    assert (found.feasible, found.reason) == (not is_driven, reason)


def test_a_point_that_describes_a_coprocessor_has_it() -> None:
    point = "points: {paper: {coprocessor: {mover: dma}, kernel: {sha256: coprocessor}}}"
    space = parse_space(f"{TEXT}{point}\n", Path("x.yaml"))
    found = design(space, space.points["paper"])
    assert (found["coprocessor"], found["coprocessor.mover"]) == (True, "dma")

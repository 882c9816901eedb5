from __future__ import annotations

from pathlib import Path

import pytest

from dse.cache import Cache
from dse.evaluation import Evaluation
from dse.evaluator import relate
from dse.measure import switching
from dse.measure.evaluate import evaluate
from dse.metrics import METRICS
from dse.space import Space, parse_space

TEXT = """
name: energy
workloads: [{workload: chacha20-block}]
core: {pipeline: [3]}
instructions: {base: rv32i, choose: [zbkb]}
objectives: [cycles, energy_rel]
search: {trials: 2}
"""


def space(text: str = TEXT) -> Space:
    return parse_space(text, Path("x.yaml"))


def evaluated(of: Space, **choices: bool) -> Evaluation:
    return evaluate(space=of, design=of.neutral.replace(choices), cache=Cache(None))


def test_rotations_in_one_instruction_save_energy() -> None:
    with_rotations, plain = evaluated(space(), zbkb=True), evaluated(space(), zbkb=False)
    assert relate(plain, plain).metrics["energy_rel"].value == 1
    ratio = relate(with_rotations, plain).metrics["energy_rel"]
    cycles = with_rotations.metrics["cycles"].value / plain.metrics["cycles"].value
    # Fewer cycles, each of which switches a little more than one of the plain core.
    assert 0.9 * cycles < ratio.value < 1.3 * cycles < 1
    assert (ratio.unit, ratio.error) == ("", switching.ERROR)


def with_coprocessor(weight: int) -> Space:
    return space(
        "name: energy\nobjectives: [cycles, energy_rel]\n"
        "workloads:\n  - {workload: sha256, bytes: 32, kernel: [rolling, coprocessor]}\n"
        f"  - {{workload: sm4-encrypt, weight: {weight}}}\n"
        "core: {pipeline: [3]}\ncoprocessor: {stages: [1]}\ninstructions: {base: rv32i}\n"
    )


@pytest.mark.slow
def test_a_coprocessor_saves_energy_where_it_works_and_costs_some_where_it_is_idle() -> None:
    def switched(weight: int, **choices: bool | str) -> float:
        of = with_coprocessor(weight)
        found = evaluate(space=of, design=of.neutral.replace(choices), cache=Cache(None))
        return found.metrics["switched"].value

    driven: dict[str, bool | str] = {"coprocessor": True, "kernel.sha256": "coprocessor"}
    idle = switched(2, **driven) - switched(1, **driven)  # one more block of SM4, on the core
    plain = switched(2) - switched(1)
    assert plain < idle
    assert switched(1, **driven) - idle < (switched(1) - plain) / 2


def test_a_request_is_part_of_what_an_evaluation_depends_on() -> None:
    without = space(TEXT.replace("energy_rel", "area_ge"))
    bound = space(TEXT.replace("energy_rel", "area_ge") + 'constraints: {energy_rel: "<= 1"}\n')
    assert space().evaluation_digest == bound.evaluation_digest != without.evaluation_digest
    assert METRICS["energy_rel"].is_relative
    assert METRICS["energy_rel"].is_minimised


def test_what_cannot_be_simulated_is_infeasible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switching, "LIMIT_CYCLES", 20)
    found = evaluated(space())
    assert found.reason.startswith("energy of chacha20-block: netlist must reach a host call")

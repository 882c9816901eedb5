"""The netlist of the icicle preset: published measurements, and any program as the model says."""

from __future__ import annotations

import pytest

from hw.area import estimate
from hw.core import core_block
from hw.cosim import Netlist
from hw.technology import technology
from isa.core import PRESETS, Core
from isa.instruction_set import InstructionSet, load_extension
from tests.cosim.test_configurations import check
from tests.isa.test_icicle import BODIES, INSTRUCTIONS, repeated, steady

ICICLE = PRESETS["icicle"]
MEASURED = Netlist(ICICLE, INSTRUCTIONS)
FEW = ("F", "lw", "sw", "sw;sw;sw;F", "lw;beq taken on x5", "nldnl")


@pytest.mark.parametrize(
    "name", [*FEW, *(pytest.param(n, marks=pytest.mark.slow) for n in BODIES if n not in FEW)]
)
def test_micro_benchmark_on_the_netlist(name: str) -> None:
    body, measured = BODIES[name]
    program = repeated(body)
    assert steady(program, MEASURED.run(program).retirements) == measured


@pytest.mark.parametrize("latencies", [{}, {"nmu": 3, "rol": 2}], ids=["quick", "slow"])
def test_random_programs(latencies: dict[str, int]) -> None:
    instructions = InstructionSet.of(32, "rv32i", "zbkb", load_extension("nluv", banks=1))
    netlist = Netlist(ICICLE, instructions, latencies)
    assert sum(check(netlist, seed, 200) for seed in range(2)) > 150


def test_it_is_priced_as_itself() -> None:
    base, ge = InstructionSet.of(32, "rv32i"), technology("ge")
    own = estimate(core_block(ICICLE, base), ge)
    shared = estimate(core_block(Core(forwarding=False, memory="shared"), base), ge)
    assert own.ffs == shared.ffs + 4  # the turns of the port
    assert 0 < own.area_ge - shared.area_ge < 300

"""The parts of a design cost what the design costs."""

from __future__ import annotations

import pytest

from hw.composition import compose, memory_starts
from hw.joined import join
from hw.technology import technology
from isa.core import Core
from isa.instruction_set import InstructionSet

GE = technology("ge")
ZBKB = InstructionSet.of(32, "rv32i", "zbkb")


@pytest.mark.parametrize("rung", ["mapped", "synthesised"])
def test_the_composition_is_within_its_error_of_the_joined_netlist(rung: str) -> None:
    hardware = compose(Core(), ZBKB, rung=rung)
    whole = join(hardware, Core(), ZBKB)
    assert hardware.latencies == {}
    assert hardware.rung == rung
    assert abs(whole.area_error) < hardware.area_error
    assert whole.area_ge == pytest.approx(hardware.area_ge / (1 + whole.area_error))
    assert whole.period_fo4 is not None
    assert whole.period_error is not None
    assert abs(whole.period_error) < hardware.delay_error
    # The period holds the access to both memories and the flip-flop's own time.
    assert whole.period_fo4 > max(memory_starts(GE).values()) + GE.sequential_fo4


def test_a_unit_of_several_cycles_has_no_single_cycle_period() -> None:
    instructions = InstructionSet.of(32, "rv32i", "zkne")
    circuits = (("aes_sbox", "composite"),)
    hardware = compose(Core(), instructions, circuits)
    assert hardware.latencies["aes32esmi"] > 1
    whole = join(hardware, Core(), instructions, circuits)
    assert (whole.period_fo4, whole.period_error) == (None, None)
    assert abs(whole.area_error) < hardware.area_error


@pytest.mark.slow
def test_the_luts_of_the_parts_are_those_of_the_whole() -> None:
    xc7 = technology("xc7")
    circuits = (("aes_sbox", "table"),)
    instructions = InstructionSet.of(32, "rv32i", "zkne")
    hardware = compose(Core(), instructions, circuits, technology=xc7)
    whole = join(hardware, Core(), instructions, circuits, xc7)
    assert whole.luts is not None
    assert whole.luts > 700
    # Far within the error of single modules: that of a core is small.
    assert whole.luts_error == pytest.approx(0, abs=0.1)
    assert (whole.period_fo4, whole.period_error) == (None, None)

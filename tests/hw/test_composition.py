"""Composition of cores with other parameters than the default ones."""

from __future__ import annotations

import pytest

from hw.composition import compose, memory_access, memory_period, memory_starts
from hw.technology import technology
from isa.core import Core
from isa.instruction_set import InstructionSet
from isa.iterative import operation_of

GE = technology("ge")
RV32, RV64 = InstructionSet.of(32, "rv32i"), InstructionSet.of(64, "rv64i")


def test_rv64_is_priced_with_its_register_file_and_memory() -> None:
    narrow = compose(Core(), RV32, rung="estimate")
    wide = compose(Core(xlen=64), RV64, rung="estimate")
    assert 1.9 < wide.area_ge / narrow.area_ge < 2.3
    assert narrow.period_fo4 < wide.period_fo4 < 1.3 * narrow.period_fo4
    zkn = InstructionSet.of(64, "rv64i", "zknd", "zkne")
    extended = compose(Core(xlen=64), zkn, (("aes_sbox", "low_depth"),), rung="estimate")
    assert extended.core_area_ge == wide.core_area_ge
    assert extended.extension_area_ge > 3000


def test_a_slow_memory_leaves_the_paths_of_the_core() -> None:
    quick, slow, slower = (Core(memory_latency=n) for n in (1, 2, 3))
    assert memory_starts(GE, slow) == {"imem_word": 0.0, "dmem_word": 0.0}
    assert memory_starts(GE, quick) == memory_access(GE, quick) == memory_starts(GE)
    assert memory_period(GE, quick) == 0.0
    assert memory_period(GE, slow) == 2 * memory_period(GE, slower) > GE.sequential_fo4
    assert compose(slow, RV32, rung="estimate").period_fo4 > memory_period(GE, slow)


def test_a_shared_memory_is_larger_and_slower() -> None:
    shared, separate = Core(memory="shared"), Core()
    access = memory_access(GE, shared)
    assert list(access) == ["dmem_word"]
    assert access["dmem_word"] > max(memory_access(GE, separate).values())


def test_third_read_port_and_units_that_read_it() -> None:
    two, three = (compose(Core(read_ports=n), RV32, rung="estimate") for n in (2, 3))
    assert 2000 < three.area_ge - two.area_ge < 4000
    ternary = compose(Core(read_ports=3), InstructionSet.of(32, "rv32i", "xzbt"), rung="estimate")
    assert ternary.core_area_ge == three.area_ge
    assert {"cmix", "fsl"} <= set(ternary.unit_path_fo4)


@pytest.mark.parametrize("bits", [2, 32])
def test_iterative_units_are_no_slot_units(bits: int) -> None:
    core = Core(multiplier=bits, divider=1)
    instructions = InstructionSet.of(32, "rv32i", "m", "zbkb")
    hardware = compose(core, instructions, rung="estimate")
    assert set(hardware.unit_path_fo4) == {
        i.name for i in instructions.extension("zbkb") if not operation_of(core, i)
    }
    assert hardware.latencies == {}
    assert hardware.extension_area_ge > 4000

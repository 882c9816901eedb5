"""The exported Verilog of cores in Icarus, against the netlist, cycle by cycle."""

from __future__ import annotations

import pytest

from hw.cosim import compare
from tests.cosim.random_program import random_program
from tests.cosim.test_configurations import CORES, netlist
from tests.hw.traces import icarus_trace, needs_icarus, pyrtl_trace


@pytest.mark.slow
@needs_icarus
@pytest.mark.parametrize("name", list(CORES)[1::4])
def test_exported_core_retires_as_the_netlist(name: str) -> None:
    on = netlist(name)
    program, args = random_program(on.instructions, 5, 200), [3, 5, 7, 9]
    result = compare(on, program, args)
    assert result.equal, result.difference
    cycles: list[dict[str, int]] = [{} for _ in range(result.cycles + 20)]
    contents = on.contents(program, args)
    expected = pyrtl_trace(on.built.block, cycles, contents)
    assert sum(cycle["retire_valid"] for cycle in expected) >= result.instructions
    assert icarus_trace(on.built.block, cycles, contents) == expected

from __future__ import annotations

import itertools
from collections.abc import Callable

import pyrtl
import pytest

from hw.area import bitblast
from hw.cosim import Netlist
from hw.energy import _FUNCTIONS, FLIP_FLOP_CLOCK, FLIP_FLOP_TOGGLE, Energy, energy, switched
from hw.graph import Graph
from hw.liberty import CELLS
from isa.assembler import assemble
from isa.core import Core
from isa.instruction_set import InstructionSet


def blast(build: Callable[[], None]) -> Graph:
    with pyrtl.temp_working_block():
        build()
        return bitblast(pyrtl.working_block())


def gate() -> None:
    output = pyrtl.Output(1, "y")
    output <<= pyrtl.Input(1, "a") ^ pyrtl.Input(1, "b")


def test_every_cell_computes_its_liberty_function() -> None:
    assert set(_FUNCTIONS) == {cell.name for cell in CELLS}
    for cell in CELLS:
        pins = [pin for pin, _ in cell.pins]
        python = f"({cell.function.replace('!', '~')}) & 1"
        for values in itertools.product((0, 1), repeat=len(pins)):
            expected = eval(python, dict(zip(pins, values, strict=True)))
            assert _FUNCTIONS[cell.name](1, *values) == expected, (cell.name, values)


def test_an_xor_switches_its_inputs_and_its_output() -> None:
    # XOR2: two input capacitances a pin, parasitic 4 (logical effort); three changes of a, one of
    # b, and the output changes in each of these but where both change.
    found = switched(blast(gate), {"a": [0, 1, 0, 1, 1], "b": [0, 0, 0, 1, 1]})
    assert found == Energy(5, 3 * 2.0 + 1 * 2.0 + 2 * 4.0, 0, 0, 0)
    still = switched(blast(gate), {"a": [1] * 4, "b": [0] * 4})
    assert still.total == 0


def test_a_counter_toggles_as_counters_do() -> None:
    def build() -> None:
        count = pyrtl.Register(8, "count")
        count.next <<= count + 1
        output = pyrtl.Output(8, "y")
        output <<= count

    found = switched(blast(build), {"count": list(range(256))})
    # Bit i of 0..255 changes floor(255 / 2^i) times.
    changes = sum(255 >> i for i in range(8))
    assert found.flip_flops == changes * FLIP_FLOP_TOGGLE
    assert found.clock == 2 * FLIP_FLOP_CLOCK * 8 * 256
    assert found.logic > 0
    assert found.register_file == 0


def test_a_trace_must_be_whole() -> None:
    with pytest.raises(
        ValueError,
        match=r"^trace must have a value of every source in every cycle, not \[2\] cycles and no",
    ):
        switched(blast(gate), {"a": [0, 1]})
    with pytest.raises(ValueError, match=r"not \[1, 2\] cycles and none of no source$"):
        switched(blast(gate), {"a": [0, 1], "b": [0]})


LOOP = """
_start: jal ra, kernel
        ebreak
kernel: addi t0, zero, {count}
        addi t1, zero, 0
again:  {body}
        addi t0, t0, -1
        bne t0, zero, again
        jalr zero, 0(ra)
"""


def run(body: str, count: int, argument: int) -> Energy:
    instructions = InstructionSet.of(32, "rv32i")
    program = assemble(LOOP.format(body=body, count=count), instructions)
    return energy(Netlist(Core(), instructions), program, [argument])


def test_more_iterations_and_livelier_data_switch_more() -> None:
    short, long = run("xor t1, t1, a0", 10, 0x5A5A5A5A), run("xor t1, t1, a0", 20, 0x5A5A5A5A)
    assert long.cycles > short.cycles
    assert long.total > 1.4 * short.total
    quiet = run("xor t1, t1, a0", 20, 0)
    assert quiet.cycles == long.cycles
    assert quiet.clock == long.clock
    assert quiet.logic < long.logic
    assert quiet.register_file < long.register_file


def test_the_window_is_the_kernel_alone() -> None:
    found = run("add t1, t1, a0", 1, 3)
    instructions = InstructionSet.of(32, "rv32i")
    program = assemble(LOOP.format(body="add t1, t1, a0", count=1), instructions)
    ran = Netlist(Core(), instructions).run(program, [3])
    # The cycle before the first of the kernel is there to tell what changes in it.
    assert found.cycles == ran.cycles(program.entry) + 1

"""Iterative multipliers and dividers: results, cycles and what they cost."""

from __future__ import annotations

from itertools import product

import pyrtl
import pytest

from hw.area import estimate
from hw.core import build_core, core_block
from hw.iterative import with_iterative_units
from hw.slot import Answer, Issue
from hw.technology import technology
from isa.assembler import assemble
from isa.bits import evaluate
from isa.core import Core
from isa.instruction import Instruction
from isa.instruction_set import InstructionSet
from isa.iterative import cycles_of, operation_of
from isa.machine import Machine
from isa.timing import price

GE = technology("ge")
SETS = {xlen: InstructionSet.of(xlen, f"rv{xlen}i", "m", "zbc") for xlen in (32, 64)}


def unit(core: Core, instructions: list[Instruction]) -> pyrtl.Block:
    """A slot with the iterative units alone."""
    with pyrtl.temp_working_block():
        zero = pyrtl.Const(0, core.xlen)
        rs1, rs2 = (pyrtl.Input(core.xlen, name) for name in ("rs1", "rs2"))
        instr, valid = pyrtl.Input(32, "instr"), pyrtl.Const(1, 1)
        issue = Issue(valid, valid, instr, rs1, rs2, None, zero, zero)
        answer = with_iterative_units(core, instructions, lambda i: Answer(i.result))(issue)
        assert answer.hold is not None
        for name, wire in (("value", answer.value), ("hold", answer.hold)):
            output = pyrtl.Output(len(wire), name)
            output <<= wire
        return pyrtl.working_block()


@pytest.mark.parametrize(
    ("xlen", "bits", "quotient"), [(32, 2, 1), (32, 8, 4), (32, 32, 2), (64, 16, 4), (64, 32, 2)]
)
def test_special_operands(xlen: int, bits: int, quotient: int) -> None:
    core = Core(xlen=xlen, multiplier=bits, carryless=bits, divider=quotient)
    executed = [i for i in SETS[xlen].instructions if operation_of(core, i)]
    assert len(executed) == {32: 11, 64: 16}[xlen]
    simulation = pyrtl.FastSimulation(tracer=None, block=unit(core, executed))
    top = 1 << (xlen - 1)
    values = [0, 3, top, 2 * top - 1, 0x80000000, 0xDEADBEEF | top >> 7]
    for instruction, (a, b) in product(executed, product(values, repeat=2)):
        operation = operation_of(core, instruction)
        assert operation is not None
        word = instruction.encode(rd=1, rs1=2, rs2=3)
        for cycle in range(cycles := cycles_of(core, operation[0])):
            simulation.step({"instr": word, "rs1": a, "rs2": b})
            assert simulation.inspect("hold") == (cycle < cycles - 1)
        rd = instruction.effects(xlen).rd
        assert rd is not None
        expected = evaluate(rd, {"rs1": a, "rs2": b})
        assert simulation.inspect("value") == expected, (instruction.name, hex(a), hex(b))


def test_cycles_by_hand() -> None:
    program = assemble("mul a2, a0, a1\n clmulh a3, a2, a1\n rem a4, a3, a1\n ebreak", SETS[32])
    run = Machine(SETS[32], program).run([7, 5])
    for pipeline in (2, 3, 5):
        core = Core(pipeline=pipeline, multiplier=8, carryless=32, divider=1)
        assert price(run.blocks, run.trace, core) == (4 + 1) + (1 + 1) + (32 + 2) + 1
    plain = Core(pipeline=3, forwarding=False, multiplier=8, carryless=32, divider=1)
    assert price(run.blocks, run.trace, plain) == 5 + 1 + 2 + 1 + 34 + 1


def test_more_bits_a_cycle_cost_more_area() -> None:
    m = InstructionSet.of(32, "rv32i", "m")
    base = estimate(core_block(Core(), InstructionSet.of(32, "rv32i")), GE).area_ge
    areas = [
        estimate(core_block(Core(multiplier=bits, divider=1), m), GE).area_ge
        for bits in (2, 4, 8, 16, 32)
    ]
    assert base + 1000 < areas[0]
    assert areas == sorted(areas)
    assert areas[-1] - base > 2 * (areas[0] - base)


def test_what_no_iterative_unit_does_goes_to_the_slot() -> None:
    core = Core(multiplier=4)
    mul, div = (SETS[32].by_name[name] for name in ("mul", "div"))
    assert operation_of(core, mul) == ("multiplier", "mul")
    assert operation_of(core, div) is None
    block = core_block(core, SETS[32])
    assert "unit_result" in {w.name for w in block.wirevector_subset(pyrtl.Input)}


def test_latency_of_an_iterative_unit_is_refused() -> None:
    with pytest.raises(ValueError, match="latency of mul must be left to the iterative unit that"):
        build_core(Core(multiplier=4), SETS[32], {"mul": 3})

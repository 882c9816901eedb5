"""Units of single instructions: netlist, PyRTL source and Verilog against the meaning."""

from __future__ import annotations

import random
from typing import Any

import pyrtl
import pytest

from hw import icarus
from hw.unit import build_unit, pyrtl_source, source_name
from hw.units import chosen_circuits
from hw.verilog import verilog
from isa.bits import Bits, evaluate
from isa.function import function_of
from isa.instruction import Instruction
from isa.instruction_set import extension_names, find_instruction, load_extension

STIMULI = 12


def stimuli(instruction: Instruction, xlen: int) -> list[dict[str, int]]:
    generator = random.Random(instruction.name)
    widths = dict.fromkeys(("rs1", "rs2", "rs3"), xlen)
    widths.update((i.name, i.width) for i in instruction.encoding.immediates)
    return [
        {p: generator.getrandbits(widths[p]) for p in instruction.parameters}
        for _ in range(STIMULI)
    ]


def expected(instruction: Instruction, xlen: int) -> list[int]:
    rd = function_of(instruction, xlen)
    assert isinstance(rd, Bits)
    return [evaluate(rd, values) for values in stimuli(instruction, xlen)]


def simulated(block: pyrtl.Block, inputs: list[dict[str, int]]) -> list[int]:
    with pyrtl.set_working_block(block, no_sanity_check=True):
        simulation = pyrtl.FastSimulation(block=block)
        found = []
        for values in inputs:
            simulation.step(values)
            found.append(simulation.inspect("rd"))
        return found


def from_source(instruction: Instruction, xlen: int) -> pyrtl.Block:
    """The block that the generated source builds."""
    scope: dict[str, Any] = {}
    exec(pyrtl_source(instruction, xlen), scope)  # our own text
    widths = dict.fromkeys(("rs1", "rs2", "rs3"), xlen)
    widths.update((i.name, i.width) for i in instruction.encoding.immediates)
    with pyrtl.temp_working_block():
        inputs = {p: pyrtl.Input(widths[p], p) for p in instruction.parameters}
        result = pyrtl.Output(xlen, "rd")
        result <<= scope[source_name(instruction)](**inputs)
        return pyrtl.working_block()


@pytest.mark.slow
@pytest.mark.parametrize("xlen", [32, 64])
def test_source_of_every_instruction_is_its_meaning(xlen: int) -> None:
    count = 0
    for name in extension_names():
        for instruction in load_extension(name).instructions:
            if xlen in instruction.xlens and function_of(instruction, xlen) is not None:
                inputs = stimuli(instruction, xlen)
                found = simulated(from_source(instruction, xlen), inputs)
                assert found == expected(instruction, xlen), instruction.name
                count += 1
    assert count > 100


@pytest.mark.parametrize("name", ["aes32esmi", "sha512sum0r", "rori", "xperm8", "fsr", "or"])
def test_source_is_the_meaning(name: str) -> None:
    instruction = find_instruction(name, 32)
    found = simulated(from_source(instruction, 32), stimuli(instruction, 32))
    assert found == expected(instruction, 32)


@pytest.mark.tool
@pytest.mark.skipif(not icarus.available(), reason="needs iverilog and vvp")
@pytest.mark.parametrize("name", ["aes32esmi", "sha512sum0r", "rori", "xperm8", "fsr"])
def test_verilog_unit_is_the_meaning(name: str) -> None:
    instruction = find_instruction(name, 32)
    circuits = chosen_circuits({"aes_sbox": "boyar_peralta"})
    block = build_unit(instruction, 32, circuits)
    module = verilog(block, f"unit_{name}")
    found = icarus.simulate(module, stimuli(instruction, 32))
    assert [values["rd"] for values in found] == expected(instruction, 32)


def test_what_is_no_function_has_no_unit() -> None:
    with pytest.raises(ValueError, match=r"^unit must compute rd from registers and immediates, "):
        build_unit(find_instruction("lw", 32), 32, {})

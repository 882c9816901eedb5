"""The expander against the expansions of the instruction set, on every halfword."""

from __future__ import annotations

import pyrtl
import pytest

from hw.core import core_block
from hw.expander import ONE, expanded, routes
from isa.core import Core
from isa.instruction_set import InstructionSet

SET = InstructionSet.of(32, "rv32i", "zca")
HALFWORDS = [h for h in range(1 << 16) if h & 3 != 3]


@pytest.mark.parametrize("xlen", [32, 64])
def test_routes_are_what_expanding_does(xlen: int) -> None:
    instructions = InstructionSet.of(xlen, f"rv{xlen}i", "zca")
    known = {
        c: routes(c, instructions.by_name[c.expansion].encoding) for c in instructions.compressed
    }
    for halfword in HALFWORDS:
        expansion = instructions.expand(halfword)
        if expansion is None:
            continue
        fits = [c for c in known if halfword & c.mask == c.match]
        route = known[max(fits, key=lambda c: c.mask.bit_count())]
        bits = [(r == ONE) if r < 0 else halfword >> r & 1 for r in route]
        word = sum(bit << i for i, bit in enumerate(bits))
        assert word == expansion[0].encode(**expansion[1]), hex(halfword)


def test_the_logic_expands_every_halfword() -> None:
    with pyrtl.temp_working_block():
        output = pyrtl.Output(32, "word")
        output <<= expanded(pyrtl.Input(16, "halfword"), SET)
        simulation = pyrtl.FastSimulation(tracer=None)
        for halfword in HALFWORDS:
            expansion = SET.expand(halfword)
            if expansion is not None:
                simulation.step({"halfword": halfword})
                word = expansion[0].encode(**expansion[1])
                assert simulation.inspect("word") == word, hex(halfword)


@pytest.mark.parametrize("stages", [2, 3, 5])
def test_cores_without_compressed_instructions_have_no_buffer(stages: int) -> None:
    plain = core_block(Core(pipeline=stages), InstructionSet.of(32, "rv32i"))
    short = core_block(Core(pipeline=stages), SET)
    names = [{w.name for w in b.wirevector_subset(pyrtl.Register)} for b in (plain, short)]
    added = {"fetch_have", "fetch_buffer", "ex_short"} | ({"id_short"} if stages == 5 else set())
    assert names[1] - names[0] == added
    assert names[0] <= names[1]

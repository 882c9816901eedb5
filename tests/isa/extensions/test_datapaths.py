"""Every register-to-register instruction as a netlist gives what its meaning gives."""

from __future__ import annotations

import random

import pyrtl
import pytest

from hw.lower import lower
from isa.bits import evaluate
from isa.instruction_set import extension_names, extension_parameters, load_extension

EXTENSIONS = [e for e in extension_names() if not extension_parameters(e)]


@pytest.mark.parametrize("name", EXTENSIONS)
def test_netlist(name: str) -> None:
    for i in load_extension(name).instructions:
        if i.extension != name:  # a bundle: its members have their own turn
            continue
        for xlen in i.xlens:
            effects = i.effects(xlen)
            if effects.rd is None or effects.next_pc:
                continue
            pyrtl.reset_working_block()
            widths = dict.fromkeys(("rs1", "rs2", "rs3", "pc"), xlen)
            widths |= {m.name: m.width for m in i.encoding.immediates}
            inputs = {p: pyrtl.Input(widths[p], p) for p in i.parameters}
            result = pyrtl.Output(xlen, "result")
            result <<= lower([effects.rd], inputs, {})[0]
            simulation = pyrtl.FastSimulation(tracer=None)
            rng = random.Random(f"{i.name} {xlen}")
            for _ in range(4):
                values = {p: rng.getrandbits(widths[p]) for p in i.parameters}
                simulation.step(values)
                assert simulation.inspect("result") == evaluate(effects.rd, values), (i, values)

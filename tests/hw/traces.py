"""Traces of a block in PyRTL's simulator and of its exported Verilog in Icarus."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pyrtl
import pytest

from hw import icarus
from hw.verilog import verilog

Trace = list[dict[str, int]]

needs_icarus = pytest.mark.skipif(
    not icarus.available(), reason="Icarus Verilog is not installed (apt-get install iverilog)"
)


def stimuli(block: pyrtl.Block, cycles: int, seed: int) -> list[dict[str, int]]:
    """Random values of every input, with all zeros and all ones among them."""
    rng = random.Random(seed)
    inputs = sorted(block.wirevector_subset(pyrtl.Input), key=lambda w: str(w.name))
    special = [{w.name: 0 for w in inputs}, {w.name: (1 << len(w)) - 1 for w in inputs}]
    drawn = ({w.name: rng.getrandbits(len(w)) for w in inputs} for _ in range(cycles - 2))
    return [*special, *drawn]


def pyrtl_trace(
    block: pyrtl.Block,
    cycles: Sequence[Mapping[str, int]],
    memories: Mapping[pyrtl.MemBlock, Mapping[int, int]] | None = None,
) -> Trace:
    """Outputs by PyRTL name."""
    outputs = sorted(str(w.name) for w in block.wirevector_subset(pyrtl.Output))
    simulation = pyrtl.FastSimulation(
        memory_value_map={m: dict(words) for m, words in (memories or {}).items()},
        tracer=None,
        block=block,
    )
    trace = []
    for cycle in cycles:
        simulation.step(dict(cycle))
        trace.append({name: simulation.inspect(name) for name in outputs})
    return trace


def icarus_trace(
    block: pyrtl.Block,
    cycles: Sequence[Mapping[str, int]],
    memories: Mapping[pyrtl.MemBlock, Mapping[int, int]] | None = None,
) -> Trace:
    """Outputs by PyRTL name."""
    module = verilog(block)
    renamed = [{module.names[name]: v for name, v in cycle.items()} for cycle in cycles]
    images = {module.names[m.name]: words for m, words in (memories or {}).items()}
    outputs = sorted(str(w.name) for w in block.wirevector_subset(pyrtl.Output))
    found = icarus.simulate(module, renamed, images)
    return [{name: cycle[module.names[name]] for name in outputs} for cycle in found]

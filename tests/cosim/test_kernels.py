"""Every AES kernel on the netlist: state and the cycle of every retirement as the model says."""

from __future__ import annotations

import pytest

import workloads
from dse.cache import Cache
from dse.measure.measurement import cases, compiled
from dse.measure.target import Target
from hw.composition import circuit_map, compose
from hw.cosim import Netlist, compare
from hw.technology import technology
from isa.instruction_set import InstructionSet, load_extension
from isa.timing import Core

NAMES = ("aes128-encrypt", "aes128-decrypt", "aes128-key-schedule", "aes128-ctr")
RV32 = InstructionSet.of(32, "rv32i", "zbkb", "zbkx", "zkne", "zknd", "nluv")
KERNELS = [
    (name, kernel.name)
    for name in NAMES
    for kernel in workloads.get(name).kernels.values()
    if kernel.requires <= set(RV32.by_name)
]
CIRCUITS = (("aes_inv_sbox", "boyar_peralta"), ("aes_sbox", "boyar_peralta"))


def target(core: Core, unroll: int | str, *extensions: str) -> Target:
    parts = [load_extension(e, banks=2) if e == "nluv" else e for e in extensions]
    instructions = InstructionSet.of(32, "rv32i", *parts)
    return Target(instructions, core, CIRCUITS, (), unroll, technology("ge"))


def agrees(name: str, kernel: str, on: Target) -> None:
    workload = workloads.get(name, 48) if workloads.is_sized(name) else workloads.get(name)
    hardware = compose(on.core, on.instructions, on.circuits, rung="estimate")
    program = compiled(workload, kernel, on, hardware.latencies, Cache(None))
    netlist = Netlist(on.core, on.instructions, hardware.latencies, circuit_map(on.circuits))
    case = cases(workload, program)[0]
    result = compare(netlist, program, case.arguments, case.memory)
    assert result.equal, result.difference
    assert result.instructions > 100


def test_one_kernel_with_units_of_two_cycles() -> None:
    agrees("aes128-encrypt", "ttable", target(Core(), 1, "zkne"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "core", [Core(), Core(forwarding=False), Core(pipeline=3), Core(pipeline=2)]
)
@pytest.mark.parametrize(("name", "kernel"), KERNELS)
def test_every_kernel(name: str, kernel: str, core: Core) -> None:
    extensions = ("nluv",) if kernel.startswith("nluv") else ()
    agrees(name, kernel, target(core, 1, *extensions))
    agrees(name, kernel, target(core, 2, "zbkb", "zbkx", "zkne", "zknd", *extensions))

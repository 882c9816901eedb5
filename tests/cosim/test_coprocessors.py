"""Driver programs on the netlist of core, bus and co-processor, against model and golden answer."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import workloads
from hw.coprocessors import engines
from hw.coprocessors.beside import Beside
from hw.coprocessors.model import Model
from hw.coprocessors.parameters import Coprocessor
from hw.cosim import Netlist, compare
from isa.core import Core
from isa.instruction_set import InstructionSet
from isa.machine import Machine
from isa.program import DATA_BASE
from workloads import Workload
from workloads.coprocessor_driver import JOBS, KERNEL, driver, valid
from workloads.driver_text import Link

DMA = Coprocessor(
    ("sha256",), double_buffer=True, bus_width=128, bus_latency=2, burst_length=4, mover="dma"
)
MEMBERS = {
    "commands": Coprocessor(("sha256",)),
    "commands, narrow": Coprocessor(("sha256", "sm3"), width=32, stages=2, double_buffer=True),
    "window": Coprocessor(("sha256",), attachment="mapped", bus_latency=3),
    "DMA": DMA,
    "DMA, 64 bits": replace(DMA, bus_width=64, double_buffer=False, bus_latency=1),
    "DMA by window": replace(DMA, bus_width=32, attachment="mapped", rounds_per_cycle=2),
}
CORES = [Core(), Core(pipeline=2), Core(pipeline=3, forwarding=False)]


def instructions_of(p: Coprocessor, xlen: int = 32) -> InstructionSet:
    return InstructionSet.of(xlen, f"rv{xlen}i", *(["xcop"] if p.attachment == "commands" else []))


def check(netlist: Netlist, p: Coprocessor, workload: Workload, seed: int) -> None:
    """Run a workload's driver on random inputs, on both and against the golden function."""
    link = Link(p.mover, p.attachment, p.double_buffer)
    program = driver(workload, KERNEL, netlist.instructions, link, 1 + seed % 4)
    rng = random.Random(seed)
    address, places = DATA_BASE, {}
    for buffer in workload.buffers:
        places[buffer.name] = address
        address += (buffer.size_bytes + 15) // 16 * 16
    inputs = {b.name: rng.randbytes(b.size_bytes) for b in workload.buffers if b.direction == "in"}
    inputs = dict(valid(workload.name, inputs))
    memory = {places[name]: value for name, value in inputs.items()}
    args = list(places.values())
    xlen = netlist.core.xlen
    result = compare(netlist, program, args, memory, Model(p, xlen))
    assert result.equal, (p, workload.name, workload.message_bytes, result.difference)
    run = Machine(netlist.instructions, program, Model(p, xlen)).run(args, memory)
    for name, expected in workload.golden(inputs).items():
        assert run.read(places[name], len(expected)) == expected, (p, workload.name)


@pytest.mark.parametrize("name", MEMBERS)
def test_drivers_on_the_netlist(name: str) -> None:
    p = MEMBERS[name]
    core = CORES[sorted(MEMBERS).index(name) % len(CORES)]
    netlist = Netlist(core, instructions_of(p), coprocessor=Beside(p))
    for size in (1, 55, 120, 200):
        check(netlist, p, workloads.get("sha256", size), size)


OTHER_CORES = {
    "RV64": (Core(xlen=64), MEMBERS["commands"]),
    "RV64, narrow bus": (Core(xlen=64), replace(DMA, bus_width=32)),
    "RV64, window": (Core(xlen=64), MEMBERS["window"]),
    "slow memory": (Core(memory_latency=3), MEMBERS["commands"]),
    "shared memory": (Core(pipeline=3, memory="shared"), MEMBERS["commands, narrow"]),
}


@pytest.mark.parametrize("name", OTHER_CORES)
def test_drivers_on_other_cores(name: str) -> None:
    core, p = OTHER_CORES[name]
    netlist = Netlist(core, instructions_of(p, core.xlen), coprocessor=Beside(p, core.xlen))
    check(netlist, p, workloads.get("sha256", 100), 1)


GCM = {
    "CPU": Coprocessor(("aes128-encrypt", "ghash"), double_buffer=True),
    "DMA": replace(DMA, algorithms=("aes128-encrypt", "ghash")),
    "window": Coprocessor(("aes128-encrypt", "ghash"), attachment="mapped", width=32),
}


@pytest.mark.parametrize("name", GCM)
def test_gcm_is_sealed_as_cryptography_does(name: str) -> None:
    p = GCM[name]
    netlist = Netlist(CORES[0], instructions_of(p), coprocessor=Beside(p))
    rng = random.Random(name)
    for size, unroll in ((1, 1), (35, 1), (64, 3), (200, "full")):
        workload = workloads.get("aes128-gcm", size)
        link = Link(p.mover, p.attachment, p.double_buffer)
        program = driver(workload, KERNEL, netlist.instructions, link, unroll)
        drawn = {
            b.name: rng.randbytes(b.size_bytes) for b in workload.buffers if b.direction == "in"
        }
        inputs = valid(workload.name, drawn)
        places, address = {}, DATA_BASE
        for buffer in workload.buffers:
            places[buffer.name] = address
            address += (buffer.size_bytes + 15) // 16 * 16
        memory = {places[n]: v for n, v in inputs.items()}
        args = list(places.values())
        run = Machine(netlist.instructions, program, Model(p)).run(args, memory)
        sealed = AESGCM(inputs["round_keys"][:16]).encrypt(
            inputs["iv"], inputs["input"], inputs["associated"]
        )
        assert run.read(places["output"], size) == sealed[:size]
        assert run.read(places["tag"], 16) == sealed[size:]
        if size == 35:
            result = compare(netlist, program, args, memory, Model(p))
            assert result.equal, result.difference


def random_member(rng: random.Random) -> Coprocessor:
    """A member of one engine or of several; buffers are made large enough."""
    names = sorted({job.algorithm for job in JOBS.values()} & set(engines.algorithm_names()))
    held = tuple(rng.sample(names, 2))
    while True:
        try:
            return Coprocessor(
                held,
                width=rng.choice((32, 64)),
                rounds_per_cycle=rng.choice((1, 2, 4)),
                stages=rng.choice((1, 2, 3, 4)),
                buffer_words=rng.choice((16, 32, 64)),
                buffer=rng.choice(("registers", "bram")),
                double_buffer=rng.random() < 0.5,
                bus_width=rng.choice((32, 64, 128)),
                bus_latency=rng.choice((1, 2, 7)),
                burst_length=rng.choice((1, 2, 8)),
                attachment=rng.choice(("commands", "mapped")),
                mover=rng.choice(("cpu", "dma")),
            )
        except ValueError:  # a buffer too small for two blocks
            continue


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_random_members_run_their_drivers(seed: int) -> None:
    rng = random.Random(seed)
    p = random_member(rng)
    netlist = Netlist(rng.choice(CORES), instructions_of(p), coprocessor=Beside(p))
    for name, job in sorted(JOBS.items()):
        if job.algorithm in p.algorithms:
            size = rng.randrange(1, 300) if workloads.is_sized(name) else None
            size = size if size is None or job.key is None else -(-size // 16) * 16
            check(netlist, p, workloads.get(name, size), seed)

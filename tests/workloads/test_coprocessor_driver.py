"""Driver programs: what they make a co-processor do, on one that answers from `hashlib`."""

from __future__ import annotations

import hashlib
import random

import pytest

import workloads
from isa.coprocessor import ALGORITHMS
from isa.instruction_set import InstructionSet
from isa.machine import Machine
from isa.program import DATA_BASE
from tests.workloads.library_device import LibraryDevice
from workloads import Workload
from workloads.coprocessor_driver import JOBS, KERNEL, driver, valid
from workloads.driver_text import Link

LINKS = [
    Link(mover, attachment, ahead)
    for mover in ("cpu", "dma")
    for attachment in ("commands", "mapped")
    for ahead in ((False, True) if mover == "cpu" else (False,))
]
SIZES = {
    "aes128-ecb": (16, 32, 112, 288),
    **dict.fromkeys(("sha256", "sha512", "sm3"), (1, 8, 55, 64, 333)),
    **dict.fromkeys(("sha3-256", "shake128", "shake256"), (1, 136, 333)),
}


def outputs(workload: Workload, link: Link, xlen: int, unroll: int | str, seed: int) -> None:
    """Run a driver on random inputs, and compare what it leaves with the golden function."""
    xcop = ["xcop"] if link.attachment == "commands" else []
    instructions = InstructionSet.of(xlen, f"rv{xlen}i", *xcop)
    program = driver(workload, KERNEL, instructions, link, unroll)
    job = JOBS[workload.name]
    device = LibraryDevice(link.mover, link.attachment == "mapped", xlen, job.block_bytes)
    machine = Machine(instructions, program, device)
    rng = random.Random(seed)
    inputs = {b.name: rng.randbytes(b.size_bytes) for b in workload.buffers if b.direction == "in"}
    inputs = dict(valid(workload.name, inputs))
    address, places = DATA_BASE, {}
    for buffer in workload.buffers:
        places[buffer.name] = address
        address += (buffer.size_bytes + 15) // 16 * 16
    run = machine.run(list(places.values()), {places[n]: v for n, v in inputs.items()})
    for name, expected in workload.golden(inputs).items():
        assert run.read(places[name], len(expected)) == expected
        behind = run.read(places[name] + len(expected), 16)
        assert behind == bytes(16), "nothing behind an output may change"


@pytest.mark.parametrize("name", sorted(JOBS))
@pytest.mark.parametrize("xlen", [32, 64])
def test_every_driver_gives_the_golden_answer(name: str, xlen: int) -> None:
    for size in SIZES.get(name, (None,)):
        workload = workloads.get(name, size)
        for link in LINKS:
            for unroll in (3, "full"):
                outputs(workload, link, xlen, unroll, seed=size or 0)


def test_every_job_is_an_algorithm() -> None:
    assert {job.algorithm for job in JOBS.values()} <= set(ALGORITHMS)


def test_the_driver_is_independent_of_the_golden_function() -> None:
    """One answer straight from `hashlib`, so that the comparison above is no circle."""
    workload = workloads.get("sha256", 100)
    instructions = InstructionSet.of(32, "rv32i", "xcop")
    machine = Machine(
        instructions,
        driver(workload, KERNEL, instructions, Link()),
        LibraryDevice("cpu", False, 32),
    )
    message = bytes(range(100))
    run = machine.run([DATA_BASE, DATA_BASE + 112], {DATA_BASE: message})
    assert run.read(DATA_BASE + 112, 32) == hashlib.sha256(message).digest()


def test_code_does_not_grow_with_the_message() -> None:
    instructions = InstructionSet.of(32, "rv32i", "xcop")
    sizes = [
        driver(workloads.get("sha256", n), KERNEL, instructions, Link(), 4).code_bytes
        for n in (1024, 4096, 16384)
    ]
    assert sizes[0] <= sizes[1] <= sizes[2] <= sizes[0] + 8  # `li` of a longer constant


def test_a_link_names_what_it_accepts() -> None:
    with pytest.raises(ValueError, match=r"^mover must be cpu or dma, not 'host'$"):
        Link("host")
    with pytest.raises(ValueError, match=r"^attachment must be commands or mapped, not 'bus'$"):
        Link("cpu", "bus")

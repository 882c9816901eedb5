"""`Measurement`: one workload compiled for a target, run, checked against known answers, timed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from dse.cache import Cache, digest_of
from dse.target import Target
from isa.compiler import compile_kernel
from isa.instruction_set import InstructionSet
from isa.machine import Machine
from isa.program import DATA_BASE, Program
from isa.timing import price
from workloads import Vector, Workload

RANDOM_CASES = 3
"""Random inputs whose answers the golden function gives, checked beside the published vectors."""


class WrongAnswer(ValueError):
    """A program does not reproduce a known answer."""


@dataclass(frozen=True)
class Measurement:
    """What one kernel of a workload does on a target, per run.

    Attributes:
        kernel: Name of the implementation variant.
        instructions: Retired from entry to return inclusive.
        cycles: Retirement of the return minus that of the call.
        code_bytes: Program memory of the kernel.
        data_bytes: Constant tables of the kernel.
        stack_bytes: Deepest stack.
        leaks: Secret-dependent branches, addresses and variable latencies executed.
        known_answers: Published vectors reproduced; random cases come on top.
        counts: Executions of each mnemonic.
        program_digest: Digest of code and data.
    """

    kernel: str
    instructions: int
    cycles: int
    code_bytes: int
    data_bytes: int
    stack_bytes: int
    leaks: int
    known_answers: int
    counts: Mapping[str, int]
    program_digest: str

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Case:
    """One run: arguments, initial data memory, and what must stand in memory at its end.

    Attributes:
        arguments: Buffer addresses, in a0, a1, ...
        memory: Initial contents by address.
        expected: Final contents by address.
        secret: (address, bytes) of secret buffers.
        source: Where the expected answer comes from.
    """

    arguments: tuple[int, ...]
    memory: Mapping[int, bytes]
    expected: Mapping[int, bytes]
    secret: tuple[tuple[int, int], ...]
    source: str


def cases(workload: Workload, program: Program) -> list[Case]:
    """The published vectors, then random inputs, laid out behind the program's tables."""
    address = DATA_BASE + (len(program.data) + 63) // 64 * 64
    addresses = {}
    for buffer in workload.buffers:
        addresses[buffer.name] = address
        address += (buffer.size_bytes + 15) // 16 * 16
    secret = tuple((addresses[b.name], b.size_bytes) for b in workload.buffers if b.secret)
    rng = random.Random(workload.name)
    vectors = list(workload.vectors)
    for _ in range(RANDOM_CASES):
        inputs = {
            b.name: rng.randbytes(b.size_bytes) for b in workload.buffers if b.direction != "out"
        }
        vectors.append(Vector(inputs, workload.golden(inputs), "golden function"))
    return [
        Case(
            tuple(addresses.values()),
            {addresses[name]: value for name, value in vector.inputs.items()},
            {addresses[name]: value for name, value in vector.outputs.items()},
            secret,
            vector.source,
        )
        for vector in vectors
    ]


def compiled(
    workload: Workload,
    kernel: str,
    target: Target,
    latencies: Mapping[str, int],
    cache: Cache,
) -> Program:
    """Compile a kernel for exactly the target's instructions and unit latencies.

    Raises:
        UnsupportedKernel: The kernel asks for an instruction that the target lacks.
    """
    core = target.core.canonical()
    key = digest_of(
        workload.name,
        str(workload.message_bytes),
        kernel,
        target.instructions.digest,
        repr(core),
        repr(sorted(latencies.items())),
        str(target.unroll),
    )

    def compute() -> Any:
        program = compile_kernel(
            workload.kernels[kernel].build,
            target.instructions,
            core,
            unroll=target.unroll,
            latencies=latencies,
        )
        return program.to_json()

    return Program.from_json(cache.memo("program", key, compute))


def mnemonics(program: Program, instructions: InstructionSet) -> frozenset[str]:
    """Instructions that stand in the program."""
    decoded = (instructions.decode(word) for word in set(program.words))
    return frozenset(found[0].name for found in decoded if found)


def measure(
    workload: Workload,
    kernel: str,
    target: Target,
    latencies: Mapping[str, int],
    cache: Cache,
) -> Measurement:
    """Compile, run, check and time one kernel.

    Raises:
        UnsupportedKernel: See `compiled`.
        WrongAnswer: The program failed a known answer.
    """
    program = compiled(workload, kernel, target, latencies, cache)
    key = digest_of(
        program.digest,
        workload.name,
        str(workload.message_bytes),
        target.instructions.digest,
        repr(target.core.canonical()),
        repr(sorted(latencies.items())),
    )
    data = cache.memo(
        "measurement",
        key,
        lambda: _run(workload, kernel, target, latencies, program).to_json(),
    )
    return Measurement(**{**data, "kernel": kernel})


@lru_cache(maxsize=16)
def _machine(instructions: InstructionSet, program_digest: str, text: str) -> Machine:
    return Machine(instructions, Program.from_json(text))


def _run(
    workload: Workload,
    kernel: str,
    target: Target,
    latencies: Mapping[str, int],
    program: Program,
) -> Measurement:
    machine = _machine(target.instructions, program.digest, program.to_json())
    cycles = instructions = 0
    counts: Mapping[str, int] = {}
    every = cases(workload, program)
    for case in every:
        run = machine.run(case.arguments, case.memory)
        for address, expected in case.expected.items():
            found = run.read(address, len(expected))
            if found != expected:
                raise WrongAnswer(
                    f"{workload.name} ({kernel}) must give {expected.hex()[:64]} for "
                    f"{case.source}, not {found.hex()[:64]}"
                )
        took = price(
            run.blocks,
            run.trace,
            target.core.canonical(),
            latencies,
            entry=program.entry,
        )
        if took > cycles:
            cycles, instructions, counts = took, run.kernel_instructions, run.counts
    leaks = machine.run_tracked(every[0].arguments, every[0].memory, every[0].secret)
    return Measurement(
        kernel,
        instructions,
        cycles,
        program.code_bytes,
        program.data_bytes,
        program.stack_bytes,
        sum(leak.count for leak in leaks),
        len(workload.vectors),
        counts,
        program.digest,
    )

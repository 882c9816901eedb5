"""`Measurement`: one workload compiled for a target, run, checked against known answers, timed."""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dse.cache import Cache, digest_of
from dse.target import Target
from isa.compiler import compile_kernel
from isa.instruction_set import InstructionSet
from isa.machine import Machine
from isa.program import DATA_BASE, Program, walk
from isa.timing import Core, Pricer, automaton
from isa.translate import Block
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

    The host core is not passed on: the compiler schedules for one wait after a load, so one
    program serves all cores.

    Raises:
        UnsupportedKernel: The kernel asks for an instruction that the target lacks.
    """
    key = digest_of(
        *_identity(workload, target),
        kernel,
        repr(sorted(latencies.items())),
        str(target.unroll),
    )

    def compute() -> Any:
        program = compile_kernel(
            workload.kernels[kernel].build,
            target.instructions,
            unroll=target.unroll,
            latencies=latencies,
        )
        return program.to_json()

    return Program.from_json(cache.memo("program", key, compute))


def mnemonics(program: Program, instructions: InstructionSet) -> frozenset[str]:
    """Instructions that stand in the program; all compressed ones if any does."""
    names = set()
    for word in {word for _, word in walk(program, instructions)}:
        decoded = instructions.decode(word)
        if decoded:
            names.add(decoded[0].name)
        if instructions.size(word) == 2:
            names.update(c.name for c in instructions.compressed)
    return frozenset(names)


def measure(
    workload: Workload,
    kernel: str,
    target: Target,
    latencies: Mapping[str, int],
    cache: Cache,
) -> Measurement:
    """Compile, run, check and time one kernel.

    Cycles are those of the slowest known answer. Changing the core or a latency that leaves the
    program as it is executes nothing again where the process still holds the trace.

    Raises:
        UnsupportedKernel: See `compiled`.
        WrongAnswer: The program failed a known answer.
    """
    program = compiled(workload, kernel, target, latencies, cache)
    identity = (*_identity(workload, target), program.digest)

    def executed() -> Executed:
        return _execute(identity, workload, kernel, target.instructions, program)

    facts = cache.memo("execution", digest_of(*identity), lambda: executed().facts)
    core = target.core.canonical()
    cycles = cache.memo(
        "cycles",
        digest_of(*identity, repr(core), repr(sorted(latencies.items()))),
        lambda: executed().cycles(core, latencies, program.entry),
    )
    return Measurement(
        kernel=kernel,
        cycles=cycles,
        code_bytes=program.code_bytes,
        data_bytes=program.data_bytes,
        stack_bytes=program.stack_bytes,
        known_answers=len(workload.vectors),
        program_digest=program.digest,
        **facts,
    )


def _identity(workload: Workload, target: Target) -> tuple[str, ...]:
    return (workload.name, str(workload.message_bytes), target.instructions.digest)


@dataclass(frozen=True)
class Executed:
    """Runs of one program on all known answers.

    Attributes:
        blocks: Blocks of the translated program.
        traces: Block trace of each run.
        facts: What does not depend on the core: instructions, counts, leaks.
    """

    blocks: Sequence[Block]
    traces: tuple[tuple[int, ...], ...]
    facts: Mapping[str, Any]

    def cycles(self, core: Core, latencies: Mapping[str, int], entry: int) -> int:
        """Cycles of the slowest run."""
        pricer = Pricer(self.blocks, automaton(core, latencies))
        return max(pricer.price(trace, entry) for trace in self.traces)


_EXECUTED: OrderedDict[tuple[str, ...], Executed] = OrderedDict()
_HELD = 256
"""Traces kept in a process, so that other cores can be priced without running again."""


def _execute(
    identity: tuple[str, ...],
    workload: Workload,
    kernel: str,
    instructions: InstructionSet,
    program: Program,
) -> Executed:
    """Run every case and check its answer; count leaks on the first."""
    if identity in _EXECUTED:
        _EXECUTED.move_to_end(identity)
        return _EXECUTED[identity]
    machine = Machine(instructions, program)
    every = cases(workload, program)
    runs = []
    for case in every:
        run = machine.run(case.arguments, case.memory)
        for address, expected in case.expected.items():
            found = run.read(address, len(expected))
            if found != expected:
                raise WrongAnswer(
                    f"{workload.name} ({kernel}) must give {expected.hex()[:64]} for "
                    f"{case.source}, not {found.hex()[:64]}"
                )
        runs.append(run)
    first = every[0]
    leaks = machine.run_tracked(first.arguments, first.memory, first.secret)
    longest = max(runs, key=lambda run: run.kernel_instructions)
    facts = {
        "instructions": longest.kernel_instructions,
        "counts": longest.counts,
        "leaks": sum(leak.count for leak in leaks),
    }
    done = Executed(runs[0].blocks, tuple(run.trace for run in runs), facts)
    _EXECUTED[identity] = done
    while len(_EXECUTED) > _HELD:
        _EXECUTED.popitem(last=False)
    return done

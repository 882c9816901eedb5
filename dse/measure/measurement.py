"""`Measurement`: one workload compiled for a target, run, checked against known answers, timed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import workloads
from dse.cache import Cache, digest_of
from dse.coprocessor import alone, untimed
from dse.measure.execution import Executed, execute
from dse.measure.extrapolation import Sizes, extrapolated, shorter_sizes
from dse.measure.known_answers import Case, WrongAnswer
from dse.measure.known_answers import cases as _cases
from dse.measure.target import Target
from isa.compiler import compile_kernel
from isa.compiler.waits import Waits
from isa.instruction_set import InstructionSet
from isa.program import Program, walk
from workloads import Workload, coprocessor_driver

__all__ = ["Case", "Measurement", "WrongAnswer", "cases", "compiled", "measure", "mnemonics"]


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
        device: What the co-processor did, see `Executed.timed`; empty without one.
        extrapolated: From which sizes the counts were extrapolated; empty where the message ran.
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
    device: Mapping[str, int] = field(default_factory=dict)
    extrapolated: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain data; what does not apply is left out."""
        return {k: v for k, v in asdict(self).items() if k not in _OPTIONAL or v}


_OPTIONAL = ("device", "extrapolated")


def cases(workload: Workload, program: Program, kernel: str = "") -> list[Case]:
    """Known answers of a workload for a program, see `dse.measure.known_answers.cases`."""
    is_driver = _is_driver(workload, kernel)
    adapt = partial(coprocessor_driver.valid, workload.name) if is_driver else dict
    return _cases(workload, program, adapt)


def compiled(
    workload: Workload,
    kernel: str,
    target: Target,
    latencies: Mapping[str, int],
    cache: Cache,
) -> Program:
    """Compile a kernel for exactly the target's instructions and unit latencies.

    One program, scheduled for one wait after a load, serves all cores with forwarding; for others
    and for those with pipelined units, the compiler keeps a result further from its use.

    Raises:
        UnsupportedKernel: The kernel asks for an instruction that the target lacks.
    """
    is_driver = _is_driver(workload, kernel)
    waits = Waits.of(target.core)
    key = digest_of(
        *_identity(workload, kernel, target),
        kernel,
        repr(sorted(latencies.items())),
        str(target.unroll),
        target.effort,
        repr(target.link) if is_driver else "",
        repr(waits) if waits.own else "",
    )

    def compute() -> Any:
        if is_driver:
            return coprocessor_driver.driver(
                workload, kernel, target.host_instructions, target.link, target.unroll
            ).to_json()
        program = compile_kernel(
            workload.kernel(kernel).build,
            target.instructions,
            target.core if waits.own else None,
            unroll=target.unroll,
            latencies=latencies,
            effort=target.effort,
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
    program as it is executes nothing again where the process still holds the trace. A long message
    is not run where three shorter ones, on programs that differ in constants alone, show by how
    much each more of it counts.

    Raises:
        UnsupportedKernel: See `compiled`.
        WrongAnswer: The program failed a known answer.
    """
    p = target.coprocessor if _is_driver(workload, kernel) else None
    for sizes in shorter_sizes(workload, kernel, target.unroll, p):
        shorter = [workloads.get(workload.name, size) for size in sizes.run]
        programs = [compiled(w, kernel, target, latencies, cache) for w in (workload, *shorter)]
        instructions = target.host_instructions
        if len({_shape(program, instructions) for program in programs}) > 1:
            continue
        ran = [_measure(w, kernel, target, latencies, cache) for w in shorter]
        found = _from_shorter(sizes, ran)
        if found is not None:
            return replace(
                found,
                stack_bytes=programs[0].stack_bytes,
                known_answers=len(workload.vectors),
                program_digest=programs[0].digest,
            )
    return _measure(workload, kernel, target, latencies, cache)


def _shape(program: Program, instructions: InstructionSet) -> tuple[object, ...]:
    """A program but for its constants: its instructions and their registers."""
    found: list[object] = []
    for _, word in walk(program, instructions):
        decoded = instructions.decode(word)
        if decoded is not None:
            instruction, fields = decoded
            found.append((instruction.name, [fields[r] for r in instruction.encoding.registers]))
    return tuple(map(repr, found))


def _from_shorter(sizes: Sizes, ran: Sequence[Measurement]) -> Measurement | None:
    """What three runs say about the whole message; None where they do not grow evenly."""
    found = extrapolated(
        sizes,
        [
            {
                "instructions": m.instructions,
                "cycles": m.cycles,
                "leaks": m.leaks,
                **{f"device.{name}": value for name, value in m.device.items()},
            }
            for m in ran
        ],
    )
    names = sorted({name for m in ran for name in m.counts})
    counts = extrapolated(sizes, [{n: m.counts.get(n, 0) for n in names} for m in ran])
    if found is None or counts is None:
        return None
    device = {name: found[f"device.{name}"] for name in ran[0].device}
    return replace(
        ran[0],
        instructions=found["instructions"],
        cycles=found["cycles"],
        leaks=found["leaks"],
        counts=counts,
        device=device,
        extrapolated=sizes.text,
    )


def _measure(
    workload: Workload,
    kernel: str,
    target: Target,
    latencies: Mapping[str, int],
    cache: Cache,
) -> Measurement:
    """Measure one kernel by running the whole message."""
    program = compiled(workload, kernel, target, latencies, cache)
    is_driver = _is_driver(workload, kernel)
    instructions = target.host_instructions if is_driver else target.instructions
    identity = (*_identity(workload, kernel, target), program.digest)
    p = plain = None
    if is_driver and target.coprocessor is not None:
        p = alone(target.coprocessor, coprocessor_driver.algorithms_of(workload.name, kernel))
        plain = untimed(p)
        identity += (repr(plain),)

    def executed() -> Executed:
        return execute(
            identity,
            f"{workload.name} ({kernel})",
            instructions,
            program,
            lambda: cases(workload, program, kernel),
            plain,
        )

    facts = cache.memo("execution", digest_of(*identity), lambda: executed().facts)
    core = target.core.canonical()
    timed = cache.memo(
        "cycles",
        digest_of(*identity, repr(core), repr(sorted(latencies.items())), repr(p)),
        lambda: executed().timed(core, latencies, program.entry, p),
    )
    return Measurement(
        kernel=kernel,
        cycles=timed["cycles"],
        code_bytes=program.code_bytes,
        data_bytes=program.data_bytes,
        stack_bytes=program.stack_bytes,
        known_answers=len(workload.vectors),
        program_digest=program.digest,
        device={name: value for name, value in timed.items() if name != "cycles"},
        **facts,
    )


def _is_driver(workload: Workload, kernel: str) -> bool:
    return kernel in coprocessor_driver.drivers(workload.name)


def _identity(workload: Workload, kernel: str, target: Target) -> tuple[str, ...]:
    is_driver = _is_driver(workload, kernel)
    instructions = target.host_instructions if is_driver else target.instructions
    return (workload.name, str(workload.message_bytes), instructions.digest)

"""Known answers: published vectors and random inputs, laid out in the memory of a program."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from isa.program import DATA_BASE, Program
from workloads import Values, Vector, Workload

RANDOM_CASES = 3
"""Random inputs whose answers the golden function gives, checked beside the published vectors."""
LONG = 2048
"""Bytes of a message beyond which one random input is enough."""


class WrongAnswer(ValueError):
    """A program does not reproduce a known answer, or cannot be given it."""


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


def cases(
    workload: Workload, program: Program, valid: Callable[[Values], Values] = dict
) -> list[Case]:
    """The published vectors, then random inputs, laid out behind the program's tables.

    Args:
        workload: Whose answers they are.
        program: What will run.
        valid: Makes random inputs such as the program takes them.

    Raises:
        WrongAnswer: The buffers do not fit data memory.
    """
    address = DATA_BASE + (len(program.data) + 63) // 64 * 64
    addresses = {}
    for buffer in workload.buffers:
        addresses[buffer.name] = address
        address += (buffer.size_bytes + 15) // 16 * 16
    if address > program.data_end - program.stack_bytes:
        raise WrongAnswer(
            f"buffers of {workload.name} must end by {program.data_end - program.stack_bytes:#x}, "
            f"where data memory or the stack does, not at {address:#x}; choose a shorter message"
        )
    secret = tuple((addresses[b.name], b.size_bytes) for b in workload.buffers if b.secret)
    rng = random.Random(workload.name)
    vectors = list(workload.vectors)
    for _ in range(RANDOM_CASES if workload.message_bytes <= LONG else 1):
        inputs = valid(
            {b.name: rng.randbytes(b.size_bytes) for b in workload.buffers if b.direction != "out"}
        )
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

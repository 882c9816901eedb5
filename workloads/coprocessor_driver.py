"""Co-processor drivers: programs by which a host has a workload done by the co-processor.

A driver is a kernel of its workload like any other, but written as assembly, because its
instructions give commands. It reads message buffers in words of 64 bits, so up to seven bytes
behind the message, which the co-processor ignores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from isa import aes_block
from isa.assembler import assemble
from isa.coprocessor import (
    ALGORITHM,
    ALGORITHMS,
    DESTINATION,
    KEY,
    LENGTH,
    OUTPUT_LENGTH,
    SOURCE,
)
from isa.instruction_set import InstructionSet
from isa.program import Program
from workloads import gcm_driver, ghash
from workloads.driver_text import WORD_BYTES, DriverText, Link
from workloads.workload import Values, Workload

KERNEL = "coprocessor"
"""Name of the variant that gives the whole message to the co-processor."""


@dataclass(frozen=True)
class Job:
    """What the co-processor is asked to do for a workload.

    Attributes:
        algorithm: One of `isa.coprocessor.ALGORITHMS`.
        message: Name of the buffer that holds the message.
        output: Name of the buffer for the output.
        key: Name of the buffer whose first 16 bytes are the key, if there is one.
        block_bytes: Bytes of a block where each block has an output of its own, else 0.
        is_extendable: The output has whatever length is asked for.
    """

    algorithm: str
    message: str
    output: str
    key: str | None = None
    block_bytes: int = 0
    is_extendable: bool = False


def _hash(algorithm: str, *, is_extendable: bool = False) -> Job:
    return Job(algorithm, "message", "digest", is_extendable=is_extendable)


def _aes(algorithm: str) -> Job:
    return Job(algorithm, "input", "output", "round_keys", 16)


JOBS: Mapping[str, Job] = {
    "sha256": _hash("sha256"),
    "sha512": _hash("sha512"),
    "sm3": _hash("sm3"),
    "sha3-256": _hash("sha3-256"),
    "shake128": _hash("shake128", is_extendable=True),
    "shake256": _hash("shake256", is_extendable=True),
    "aes128-encrypt": _aes("aes128-encrypt"),
    "aes128-decrypt": _aes("aes128-decrypt"),
    "aes128-ecb": _aes("aes128-encrypt"),
    "haraka256": Job("haraka256", "input", "digest", block_bytes=32),
    "haraka512": Job("haraka512", "input", "digest", block_bytes=64),
}
"""By workload. The first round key of AES is the key itself, also in the equivalent inverse
cipher (FIPS 197 sections 5.2 and 5.3.5); the co-processor has a key schedule of its own."""


GCM = "aes128-gcm"
"""The workload that asks for more than one algorithm."""


def drivers(workload: str) -> dict[str, tuple[str, ...]]:
    """Variants of a workload that drive a co-processor, and what each needs beside one."""
    return {KERNEL: ()} if workload.partition("@")[0] in {*JOBS, GCM} else {}


def algorithms_of(workload: str, kernel: str) -> tuple[str, ...]:
    """Algorithms that a variant asks the co-processor for; none if it does without one."""
    if kernel not in drivers(workload):
        return ()
    name = workload.partition("@")[0]
    return gcm_driver.ALGORITHMS_USED if name == GCM else (JOBS[name].algorithm,)


def valid(workload: str, inputs: Values) -> Values:
    """Inputs made such as a driver takes them: keys that are those which follow from one key."""
    keys = inputs.get("round_keys")
    if keys is None:
        return inputs
    name, schedule = workload.partition("@")[0], aes_block.expand_key(keys[:16])
    if name == GCM:
        hash_key = ghash.prepared(aes_block.encrypt_block(bytes(16), schedule))
        return {**inputs, "round_keys": schedule, "hash_key": hash_key}
    if JOBS[name].algorithm == "aes128-decrypt":
        schedule = aes_block.inverse_keys(schedule)
    return {**inputs, "round_keys": schedule}


def driver(
    workload: Workload,
    kernel: str,
    instructions: InstructionSet,
    link: Link,
    unroll: int | str = 1,
) -> Program:
    """The program by which a host has a workload done, as its only kernel.

    Args:
        workload: One of `JOBS`, or `GCM`.
        kernel: One of its `drivers`.
        instructions: Of the host; with Xcop where the link is by commands.
        link: How it reaches the co-processor.
        unroll: See `workloads.driver_text.DriverText`.
    """
    text = DriverText(instructions.xlen, link, unroll)
    if workload.name == GCM:
        gcm_driver.seal(text, workload)
    else:
        _message(text, JOBS[workload.name], workload)
    lines = ["jal ra, kernel", "ebreak", "kernel:", *text.lines, "ret"]
    return assemble("\n".join(lines), instructions)


def _message(text: DriverText, job: Job, workload: Workload) -> None:
    """One message from its buffer to the output's; buffers are in a0, a1, .."""
    registers = {b.name: f"a{i}" for i, b in enumerate(workload.buffers)}
    sizes = {b.name: b.size_bytes for b in workload.buffers}
    message, output = registers[job.message], registers[job.output]
    size, given = sizes[job.message], sizes[job.output]
    text.set_value(ALGORITHM, ALGORITHMS.index(job.algorithm))
    text.set_value(LENGTH, size)
    if job.is_extendable:
        text.set_value(OUTPUT_LENGTH, given)
    if text.link.mover == "dma":
        text.set(SOURCE, message)
        text.set(DESTINATION, output)
        if job.key:
            text.set(KEY, registers[job.key])
        text.start()
        text.wait("a0")
        return
    text.start()
    if job.key:
        text.put_words(registers[job.key], 2)
    if job.block_bytes:
        blocks = size // job.block_bytes
        words = (job.block_bytes // WORD_BYTES, given // blocks // WORD_BYTES)
        text.exchange(message, output, blocks, words)
    else:
        text.put_words(message, -(-size // WORD_BYTES))
        text.get_words(output, given // WORD_BYTES)

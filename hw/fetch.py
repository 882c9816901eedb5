"""Fetch: the first stage of the pipelines, which hands on one instruction a cycle.

With compressed instructions it reads the aligned 32 bits that hold what it lacks, keeps their
upper half in a buffer while it is not used up, and expands what is compressed. It needs a second
read, and a cycle, for an instruction that stands in two words where it has no upper half: at the
target of a taken branch or jump, as `isa.timing` says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import pyrtl

from hw.expander import expanded
from isa.instruction_set import InstructionSet

Wire: TypeAlias = pyrtl.WireVector


@dataclass(frozen=True)
class Fetched:
    """What the stage hands on in a cycle.

    Attributes:
        pc: Address of the instruction.
        word: The instruction, 32 bits; expanded if it is compressed.
        valid: 1 bit, there is one; None where there always is.
        short: 1 bit, it is compressed; None where none is.
    """

    pc: Wire
    word: Wire
    valid: Wire | None = None
    short: Wire | None = None


def build_fetch(
    memory: Callable[[Wire], Wire],
    instructions: InstructionSet,
    stall: Wire,
    redirect: Wire,
    target: Wire,
) -> Fetched:
    """Build the stage.

    Args:
        memory: Takes the address of the next read; returns the word, a cycle later.
        instructions: What is executed.
        stall: 1 bit, nobody takes what is handed on, and it has to stay.
        redirect: 1 bit, go on at `target`.
        target: An address, xlen bits.
    """
    pc = pyrtl.Register(instructions.xlen, "pc")
    if instructions.alignment == 4:
        following = _sum(pc, 4)
        next_pc = pyrtl.select(redirect, target, pyrtl.select(stall, pc, following))
        pc.next <<= next_pc
        return Fetched(pc, memory(next_pc))

    have, buffer = pyrtl.Register(1, "fetch_have"), pyrtl.Register(16, "fetch_buffer")
    arriving = Wire(32, "fetch_arriving")
    lower, upper = arriving[0:16], arriving[16:32]
    astride, place = pc[1], pc[2:]
    kept = pyrtl.select(have, buffer, upper)
    first, second = pyrtl.select(astride, kept, lower), pyrtl.select(astride, lower, upper)
    long = first[0] & first[1]
    missing = astride & ~have & long
    stays = stall & ~missing

    # How far it goes is known late, as it depends on what arrives; the carries are known early.
    carries = _carries(list(place[1:]))
    moves = ~(stall | missing)
    onward = moves & (astride | long)
    following = pyrtl.concat(
        _plus(place[1:], carries, onward & place[0]), place[0] ^ onward,
        astride ^ (moves & ~long), pyrtl.Const(0, 1),
    )  # fmt: skip
    pc.next <<= pyrtl.select(redirect, target, following)
    have.next <<= ~redirect & (have | missing | ~stall)
    buffer.next <<= pyrtl.select(stays, buffer, upper)

    holds = astride & have
    two = ~stays & holds & long
    one = pyrtl.select(stays, holds, ~two)
    ahead = pyrtl.concat(_plus(place[1:], carries, two | (one & place[0])), place[0] ^ one)
    read = pyrtl.select(redirect, target[2:], ahead)
    arriving <<= memory(pyrtl.concat(read, pyrtl.Const(0, 2)))
    word = pyrtl.select(long, pyrtl.concat(second, first), expanded(first, instructions))
    return Fetched(pc, word, ~missing, ~long)


def _carries(bits: list[Wire]) -> list[Wire]:
    """For each bit whether all below it are 1, in logarithmic depth; bit 0 has none below."""
    ones = _all_ones(bits[:-1])
    return [pyrtl.Const(1, 1), *ones]


def _all_ones(bits: list[Wire]) -> list[Wire]:
    """For each bit whether it and all below it are 1."""
    if len(bits) < 2:
        return bits
    half = len(bits) // 2
    low, high = _all_ones(bits[:half]), _all_ones(bits[half:])
    return [*low, *(low[-1] & bit for bit in high)]


def _plus(value: Wire, carries: list[Wire], one: Wire) -> Wire:
    """`value` + `one`, modulo its width."""
    return pyrtl.concat_list([v ^ (c & one) for v, c in zip(value, carries, strict=True)])


def _sum(a: Wire, b: int) -> Wire:
    total = Wire(bitwidth=len(a) + 1)
    total <<= a + pyrtl.Const(b, len(a))
    return total[: len(a)]

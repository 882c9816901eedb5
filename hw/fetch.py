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

    next_place, one_more = _sum(place, 1), _sum(place, 2)
    onward = pyrtl.concat(
        pyrtl.select(astride | long, next_place, place), ~(astride ^ long), pyrtl.Const(0, 1)
    )
    pc.next <<= pyrtl.select(redirect, target, pyrtl.select(stall | missing, pc, onward))
    have.next <<= ~redirect & (have | missing | ~stall)
    buffer.next <<= pyrtl.select(stays, buffer, upper)

    again = pyrtl.select(astride & have, next_place, place)
    ahead = pyrtl.select(astride & have & long, one_more, next_place)
    read = pyrtl.select(redirect, target[2:], pyrtl.select(stays, again, ahead))
    arriving <<= memory(pyrtl.concat(read, pyrtl.Const(0, 2)))
    word = pyrtl.select(long, pyrtl.concat(second, first), expanded(first, instructions))
    return Fetched(pc, word, ~missing, ~long)


def _sum(a: Wire, b: int) -> Wire:
    total = Wire(bitwidth=len(a) + 1)
    total <<= a + pyrtl.Const(b, len(a))
    return total[: len(a)]

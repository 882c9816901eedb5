"""Fetch: the first stage of the pipelines, which hands on one instruction a cycle.

With compressed instructions it reads the aligned 32 bits that hold what it lacks, keeps their
upper half in a buffer while it is not used up, and expands what is compressed. It needs a second
read, and a cycle, for an instruction that stands in two words where it has no upper half: at the
target of a taken branch or jump, as `isa.pipeline` says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import pyrtl

from hw.decoder import Decoder
from hw.expander import expanded
from isa.core import Core

Wire: TypeAlias = pyrtl.WireVector


@dataclass(frozen=True)
class Fetched:
    """What the stage hands on in a cycle.

    Attributes:
        pc: Address of the instruction.
        word: The instruction, 32 bits; expanded if it is compressed.
        valid: 1 bit, there is one; None where there always is.
        short: 1 bit, it is compressed; None where none is.
        predicted: 1 bit, the next is fetched where it leads; None where nothing is predicted.
    """

    pc: Wire
    word: Wire
    valid: Wire | None = None
    short: Wire | None = None
    predicted: Wire | None = None


@dataclass(frozen=True)
class Flow:
    """What the later stages and the memory port say to fetch.

    Attributes:
        stall: 1 bit, nobody takes what is handed on, and it has to stay.
        redirect: 1 bit, go on at `target`.
        target: An address, xlen bits.
        granted: 1 bit, memory takes an address in this cycle; None where it always does.
    """

    stall: Wire
    redirect: Wire
    target: Wire
    granted: Wire | None = None


def build_fetch(
    core: Core, decoder: Decoder, memory: Callable[[Wire], Wire], flow: Flow
) -> Fetched:
    """Build the stage.

    Args:
        core: Its prediction and the latency of its memory matter.
        decoder: Of the instructions that are executed.
        memory: Takes the address of the next read; returns the word, after the latency.
        flow: From the later stages.
    """
    pc = pyrtl.Register(core.xlen, "pc")
    if decoder.instructions.alignment == 2:
        return _of_halfwords(core, decoder, memory, flow, pc)
    stay, valid = flow.stall, None
    if core.memory_latency > 1 or flow.granted is not None:
        valid, age = _arrival(core.memory_latency)
        stay = flow.stall | ~valid
    next_pc = Wire(core.xlen, "pc_next")
    word = memory(next_pc)
    predicted, following = _predicted(core, decoder, pc, word, _sum(pc, 4))
    next_pc <<= pyrtl.select(flow.redirect, flow.target, pyrtl.select(stay, pc, following))
    pc.next <<= next_pc
    if valid is not None:
        _count(age, valid, stay, flow)
    return Fetched(pc, word, valid, None, predicted)


def _arrival(latency: int) -> tuple[Wire, pyrtl.Register]:
    """Whether the word is there, and for how many cycles its address has been, up to that."""
    age = pyrtl.Register(latency.bit_length(), "fetch_age")
    return age == latency, age


def _count(age: pyrtl.Register, valid: Wire, stay: Wire, flow: Flow) -> None:
    """Count on while the address stands still; a cycle in which memory does not take it is lost."""
    width = len(age)
    one = pyrtl.Const(1, width)
    older = pyrtl.select(stay, pyrtl.select(valid, age, _sum(age, 1)), one)
    older = pyrtl.select(flow.redirect, one, older)
    if flow.granted is not None:
        older = older & flow.granted.sign_extended(width)
    age.next <<= older


def _predicted(
    core: Core, decoder: Decoder, pc: Wire, word: Wire, behind: Wire
) -> tuple[Wire | None, Wire]:
    """Whether an instruction is followed, and the address of the next one."""
    if core.prediction != "backward-taken":
        return None, behind
    predicted, offset = decoder.predict(word)
    target = Wire(bitwidth=core.xlen + 1)
    target <<= pc + offset
    return predicted, pyrtl.select(predicted, target[: core.xlen], behind)


def _of_halfwords(
    core: Core,
    decoder: Decoder,
    memory: Callable[[Wire], Wire],
    flow: Flow,
    pc: pyrtl.Register,
) -> Fetched:
    """The stage where instructions of 16 bits are among those of 32."""
    have, buffer = pyrtl.Register(1, "fetch_have"), pyrtl.Register(16, "fetch_buffer")
    arriving = Wire(32, "fetch_arriving")
    lower, upper = arriving[0:16], arriving[16:32]
    astride, place = pc[1], pc[2:]
    kept = pyrtl.select(have, buffer, upper)
    first, second = pyrtl.select(astride, kept, lower), pyrtl.select(astride, lower, upper)
    long = first[0] & first[1]
    missing = astride & ~have & long
    stays = flow.stall & ~missing
    word = pyrtl.select(long, pyrtl.concat(second, first), expanded(first, decoder.instructions))

    # How far it goes is known late, as it depends on what arrives; the carries are known early.
    carries = _carries(list(place[1:]))
    moves = ~(flow.stall | missing)
    onward = moves & (astride | long)
    following = pyrtl.concat(
        _plus(place[1:], carries, onward & place[0]), place[0] ^ onward,
        astride ^ (moves & ~long), pyrtl.Const(0, 1),
    )  # fmt: skip
    holds = astride & have
    two = ~stays & holds & long
    one = pyrtl.select(stays, holds, ~two)
    ahead = pyrtl.concat(_plus(place[1:], carries, two | (one & place[0])), place[0] ^ one)

    predicted, target = _predicted(core, decoder, pc, word, pc)
    redirect = flow.redirect
    if predicted is not None:
        led = moves & predicted
        following = pyrtl.select(led, target, following)
        ahead = pyrtl.select(led, target[2:], ahead)
        redirect = redirect | led
    pc.next <<= pyrtl.select(flow.redirect, flow.target, following)
    have.next <<= ~redirect & (have | missing | ~flow.stall)
    buffer.next <<= pyrtl.select(stays, buffer, upper)
    read = pyrtl.select(flow.redirect, flow.target[2:], ahead)
    arriving <<= memory(pyrtl.concat(read, pyrtl.Const(0, 2)))
    return Fetched(pc, word, ~missing, ~long, predicted)


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

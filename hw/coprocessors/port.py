"""Port: the host's commands, when they are accepted, and what they answer."""

from __future__ import annotations

from dataclasses import dataclass

import pyrtl

from hw.coprocessors import engines
from hw.coprocessors.bus import Loads, transfers
from hw.coprocessors.control import Control
from hw.coprocessors.layout import Layout
from hw.coprocessors.settings import Settings
from hw.coprocessors.wires import Wire, add, any_of, decrement
from isa.coprocessor import COMMANDS

__all__ = [
    "COMMAND_BITS",
    "Answer",
    "Errors",
    "Request",
    "Slot",
    "build_answer",
    "build_puts",
    "build_slot",
    "decode",
]

COMMAND_BITS = (len(COMMANDS) - 1).bit_length()


class Errors:
    """What `wait` can answer."""

    NONE = 0
    UNKNOWN = 1
    """The algorithm set at `start` is not held."""
    LACKING = 2
    """`get` or `wait` came before enough of the message."""
    DROPPED = 3
    """`put` came before output that stood in its way was got."""


@dataclass(frozen=True)
class Request:
    """A command that stands at the port.

    Attributes:
        valid: 1 bit, there is one; what follows means nothing without it.
        set: 1 bit, it is `set`; likewise the next four.
        put: `put`.
        start: `start`.
        wait: `wait`.
        get: `get`.
        a: First operand.
        b: Second operand.
        commit: 1 bit, in the last of its cycles, in which it takes effect.
    """

    valid: Wire
    set: Wire
    put: Wire
    start: Wire
    wait: Wire
    get: Wire
    a: Wire
    b: Wire
    commit: Wire


def decode(valid: Wire, commit: Wire, code: Wire, a: Wire, b: Wire) -> Request:
    """Tell the commands apart; `code` is a place in `isa.coprocessor.COMMANDS`."""
    found = {name: code == COMMANDS.index(name) for name in ("set", "put", "start", "wait", "get")}
    return Request(valid, **found, a=a, b=b, commit=commit)


@dataclass(frozen=True)
class Slot:
    """The command that takes effect, which the host gave in an earlier cycle.

    Attributes:
        set: 1 bit, it is `set`; likewise the next three.
        put: `put`.
        start: `start`.
        take: A `get`, whose output is taken.
        a: First operand.
        b: Second operand.
        full: 1 bit, there is one.
    """

    set: Wire
    put: Wire
    start: Wire
    take: Wire
    a: Wire
    b: Wire
    full: Wire


def build_slot(layout: Layout, request: Request, *, takes: Wire, held: Wire) -> Slot:
    """Build the slot behind the port, so that a late command has a short way to a register.

    Args:
        layout: Sizes.
        request: The command at the port.
        takes: 1 bit, it is a `get` that takes output.
        held: 1 bit, the command in the slot stays there.
    """
    entering = {"set": request.set, "put": request.put, "start": request.start, "take": takes}
    if layout.has_dma:
        del entering["put"], entering["take"]
    bits: dict[str, Wire] = {"put": pyrtl.Const(0, 1), "take": pyrtl.Const(0, 1)}
    for name, enters in entering.items():
        bit = pyrtl.Register(1, f"slot_{name}")
        bit.next <<= pyrtl.select(held, bit, enters & request.commit)
        bits[name] = bit
    operands = []
    for name, wire in (("slot_a", request.a), ("slot_b", request.b)):
        operand = pyrtl.Register(len(wire), name)
        operand.next <<= pyrtl.select(held, operand, wire)
        operands.append(operand)
    full = any_of([bits[name] for name in entering])
    return Slot(**bits, a=operands[0], b=operands[1], full=full)


def build_puts(
    layout: Layout,
    settings: Settings,
    slot: Slot,
    *,
    start: Wire,
    active: Wire,
    allowed: Wire,
    space: Wire,
) -> Loads:
    """Build the account of what the host has put, and still has to put."""
    keyed = settings.constant(lambda n: engines.algorithm(n).key_bytes)
    total = transfers(layout, add(settings.length.zero_extended(len(settings.length) + 1), keyed))
    coming = pyrtl.Register(len(total), "puts_coming")
    full = space == 0
    accepted = slot.put & active & (coming != 0) & ~full & allowed
    coming.next <<= pyrtl.select(start, total, pyrtl.select(accepted, decrement(coming), coming))
    return Loads(coming, accepted, accepted, full, coming == 0)


@dataclass(frozen=True)
class Answer:
    """What the port answers.

    Attributes:
        hold: 1 bit, the command stays where it is; means nothing where there is none.
        result: Its result, xlen bits.
        takes: 1 bit, it is a `get` that takes output.
        held: 1 bit, the command in the slot stays there.
        set: 1 bit, the one in the slot changes a setting.
        start: 1 bit, it starts.
        flush: 1 bit, the host waits for output, so what is in the buffer is all there will be.
    """

    hold: Wire
    result: Wire
    takes: Wire
    held: Wire
    set: Wire
    start: Wire
    flush: Wire


def build_answer(
    layout: Layout,
    settings: Settings,
    request: Request,
    slot: Slot,
    control: Control,
    loads: Loads,
    *,
    busy: Wire,
    waiting: Wire,
    allowed: Wire,
    gathered: Wire,
    data: Wire,
) -> Answer:
    """Build the answers.

    Args:
        layout: Sizes.
        settings: The algorithm.
        request: The command.
        slot: The command that takes effect.
        control: State of the automaton.
        loads: What is still to be loaded.
        busy: 1 bit, the engine works.
        waiting: 1 bit, output has left the engine and is not stored yet.
        allowed: 1 bit, the buffer may be filled.
        gathered: 1 bit, the outlet has all but the last step of a transfer.
        data: The transfer.
    """
    xlen = layout.xlen
    active = control.go | control.out
    error = pyrtl.Register(2, "port_error")
    occupied = busy | control.due  # as with `run`, without the engine's way to `ready`
    if layout.has_dma:
        active = active | waiting
        held = (slot.set | slot.start) & (occupied | active)
        dropped = lacking = takes = flush = pyrtl.Const(0, 1)
        waits = request.wait & (slot.full | active)
        result = pyrtl.select(request.wait, error.zero_extended(xlen), pyrtl.Const(0, xlen))
    else:
        blocked = slot.put & active & (loads.coming != 0) & (loads.full | ~allowed)
        dropped = blocked & control.out
        held = ((slot.set | slot.start) & occupied) | (blocked & ~control.out)
        answered = request.get | request.wait
        lacking = answered & control.starved & ~slot.full
        takes = request.get & control.out & gathered & ~slot.full
        flush = request.valid & answered & ~slot.full
        working = control.go & ~control.starved
        waits = (answered & (slot.full | working)) | (request.get & control.out & ~gathered)
        code = pyrtl.select(lacking, pyrtl.Const(Errors.LACKING, 2), error)
        result = pyrtl.select(
            request.wait,
            code.zero_extended(xlen),
            data & (request.get & control.out).sign_extended(xlen),
        )
    hold = ((request.set | request.put | request.start) & held) | waits
    start = slot.start & ~held
    first = pyrtl.select(
        settings.known, pyrtl.Const(Errors.NONE, 2), pyrtl.Const(Errors.UNKNOWN, 2)
    )
    with pyrtl.conditional_assignment:
        with start:
            error.next |= first
        with dropped:
            error.next |= Errors.DROPPED
        with lacking & request.commit:
            error.next |= Errors.LACKING
    return Answer(hold, result, takes, held, slot.set & ~held, start, flush)

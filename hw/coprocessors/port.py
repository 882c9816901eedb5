"""Port: the host's commands, when they are accepted, and what they answer."""

from __future__ import annotations

from dataclasses import dataclass

import pyrtl

from hw.coprocessors import engines
from hw.coprocessors.bus import Loads, transfers
from hw.coprocessors.control import Control
from hw.coprocessors.layout import Layout
from hw.coprocessors.settings import Settings
from hw.coprocessors.wires import Wire, add, decrement
from isa.coprocessor import COMMANDS

__all__ = ["COMMAND_BITS", "Answer", "Errors", "Request", "build_answer", "build_puts", "decode"]

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
        set: 1 bit, it is `set`; likewise the next four.
        put: `put`.
        start: `start`.
        wait: `wait`.
        get: `get`.
        a: First operand.
        b: Second operand.
        commit: 1 bit, in the last of its cycles, in which it takes effect.
    """

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
    found = {
        name: valid & (code == COMMANDS.index(name))
        for name in ("set", "put", "start", "wait", "get")
    }
    return Request(**found, a=a, b=b, commit=commit)


def build_puts(
    layout: Layout,
    settings: Settings,
    request: Request,
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
    accepted = request.put & request.commit & active & (coming != 0) & ~full & allowed
    coming.next <<= pyrtl.select(start, total, pyrtl.select(accepted, decrement(coming), coming))
    return Loads(coming, accepted, accepted, full, coming == 0)


@dataclass(frozen=True)
class Answer:
    """What the port answers.

    Attributes:
        hold: 1 bit, the command stays where it is.
        result: Its result, xlen bits.
        set: 1 bit, a setting is changed.
        start: 1 bit, a start is accepted.
        take: 1 bit, output is taken.
        flush: 1 bit, the host waits for output, so what is in the buffer is all there will be.
    """

    hold: Wire
    result: Wire
    set: Wire
    start: Wire
    take: Wire
    flush: Wire


def build_answer(
    layout: Layout,
    settings: Settings,
    request: Request,
    control: Control,
    loads: Loads,
    *,
    busy: Wire,
    allowed: Wire,
    gathered: Wire,
    data: Wire,
) -> Answer:
    """Build the answers.

    Args:
        layout: Sizes.
        settings: The algorithm.
        request: The command.
        control: State of the automaton.
        loads: What is still to be loaded.
        busy: 1 bit, the engine works.
        allowed: 1 bit, the buffer may be filled.
        gathered: 1 bit, the outlet has all but the last step of a transfer.
        data: The transfer.
    """
    xlen = layout.xlen
    active = control.go | control.out
    error = pyrtl.Register(2, "port_error")
    occupied = busy | control.run
    if layout.has_dma:
        occupied = occupied | active
        hold = ((request.set | request.start) & occupied) | (request.wait & active)
        dropped = lacking = take = flush = pyrtl.Const(0, 1)
        result = pyrtl.select(request.wait, error.zero_extended(xlen), pyrtl.Const(0, xlen))
    else:
        blocked = request.put & active & (loads.coming != 0) & (loads.full | ~allowed)
        dropped = blocked & control.out
        working = control.go & ~control.starved
        lacking = (request.get | request.wait) & control.starved
        take = request.get & request.commit & control.out & gathered
        flush = request.get | request.wait
        hold = (
            ((request.set | request.start) & occupied)
            | (blocked & ~control.out)
            | (flush & working)
            | (request.get & control.out & ~gathered)
        )
        code = pyrtl.select(lacking, pyrtl.Const(Errors.LACKING, 2), error)
        result = pyrtl.select(
            request.wait,
            code.zero_extended(xlen),
            data & (request.get & control.out).sign_extended(xlen),
        )
    start = request.start & request.commit
    first = pyrtl.select(
        settings.known, pyrtl.Const(Errors.NONE, 2), pyrtl.Const(Errors.UNKNOWN, 2)
    )
    with pyrtl.conditional_assignment:
        with start:
            error.next |= first
        with dropped & request.commit:
            error.next |= Errors.DROPPED
        with lacking & request.commit:
            error.next |= Errors.LACKING
    return Answer(hold, result, request.set & request.commit, start, take, flush)

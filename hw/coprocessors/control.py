"""Control: the automaton that begins the operations of an engine, block after block."""

from __future__ import annotations

from dataclasses import dataclass

import pyrtl

from hw.coprocessors import engines
from hw.coprocessors.padding import CUT_BITS, Cut
from hw.coprocessors.settings import LENGTH_BITS, Settings
from hw.coprocessors.wires import Wire, subtract

__all__ = ["Control", "Events", "build_control", "is_empty"]


@dataclass(frozen=True)
class Events:
    """What control reacts to, 1 bit each.

    Attributes:
        start: A message begins.
        abort: Whatever is under way ends.
        available: The next block or key, or the last of the message, is in the buffer.
        allowed: The buffer may be emptied.
        ready: The engine can begin an operation.
        busy: The engine works.
        leave: The last output of the operation is taken.
        more: It has to be squeezed for further output.
    """

    start: Wire
    abort: Wire
    available: Wire
    allowed: Wire
    ready: Wire
    busy: Wire
    leave: Wire
    more: Wire


@dataclass(frozen=True)
class Control:
    """What control says, 1 bit each but for `cut`.

    Attributes:
        go: Blocks are worked on, or waited for.
        out: Output stands at the engine.
        due: An operation begins if the engine is ready, as it is while not busy.
        run: An operation begins.
        key: The operation that begins is KEY.
        squeeze: It is SQUEEZE.
        ended: The last block of the message has begun.
        finish: An operation is in its last cycle.
        key_now: That operation is KEY.
        starved: The block that is waited for is not in the buffer, and nothing else is done.
        cut: Where the message ends in the block that is being pulled.
    """

    go: Wire
    out: Wire
    due: Wire
    run: Wire
    key: Wire
    squeeze: Wire
    ended: Wire
    finish: Wire
    key_now: Wire
    starved: Wire
    cut: Cut


def is_empty(settings: Settings) -> Wire:
    """1 bit, the message set asks for no operation: no block has an output, or none is wanted."""
    per_block = settings.constant(lambda n: engines.algorithm(n).per_block)
    extendable = settings.constant(lambda n: engines.algorithm(n).extendable)
    return (per_block & (settings.length == 0)) | (extendable & (settings.output_length == 0))


def build_control(settings: Settings, events: Events) -> Control:
    """Build the automaton.

    It rests until `start`; then it goes: it begins each operation in the first cycle in which the
    engine is ready and the block is there. After an operation with output it waits until the
    output is taken.
    """
    algorithm = engines.algorithm
    go, out = pyrtl.Register(1, "control_go"), pyrtl.Register(1, "control_out")
    outputs = pyrtl.Register(1, "control_outputs")
    ended = pyrtl.Register(1, "control_ended")
    key_next, key_now = pyrtl.Register(1, "control_key_next"), pyrtl.Register(1, "control_key_now")
    left = pyrtl.Register(LENGTH_BITS, "control_left")
    marked = pyrtl.Register(1, "control_marked")
    cut_full, cut_mark = pyrtl.Register(1, "cut_full"), pyrtl.Register(1, "cut_mark")
    cut_last, cut_at = pyrtl.Register(1, "cut_last"), pyrtl.Register(CUT_BITS, "cut_at")

    padded = settings.constant(lambda n: algorithm(n).padding is not None)
    per_block = settings.constant(lambda n: algorithm(n).per_block)
    keyed = settings.constant(lambda n: algorithm(n).key_bytes > 0)
    size = settings.constant(lambda n: algorithm(n).block_bytes, CUT_BITS)
    room = settings.constant(_room, CUT_BITS)

    due = go & ~outputs & (ended | (events.available & events.allowed))
    run = due & events.ready
    finish = go & events.busy & events.ready
    rest = left[:CUT_BITS]
    far = left[CUT_BITS:] != 0
    full = far | (rest >= size)
    last = pyrtl.select(padded, ~full & (rest <= room), ~far & (rest <= size))
    absorbs = run & ~key_next & ~ended

    with pyrtl.conditional_assignment:
        with events.start:
            go.next |= 1
            out.next |= 0
            outputs.next |= 0
            ended.next |= 0
            key_next.next |= keyed
            left.next |= settings.length
            marked.next |= 0
        with events.abort:
            go.next |= 0
            out.next |= 0
        with events.leave:
            out.next |= 0
            outputs.next |= 0
            go.next |= pyrtl.select(per_block, ~ended, events.more)
        with finish & outputs:
            go.next |= 0
            out.next |= 1
        with run:
            key_now.next |= key_next
            key_next.next |= 0
            outputs.next |= ended | (~key_next & (per_block | last))
            with absorbs:
                ended.next |= last
                left.next |= pyrtl.select(full, subtract(left, size), pyrtl.Const(0, LENGTH_BITS))
                marked.next |= ~full
            cut_full.next |= key_next | full
            cut_at.next |= rest
            cut_mark.next |= ~key_next & padded & ~full & ~marked
            cut_last.next |= ~key_next & padded & last
    starved = go & ~events.busy & ~ended & ~events.available
    cut = Cut(cut_full, cut_at, cut_mark, cut_last)
    return Control(go, out, due, run, key_next, ended, ended, finish, key_now, starved, cut)


def _room(name: str) -> int:
    """Most bytes of the message that leave room for all of the padding in a block."""
    found = engines.algorithm(name)
    behind = 1 + found.padding.length_bytes if found.padding else 0
    return found.block_bytes - behind

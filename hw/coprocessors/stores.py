"""Stores: output on its way from the engine to the bus, directly or through a queue."""

from __future__ import annotations

from dataclasses import dataclass

import pyrtl

from hw.coprocessors.layout import Layout
from hw.coprocessors.outlet import Outlet
from hw.coprocessors.queue import build_queue
from hw.coprocessors.wires import Wire

__all__ = ["Stores", "build_stores"]


@dataclass(frozen=True)
class Stores:
    """What is to be stored.

    Attributes:
        step: 1 bit, the outlet makes a step.
        wanted: 1 bit, there is output, here or at the engine.
        waiting: 1 bit, some has left the engine and is not stored yet.
        there: 1 bit, a transfer is complete, if the bus moves.
        ends: 1 bit, there is no more for now, if the bus moves.
        data: The transfer.
        enables: 1 bit for each byte of it that is output.
    """

    step: Wire
    wanted: Wire
    waiting: Wire
    there: Wire
    ends: Wire
    data: Wire
    enables: Wire


def build_stores(layout: Layout, outlet: Outlet, *, out: Wire, moves: Wire, writes: Wire) -> Stores:
    """Build what is between outlet and bus.

    Args:
        layout: Sizes.
        outlet: The outlet.
        out: 1 bit, output stands at the engine.
        moves: 1 bit, the bus is in a beat of a burst that stores.
        writes: 1 bit, it stores one.
    """
    if not layout.queue_depth:
        no = pyrtl.Const(0, 1)
        return Stores(moves, out, no, outlet.complete, outlet.leave, outlet.data, outlet.enables)
    step = Wire(1)
    queue = build_queue(
        layout.queue_depth,
        push=step & outlet.complete,
        pop=writes,
        entry=pyrtl.concat(outlet.enables, outlet.data),
    )
    step <<= out & ~queue.full
    bits = len(outlet.data)
    return Stores(
        step,
        out | ~queue.empty,
        ~queue.empty,
        ~queue.empty,
        queue.single & ~out,
        queue.head[:bits],
        queue.head[bits:],
    )

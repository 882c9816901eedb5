"""Outlet: output leaves the engine step by step and is gathered into transfers."""

from __future__ import annotations

from dataclasses import dataclass

import pyrtl

from hw.coprocessors import engines
from hw.coprocessors.layout import Layout
from hw.coprocessors.settings import LENGTH_BITS, Settings
from hw.coprocessors.wires import Wire, add, subtract

__all__ = ["Outlet", "build_outlet"]


@dataclass(frozen=True)
class Outlet:
    """What the outlet says.

    Attributes:
        select: Number of the engine's word that is wanted.
        data: The transfer, complete when `complete` is 1.
        enables: 1 bit for each byte of the transfer that is output.
        gathered: 1 bit, all steps but the last of a transfer are here.
        complete: 1 bit, the transfer ends with this step.
        leave: 1 bit, this step is the last of the operation.
        more: 1 bit, and more output is wanted.
    """

    select: Wire
    data: Wire
    enables: Wire
    gathered: Wire
    complete: Wire
    leave: Wire
    more: Wire


def build_outlet(
    layout: Layout,
    settings: Settings,
    *,
    start: Wire,
    out: Wire,
    step: Wire,
    ended: Wire,
    word: Wire,
) -> Outlet:
    """Build the outlet.

    Args:
        layout: Sizes.
        settings: The algorithm, and how much output is wanted.
        start: 1 bit, a message begins.
        out: 1 bit, output stands at the engine.
        step: 1 bit, a step is made; only with `out`.
        ended: 1 bit, the output is that of the last block.
        word: The engine's word number `select`.
    """
    algorithm = engines.algorithm
    size, gather = layout.step_bytes, layout.gather
    part_bits = (layout.word_bytes // size - 1).bit_length()
    steps = settings.constant(lambda n: layout.output_steps(algorithm(n)) - 1, part_bits + 1)
    extendable = settings.constant(lambda n: algorithm(n).extendable)
    at = pyrtl.Register(len(steps), "outlet_at")
    at.next <<= pyrtl.select(out, pyrtl.select(step, add(at, 1), at), pyrtl.Const(0, len(at)))
    wanted = pyrtl.Register(LENGTH_BITS, "outlet_wanted")
    enough = wanted <= size
    reduced = pyrtl.select(enough, pyrtl.Const(0, LENGTH_BITS), subtract(wanted, size))
    wanted.next <<= pyrtl.select(start, settings.output_length, pyrtl.select(step, reduced, wanted))
    block_end = at == steps
    end = pyrtl.select(extendable, enough, block_end & ended)
    count: Wire = pyrtl.Const(0, 1)
    if gather > 1:
        count = pyrtl.Register((gather - 1).bit_length(), "outlet_gathered")
    all_gathered = count == gather - 1
    complete = all_gathered | end if layout.has_dma else all_gathered
    if gather > 1:
        counted = pyrtl.select(complete, pyrtl.Const(0, len(count)), add(count, 1))
        counted = pyrtl.select(step, counted, count)
        count.next <<= pyrtl.select(start, pyrtl.Const(0, len(count)), counted)

    parts = [word[i : i + 8 * size] for i in range(0, len(word), 8 * size)]
    part = pyrtl.mux(at[:part_bits], *parts) if part_bits else word
    lanes: list[Wire] = []
    for i in range(gather):
        if i == gather - 1:
            lanes.append(part)
            continue
        lane = pyrtl.Register(8 * size, f"outlet_{i}")
        lane.next <<= pyrtl.select(step & (count == i), part, lane)
        lanes.append(pyrtl.select(count == i, part, lane) if layout.has_dma else lane)
    leave = step & (block_end | (complete & end))
    return Outlet(
        at[part_bits:],
        pyrtl.concat_list(lanes),
        _enables(layout, count, pyrtl.select(extendable, wanted, pyrtl.Const(size, LENGTH_BITS))),
        all_gathered,
        complete,
        leave,
        extendable & ~end,
    )


def _enables(layout: Layout, count: Wire, wanted: Wire) -> Wire:
    """Which bytes of a transfer are output when it ends with the step number `count`."""
    size = layout.step_bytes
    enables = []
    for i in range(layout.gather):
        for j in range(size):
            enables.append((count > i) | ((count == i) & (wanted > j)))
    return pyrtl.concat_list(enables)

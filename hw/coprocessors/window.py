"""Window: the registers through which loads and stores reach a co-processor."""

from __future__ import annotations

from dataclasses import dataclass

import pyrtl

from hw.coprocessors.layout import Layout
from hw.coprocessors.port import Request
from hw.coprocessors.wires import Wire, add
from isa.coprocessor import (
    GET_OFFSET,
    PUT_OFFSET,
    SET_OFFSET,
    START_OFFSET,
    WAIT_OFFSET,
    WINDOW_SIZE,
)

__all__ = ["OFFSET_BITS", "Window", "build_window"]

OFFSET_BITS = (WINDOW_SIZE - 1).bit_length()
"""Bits of an offset in the window."""


@dataclass(frozen=True)
class Window:
    """What the window makes of an access.

    Attributes:
        request: The command for which it stands.
        hold: 1 bit, the access is still on its way.
    """

    request: Request
    hold: Wire


def build_window(
    layout: Layout, *, valid: Wire, commit: Wire, store: Wire, offset: Wire, data: Wire
) -> Window:
    """Build the decoder of accesses, which takes each of them bus_latency cycles.

    That is at least one, so what an access asks is read from registers.

    Args:
        layout: Sizes.
        valid: 1 bit, an access stands at the window; it stays until `commit`.
        commit: 1 bit, this is the cycle in which it takes effect.
        store: 1 bit, it is a store, else a load.
        offset: In the window, `OFFSET_BITS` wide.
        data: What is stored, xlen bits.
    """
    latency = layout.p.bus_latency
    waited = pyrtl.Register(latency.bit_length(), "window_waited")
    arrived = waited == latency
    on_its_way = valid & ~arrived
    following = pyrtl.select(on_its_way, add(waited, 1), waited)
    waited.next <<= pyrtl.select(commit, pyrtl.Const(0, len(waited)), following)
    offset, data, store = (
        _registered(wire, name)
        for wire, name in ((offset, "offset"), (data, "data"), (store, "store"))
    )
    last = offset == PUT_OFFSET
    a = data
    if layout.xlen == 32:
        low = pyrtl.Register(32, "window_low")
        low.next <<= pyrtl.select(commit & store & last, data, low)
        last = offset == PUT_OFFSET + 4
        a = pyrtl.select(last, low, data)
    is_setting = (offset >= SET_OFFSET) & (offset < PUT_OFFSET)
    number = pyrtl.select(is_setting, offset[3:6].zero_extended(layout.xlen), data)
    request = Request(
        valid=valid & arrived,
        set=arrived & store & is_setting,
        put=arrived & store & last,
        start=arrived & store & (offset == START_OFFSET),
        wait=arrived & ~store & (offset == WAIT_OFFSET),
        get=arrived & ~store & (offset == GET_OFFSET),
        a=a,
        b=number,
        commit=commit,
    )
    return Window(request, on_its_way)


def _registered(wire: Wire, name: str) -> Wire:
    found = pyrtl.Register(len(wire), f"window_{name}")
    found.next <<= wire
    return found

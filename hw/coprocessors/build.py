"""Build: a co-processor that stands alone, as a PyRTL block."""

from __future__ import annotations

from dataclasses import fields

import pyrtl

from hw.coprocessors.layout import Layout
from hw.coprocessors.logic import Makers, Memory, build_logic
from hw.coprocessors.parameters import Coprocessor
from hw.coprocessors.port import COMMAND_BITS, decode
from hw.coprocessors.window import OFFSET_BITS, build_window
from hw.coprocessors.wires import Wire

__all__ = ["build"]


def build(p: Coprocessor, xlen: int = 32, makers: Makers | None = None) -> pyrtl.Block:
    """Build a co-processor that stands alone.

    Inputs are `valid` (1 bit), `command` (place in `isa.coprocessor.COMMANDS`), `a` and `b` (xlen
    bits), which stand still while `hold` is 1; output `result` is the answer. Instead of them a
    mapped one has `valid`, `store` (1 bit), `offset` (in the window) and `data` (xlen bits). With
    DMA, outputs `memory_address`, `memory_read`, `memory_write`, `memory_data` and
    `memory_enables` are answered by input `memory_word` a cycle later. `active` is 1 while a
    message is worked on. `makers` are what makes engines and buffer, by default those there are.
    """
    layout = Layout(p, xlen)
    with pyrtl.temp_working_block():
        valid, commit = pyrtl.Input(1, "valid"), Wire(1, "commit")
        on_its_way: Wire = pyrtl.Const(0, 1)
        if p.attachment == "mapped":
            store, offset = pyrtl.Input(1, "store"), pyrtl.Input(OFFSET_BITS, "offset")
            data = pyrtl.Input(xlen, "data")
            window = build_window(
                layout, valid=valid, commit=commit, store=store, offset=offset, data=data
            )
            request, on_its_way = window.request, window.hold
        else:
            a, b = pyrtl.Input(xlen, "a"), pyrtl.Input(xlen, "b")
            request = decode(valid, commit, pyrtl.Input(COMMAND_BITS, "command"), a, b)
        word = pyrtl.Input(p.bus_width, "memory_word") if layout.has_dma else None
        logic = build_logic(layout, request, word, makers or Makers())
        hold = valid & (logic.hold | on_its_way)
        commit <<= valid & ~hold
        for name, wire in (("hold", hold), ("result", logic.result), ("active", logic.active)):
            _output(name, wire)
        if logic.memory is not None:
            for field in fields(Memory):
                _output(f"memory_{field.name}", getattr(logic.memory, field.name))
        return pyrtl.working_block()


def _output(name: str, wire: Wire) -> None:
    output = pyrtl.Output(len(wire), name)
    output <<= wire

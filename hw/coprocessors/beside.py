"""Beside: a co-processor at a core, which shares its data memory; see `hw.slot.Coprocessor`."""

from __future__ import annotations

from dataclasses import replace

import pyrtl

from hw.coprocessors.layout import Layout
from hw.coprocessors.logic import Logic, build_logic
from hw.coprocessors.parameters import Coprocessor
from hw.coprocessors.port import Request, decode
from hw.coprocessors.window import OFFSET_BITS, build_window
from hw.coprocessors.wires import Wire
from hw.slot import Access, Answer, Command, DataPort
from isa.coprocessor import GET_OFFSET, WAIT_OFFSET, WINDOW_BASE

__all__ = ["Beside"]

WORD_BITS = 32
"""Bits of a word of data memory as the core sees it."""


class Beside:
    """Builds one member of the family into the block of a core.

    With DMA, data memory is as wide as the bus, with a write enable for each byte; the core reaches
    one word of it. While a message is under way its loads and stores wait, and memory is the
    co-processor's.
    """

    def __init__(self, p: Coprocessor, xlen: int = 32) -> None:
        """Take note of the parameters; nothing is built yet."""
        self._layout = Layout(p, xlen)
        self._logic: Logic | None = None
        self._memory_word: Wire | None = None

    def command(self, command: Command) -> Answer:
        """Build the co-processor, reached by instructions."""
        request = decode(command.valid, command.commit, command.code, command.a, command.b)
        logic = self._built(request)
        return Answer(logic.result, logic.hold)

    def access(self, access: Access, memory: DataPort) -> Answer:
        """Build what stands between the core and data memory; see `hw.slot.Coprocessor`."""
        if self._layout.p.attachment == "mapped":
            return self._mapped(access, memory)
        if self._logic is None:  # the set has no commands, so it is never used
            return memory(access)
        return self._shared(self._logic, access, memory)

    def _built(self, request: Request) -> Logic:
        word = None
        if self._layout.has_dma:
            word = self._memory_word = Wire(self._layout.p.bus_width)
        self._logic = build_logic(self._layout, request, word)
        return self._logic

    def _mapped(self, access: Access, memory: DataPort) -> Answer:
        low = OFFSET_BITS
        is_window = access.address[low:] == WINDOW_BASE >> low
        offset = access.address[:low]
        valid, commit = access.valid & is_window, Wire(1, "window_commit")
        is_load = (offset == WAIT_OFFSET) | (offset == GET_OFFSET)
        window = build_window(
            self._layout,
            valid=valid,
            commit=commit,
            store=~is_load,
            offset=offset,
            data=access.data,
        )
        logic = self._built(window.request)
        hold = window.hold | logic.hold
        commit <<= valid & ~hold
        outside = replace(
            access,
            valid=access.valid & ~is_window,
            read=access.read & ~is_window,
            write=access.write & ~is_window,
        )
        shared = self._shared(logic, outside, memory)
        was_window = pyrtl.Register(1, "was_window")
        was_window.next <<= commit
        result = pyrtl.Register(len(logic.result), "window_result")
        result.next <<= logic.result
        waits = hold if shared.hold is None else pyrtl.select(is_window, hold, shared.hold)
        return Answer(
            pyrtl.select(was_window, result, shared.value),
            waits if shared.hold is not None else is_window & hold,
        )

    def _shared(self, logic: Logic, access: Access, memory: DataPort) -> Answer:
        """Data memory, which is the co-processor's while a message is under way."""
        port = logic.memory
        if port is None:
            return memory(access)
        words = self._layout.p.bus_width // WORD_BITS
        bits = (words - 1).bit_length()
        number = access.address[2 : 2 + bits] if bits else None
        active, size = logic.active, WORD_BITS // 8
        mine = [
            access.enables if number is None else access.enables & (number == i).sign_extended(size)
            for i in range(words)
        ]
        own, theirs = (
            Access(
                valid=active,
                read=port.read,
                address=port.address.zero_extended(len(access.address)),
                data=port.data,
                enables=port.enables,
                write=port.write,
            ),
            replace(
                access,
                data=pyrtl.concat_list([access.data] * words),
                enables=pyrtl.concat_list(mine),
            ),
        )
        answer = memory(
            Access(
                **{
                    name: pyrtl.select(active, getattr(own, name), getattr(theirs, name))
                    for name in ("valid", "read", "address", "data", "enables", "write")
                }
            )
        )
        assert self._memory_word is not None
        self._memory_word <<= answer.value
        value = answer.value
        if number is not None:
            held = pyrtl.Register(bits, "word_held")
            held.next <<= number
            choices = [value[WORD_BITS * i : WORD_BITS * (i + 1)] for i in range(words)]
            value = pyrtl.mux(held, *choices)
        return Answer(value, active)

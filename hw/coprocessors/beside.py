"""Beside: a co-processor at a core, which shares its data memory; see `hw.slot.Coprocessor`."""

from __future__ import annotations

from collections.abc import Callable
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


class Beside:
    """Builds one member of the family into the block of a core.

    With DMA, data memory is as wide as the bus or a register of the core, whichever is wider, with
    a write enable for each byte; each reaches its part of a word. While a message is under way,
    loads and stores of the core wait, and memory is the co-processor's.
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
        active = logic.active
        width = max(len(access.data), self._layout.p.bus_width)
        own = Access(
            valid=active,
            read=port.read,
            address=port.address.zero_extended(len(access.address)),
            data=port.data,
            enables=port.enables,
            write=port.write,
        )
        mine, beat = _widened(own, width, "beat_held")
        theirs, word = _widened(access, width, "word_held")
        answer = memory(
            Access(
                **{
                    name: pyrtl.select(active, getattr(mine, name), getattr(theirs, name))
                    for name in ("valid", "read", "address", "data", "enables", "write")
                }
            )
        )
        assert self._memory_word is not None
        self._memory_word <<= beat(answer.value)
        return Answer(word(answer.value), active)


def _widened(access: Access, width: int, name: str) -> tuple[Access, Callable[[Wire], Wire]]:
    """An access to memory of `width` bits, and what picks its part of the answer a cycle later."""
    parts, size = width // len(access.data), len(access.enables)
    if parts == 1:
        return access, lambda value: value
    low, bits = (size - 1).bit_length(), (parts - 1).bit_length()
    number = access.address[low : low + bits]
    held = pyrtl.Register(bits, name)
    held.next <<= number
    mine = [access.enables & (number == i).sign_extended(size) for i in range(parts)]
    wide = replace(
        access,
        data=pyrtl.concat_list([access.data] * parts),
        enables=pyrtl.concat_list(mine),
    )

    def picked(value: Wire) -> Wire:
        bits_of_part = 8 * size
        choices = [value[bits_of_part * i : bits_of_part * (i + 1)] for i in range(parts)]
        return pyrtl.mux(held, *choices)

    return wide, picked

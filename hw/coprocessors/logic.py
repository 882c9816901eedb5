"""Logic: the parts of a co-processor, wired together in PyRTL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import pyrtl

from hw.coprocessors import engines
from hw.coprocessors.buffer import (
    MemoryBuilder,
    build_account,
    build_buffer,
    build_memory,
    build_phase,
    build_place,
)
from hw.coprocessors.bus import build_bus
from hw.coprocessors.control import Control, Events, build_control, is_empty
from hw.coprocessors.engines.engine import Engine, Inputs, Outputs
from hw.coprocessors.layout import Layout
from hw.coprocessors.outlet import build_outlet
from hw.coprocessors.padding import build_padder
from hw.coprocessors.parameters import Coprocessor
from hw.coprocessors.port import (
    Request,
    build_answer,
    build_puts,
    build_slot,
)
from hw.coprocessors.settings import Settings, build_settings
from hw.coprocessors.stores import build_stores
from hw.coprocessors.wires import Wire, any_of, picked

__all__ = ["Logic", "Makers", "Memory", "build_logic", "held_engines"]


def _build_engine(engine: Engine, p: Coprocessor, inputs: Inputs) -> Outputs:
    return engine.build(p, inputs)


@dataclass(frozen=True)
class Makers:
    """What makes the parts that stand in the frame, in the working block.

    Attributes:
        engine: Makes an engine.
        memory: Makes the memory of the buffer.
    """

    engine: Callable[[Engine, Coprocessor, Inputs], Outputs] = _build_engine
    memory: MemoryBuilder = build_memory


@dataclass(frozen=True)
class Memory:
    """The co-processor's port to memory.

    Memory answers the address of one cycle in the next, and is written at the end of the cycle.

    Attributes:
        address: Byte address, 32 bits, a multiple of the bytes of a beat.
        read: 1 bit, a beat is loaded.
        write: 1 bit, a beat is stored.
        data: What is stored; bits 7..0 are the byte with the lowest address.
        enables: 1 bit for each byte stored.
    """

    address: Wire
    read: Wire
    write: Wire
    data: Wire
    enables: Wire


@dataclass(frozen=True)
class Logic:
    """A co-processor in the working block.

    Attributes:
        hold: 1 bit, the command at the port stays where it is, if there is one.
        result: Its result, xlen bits.
        active: 1 bit, from behind an accepted start to the end of its message.
        memory: The port to memory; None where the host moves the data.
    """

    hold: Wire
    result: Wire
    active: Wire
    memory: Memory | None


def held_engines(p: Coprocessor) -> tuple[Engine, ...]:
    """The engines that the algorithms of `p` need, sorted by name."""
    return tuple(engines.engines()[name] for name in p.engine_names())


def build_logic(
    layout: Layout,
    request: Request,
    memory_word: Wire | None = None,
    makers: Makers = Makers(),
) -> Logic:
    """Build a co-processor in the working block.

    Args:
        layout: Sizes.
        request: The command at its port.
        memory_word: The answer of memory; None where the host moves the data.
        makers: What makes engines and buffer.
    """
    p = layout.p
    write, fills, step = Wire(1), Wire(1), Wire(1)
    space, word = Wire(layout.capacity.bit_length()), Wire(p.width)
    select = Wire(max(e.select_bits(p) for e in held_engines(p)))
    events = Events(*(Wire(1) for _ in fields(Events)))
    takes, stays = Wire(1), Wire(1)
    slot = build_slot(layout, request, takes=takes, held=stays)
    settings = build_settings(layout, write, slot.b[:3], slot.a)
    control = build_control(settings, events)
    active = control.go | control.out
    engine = _engines(p, settings, events.start, control, word, select, makers)
    outlet = build_outlet(
        layout,
        settings,
        start=events.start,
        out=control.out,
        step=step,
        ended=control.ended,
        word=engine.out,
    )
    select <<= outlet.select

    memory: Memory | None = None
    waiting: Wire = pyrtl.Const(0, 1)
    if memory_word is None:
        data = pyrtl.concat(slot.b, slot.a) if layout.xlen == 32 else slot.a
        loads = build_puts(
            layout, settings, slot, start=events.start, active=active, allowed=fills, space=space
        )
        step <<= (control.out & ~outlet.gathered) | slot.take
    else:
        data = memory_word
        moves, writes = Wire(1), Wire(1)
        stores = build_stores(layout, outlet, out=control.out, moves=moves, writes=writes)
        bus = build_bus(
            layout,
            settings,
            start=events.start,
            stores=stores.wanted,
            allowed=fills & active,
            space=space,
            there=stores.there,
            ends=stores.ends,
        )
        moves <<= bus.moves
        writes <<= bus.write
        step <<= stores.step
        loads, waiting = bus.loads, stores.waiting
        memory = Memory(bus.address, bus.read, bus.write, stores.data, stores.enables)
    answer = build_answer(
        layout,
        settings,
        request,
        slot,
        control,
        loads,
        busy=engine.busy,
        waiting=waiting,
        allowed=fills,
        gathered=outlet.gathered,
        data=outlet.data,
    )
    write <<= answer.set
    takes <<= answer.takes
    stays <<= answer.held

    sizes = _Sizes(layout, settings)
    begun, ending = sizes.units(control.key), sizes.units(control.key_now)
    account = build_account(
        layout,
        restart=events.start,
        promised=loads.promised,
        arrived=_given(loads.arrived, pyrtl.Const(layout.transfer_units)),
        begun=_given(control.run, begun),
        freed=_given(control.finish, ending),
    )
    space <<= account.space
    index = build_place(
        restart=events.start,
        run=control.run,
        words=sizes.words(control.key),
        take=engine.take,
        bits=layout.index_bits,
    )
    raw = build_buffer(
        layout,
        restart=events.start,
        write=loads.arrived,
        data=data,
        index=index,
        build=makers.memory,
    )
    number = pyrtl.Register(len(engine.take), "word_number")
    number.next <<= engine.take
    word <<= build_padder(layout, settings, control.cut, number, raw)

    available = loads.loaded | (account.level >= begun)
    empties: Wire = pyrtl.Const(1, 1)
    if p.double_buffer:
        fills <<= 1
    else:
        filling = build_phase(
            restart=events.start,
            close=loads.loaded | loads.full | (answer.flush & available),
            opens=control.starved,
        )
        fills <<= filling
        empties = ~filling
    begins = answer.start & settings.known & ~is_empty(settings)
    abort = (answer.start | answer.set) & ~begins
    happened = Events(
        begins, abort, available, empties, engine.ready, engine.busy, outlet.leave, outlet.more
    )
    for field in fields(Events):
        wire = getattr(events, field.name)
        wire <<= getattr(happened, field.name)
    return Logic(answer.hold, answer.result, active | waiting | slot.start, memory)


def _given(condition: Wire, value: Wire) -> Wire:
    """`value` where the condition holds, else 0."""
    return value & condition.sign_extended(len(value))


class _Sizes:
    """How much buffer the next operation of the selected algorithm takes."""

    def __init__(self, layout: Layout, settings: Settings) -> None:
        self._layout = layout
        self._settings = settings

    def _either(self, key: Wire, unit_bytes: int) -> Wire:
        block = self._settings.constant(lambda n: engines.algorithm(n).block_bytes // unit_bytes)
        whole = self._settings.constant(lambda n: engines.algorithm(n).key_bytes // unit_bytes)
        return pyrtl.select(key, whole, block)

    def units(self, key: Wire) -> Wire:
        """Units of buffer space of a block, or of a key."""
        return self._either(key, self._layout.p.unit_bytes)

    def words(self, key: Wire) -> Wire:
        """Words of the engine's width of a block, or of a key."""
        return self._either(key, self._layout.word_bytes)


def _engines(
    p: Coprocessor,
    settings: Settings,
    start: Wire,
    control: Control,
    word: Wire,
    select: Wire,
    makers: Makers,
) -> Outputs:
    """Build the engines, and choose the outputs of the one that has the selected algorithm."""
    found = []
    for engine in held_engines(p):
        selected = {name: settings.selected[name] for name in engine.held(p)}
        chosen = any_of(list(selected.values()))
        inputs = Inputs(
            selected,
            start & chosen,
            control.run & chosen,
            control.key,
            control.squeeze,
            word,
            select[: engine.select_bits(p)],
        )
        found.append((chosen, makers.engine(engine, p, inputs)))
    return Outputs(
        **{f.name: picked([(c, getattr(o, f.name)) for c, o in found]) for f in fields(Outputs)}
    )

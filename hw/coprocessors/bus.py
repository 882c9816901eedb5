"""Bus: the co-processor's own way to memory, which loads messages and stores output in bursts."""

from __future__ import annotations

from dataclasses import dataclass

import pyrtl

from hw.coprocessors import engines
from hw.coprocessors.layout import Layout
from hw.coprocessors.settings import LENGTH_BITS, Settings
from hw.coprocessors.wires import Wire, add, decrement, subtract

__all__ = ["Bus", "Loads", "build_bus", "transfers"]


@dataclass(frozen=True)
class Loads:
    """What is still to be loaded.

    Attributes:
        coming: Transfers that have not been promised space.
        promised: Units of space promised in this cycle.
        arrived: 1 bit, a transfer arrives in this cycle.
        full: 1 bit, nothing is on its way, and there is no space for what comes next.
        loaded: 1 bit, all transfers have arrived.
    """

    coming: Wire
    promised: Wire
    arrived: Wire
    full: Wire
    loaded: Wire


@dataclass(frozen=True)
class Bus:
    """The bus master.

    Memory answers the address of one cycle in the next.

    Attributes:
        loads: What it loads.
        moves: 1 bit, what is to be stored can move on.
        address: Byte address of a beat.
        read: 1 bit, the beat is a load.
        write: 1 bit, the beat is a store.
    """

    loads: Loads
    moves: Wire
    address: Wire
    read: Wire
    write: Wire


def transfers(layout: Layout, size: Wire) -> Wire:
    """Number of transfers that bring `size` bytes."""
    bits = (layout.transfer_bytes - 1).bit_length()
    return add(size.zero_extended(len(size) + 1), layout.transfer_bytes - 1)[bits:]


def build_bus(
    layout: Layout,
    settings: Settings,
    *,
    start: Wire,
    stores: Wire,
    allowed: Wire,
    space: Wire,
    there: Wire,
    ends: Wire,
) -> Bus:
    """Build the bus master: one burst at a time, stores first.

    A burst of n beats takes the bus for bus_latency + n cycles: it is decided upon in the first,
    and its beats are in the last n. Output narrower than a beat makes a beat of several cycles.

    Args:
        layout: Sizes.
        settings: Addresses and lengths.
        start: 1 bit, a message begins.
        stores: 1 bit, there is output to be stored.
        allowed: 1 bit, the buffer may be filled.
        space: Units of buffer space.
        there: 1 bit, a transfer is complete, where `moves` is 1.
        ends: 1 bit, there is no more output for now, where `moves` is 1.
    """
    p = layout.p
    beats, beat_bytes = p.burst_beats, layout.transfer_bytes
    loading, storing = pyrtl.Register(1, "bus_loading"), pyrtl.Register(1, "bus_storing")
    wait = pyrtl.Register(max(1, (p.bus_latency - 1).bit_length()), "bus_wait")
    beats_left = pyrtl.Register(beats.bit_length(), "bus_beats")
    source = pyrtl.Register(LENGTH_BITS, "bus_source")
    destination = pyrtl.Register(LENGTH_BITS, "bus_destination")
    arriving = pyrtl.Register(1, "bus_arriving")
    loading_key = pyrtl.Register(1, "bus_loading_key")
    message = transfers(layout, settings.length)
    coming = pyrtl.Register(len(message), "bus_coming")

    keyed = settings.constant(lambda n: engines.algorithm(n).key_bytes > 0)
    key_beats = settings.constant(lambda n: layout.transfers(engines.algorithm(n).key_bytes))
    burst = pyrtl.Const(beats, beats.bit_length())
    wanted = pyrtl.select(coming >= beats, burst, coming[: len(burst)])
    unit_bits = (layout.transfer_units - 1).bit_length()
    units = pyrtl.concat(wanted, pyrtl.Const(0, unit_bits)) if unit_bits else wanted
    fits = space >= units
    free = ~loading & ~storing
    store = free & stores
    load = free & ~stores & allowed & (coming != 0) & fits
    reload = free & loading_key & (coming == 0)
    moving = wait == 0
    read = loading & moving
    moves = storing & moving
    write = moves & there
    last = beats_left == 1

    with pyrtl.conditional_assignment:
        with start:
            source.next |= pyrtl.select(keyed, settings.key, settings.source)
            destination.next |= settings.destination
            loading_key.next |= keyed
            coming.next |= pyrtl.select(keyed, key_beats.zero_extended(len(message)), message)
        with reload:
            source.next |= settings.source
            loading_key.next |= 0
            coming.next |= message
        with store:
            storing.next |= 1
            beats_left.next |= burst
            wait.next |= p.bus_latency - 1
        with load:
            loading.next |= 1
            beats_left.next |= wanted
            wait.next |= p.bus_latency - 1
            coming.next |= subtract(coming, wanted)
        with ~moving:
            wait.next |= decrement(wait)
        with loading:
            source.next |= add(source, beat_bytes)
            beats_left.next |= decrement(beats_left)
            loading.next |= ~last
        with storing:
            storing.next |= ~((moves & ends) | (write & last))
            with write:
                beats_left.next |= decrement(beats_left)
                destination.next |= add(destination, beat_bytes)
    arriving.next <<= read
    promised = units & load.sign_extended(len(units))
    loaded = ~loading & ~arriving & ~loading_key & (coming == 0)
    address = pyrtl.select(storing, destination, source)
    full = free & ~arriving & ~fits
    return Bus(Loads(coming, promised, arriving, full, loaded), moves, address, read, write)

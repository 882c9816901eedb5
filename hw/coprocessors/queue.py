"""Queue: output that waits for the bus while the engine goes on with the next block."""

from __future__ import annotations

from dataclasses import dataclass

import pyrtl

from hw.coprocessors.wires import Wire, add, decrement

__all__ = ["Queue", "build_queue"]


@dataclass(frozen=True)
class Queue:
    """What is in the queue.

    Attributes:
        head: The entry that entered first.
        empty: 1 bit, there is none.
        single: 1 bit, there is at most one.
        full: 1 bit, no other can enter.
    """

    head: Wire
    empty: Wire
    single: Wire
    full: Wire


def build_queue(depth: int, *, push: Wire, pop: Wire, entry: Wire) -> Queue:
    """Build a queue of registers.

    Args:
        depth: Entries, 2 or more.
        push: 1 bit, `entry` enters; not where the queue is full.
        pop: 1 bit, the first one leaves; not where the queue is empty.
        entry: What enters.
    """
    count = pyrtl.Register(depth.bit_length(), "queue_count")
    fewer = pyrtl.select(pop, decrement(count), count)
    count.next <<= pyrtl.select(push, add(fewer, 1), fewer)
    places = [pyrtl.Register(len(entry), f"queue_{i}") for i in range(depth)]
    for i, place in enumerate(places):
        behind = places[i + 1] if i + 1 < depth else place
        stays = pyrtl.select(pop, behind, place)
        place.next <<= pyrtl.select(push & (fewer == i), entry, stays)
    return Queue(places[0], count == 0, count <= 1, count == depth)

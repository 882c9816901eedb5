"""Schedule: when a member of the family loads, computes and stores for one message."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hw.coprocessors import engines
from hw.coprocessors.automaton import Automaton
from hw.coprocessors.compute import output_size
from hw.coprocessors.job import Note
from hw.coprocessors.layout import Layout
from hw.coprocessors.parameters import WORD_BYTES, Coprocessor
from isa import coprocessor

__all__ = ["Schedule", "host_commands", "schedule"]


@dataclass(frozen=True)
class Schedule:
    """What happens in the cycles of one message, counted from the one behind `start`.

    Attributes:
        phases: Bursts or runs of `put`s ("load"), operations of the engine ("compute"), bursts or
            runs of `get`s ("store"), in the order in which they begin.
        cycles: Up to the one in which the last output is stored or got.
        unit_utilisation: Share of the cycles in which the engine is busy.
        bus_utilisation: Share of the cycles with a beat on the bus, or a `put` or `get` accepted.
    """

    phases: tuple[Note, ...]
    cycles: int
    unit_utilisation: float
    bus_utilisation: float


def host_commands(layout: Layout, name: str, size: int, wanted: int = 0) -> Iterator[str]:
    """Yield the commands of one message from `start` on, in an order that never loses time.

    Where every block has an output, the host puts one block ahead of the output it gets if the
    buffer is double, and gets the output of a block before it puts the next if not.

    Args:
        layout: Sizes.
        name: Algorithm.
        size: Bytes of the message.
        wanted: Bytes of output wanted of an extendable algorithm.
    """
    algorithm = engines.algorithm(name)
    yield "start"
    if layout.has_dma:
        yield "wait"
        return
    total = layout.transfers(size)
    output = output_size(algorithm, size, wanted)
    gets = -(-output * 8 // layout.xlen)
    if not output:
        return
    put_word = ["low", "put"] if layout.p.attachment == "mapped" and layout.xlen == 32 else ["put"]
    yield from put_word * layout.transfers(algorithm.key_bytes)
    if not algorithm.per_block:
        yield from put_word * total + ["get"] * gets
        return
    words = algorithm.block_bytes // WORD_BYTES
    ahead = words if layout.p.double_buffer else 0
    put = min(total, ahead)
    yield from put_word * put
    per_block = algorithm.output_bytes * 8 // layout.xlen
    for _ in range(gets // per_block):
        more = min(total - put, words)
        put += more
        yield from put_word * more + ["get"] * per_block


def schedule(
    p: Coprocessor, algorithm: str, message_bytes: int, output_bytes: int = 0, xlen: int = 32
) -> Schedule:
    """Return the schedule of a message whose host gives a command as soon as one is accepted.

    Args:
        p: Parameters.
        algorithm: Algorithm held.
        message_bytes: Size of the message.
        output_bytes: Bytes of output wanted; only of extendable algorithms.
        xlen: Register width of the host.

    Raises:
        ValueError: The algorithm is not held.
    """
    if algorithm not in p.algorithms:
        raise ValueError(f"algorithm must be one of {', '.join(p.algorithms)}, not {algorithm!r}")
    layout = Layout(p, xlen)
    automaton = Automaton(layout)
    automaton.settings[coprocessor.ALGORITHM] = coprocessor.ALGORITHMS.index(algorithm)
    automaton.settings[coprocessor.LENGTH] = message_bytes
    automaton.settings[coprocessor.OUTPUT_LENGTH] = output_bytes
    access = p.bus_latency if p.attachment == "mapped" else 0
    for name in host_commands(layout, algorithm, message_bytes, output_bytes):
        automaton.advance(automaton.now + access)
        automaton.finish(name)
    automaton.settle()
    cycles = automaton.active_cycles
    # The first access is that of `start`, which takes effect in its last cycle.
    began = access + 1
    phases = (n._replace(start=n.start - began, end=n.end - began) for n in automaton.notes)
    return Schedule(
        tuple(sorted(phases, key=lambda n: (n.start, n.what))),
        cycles,
        automaton.busy_cycles / max(1, cycles),
        automaton.beats / max(1, cycles),
    )

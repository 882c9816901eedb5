"""Frame: the registers of a co-processor but for its engine, in plain Python, cycle by cycle."""

from __future__ import annotations

from typing import Protocol

from hw.coprocessors.engines.engine import Operation
from hw.coprocessors.job import Job, Note
from hw.coprocessors.layout import Layout
from hw.coprocessors.port import Errors
from hw.coprocessors.settings import CODE_BITS, LENGTH_BITS
from isa import coprocessor

__all__ = ["Follower", "Frame"]

TAKE = ("take", 0, 0)
"""What is in the slot behind a `get` that takes output."""
MASK = (1 << LENGTH_BITS) - 1
CODES = 1 << CODE_BITS


class Follower(Protocol):
    """Does the work, told by the frame when it is done."""

    def started(self, job: Job) -> None:
        """A message begins."""

    def put(self, a: int, b: int) -> None:
        """A `put` is accepted."""

    def began(self, operation: Operation) -> None:
        """An operation of the engine begins."""


class Frame:
    """One co-processor, cycle by cycle.

    Attributes:
        now: The cycle that comes next.
        job: The message under way, or the last one.
        settings: What is set, by number.
        taken: In the last cycle output was got, and this is where it lies in that of its
            operation, in bytes; else None.
        active_cycles: Cycles in which a message was under way, since power-on.
        busy_cycles: Those in which the engine was busy.
        coming: Transfers that have not been promised space.
        beats: Beats of the bus, or puts and gets, since power-on.
        operations: Operations that have begun since power-on.
        notes: What took how long since power-on.
    """

    def __init__(self, layout: Layout, follower: Follower | None = None) -> None:
        """Begin at power-on."""
        self._layout = layout
        self._follower = follower
        p = layout.p
        self._dma = layout.has_dma
        self._double = p.double_buffer
        self._latency = p.bus_latency
        self._burst = p.burst_beats
        self._transfer_units = layout.transfer_units
        self._gather = layout.gather
        self.now = 0
        self.settings = [0] * 8
        self._slot: tuple[str, int, int] | None = None
        self.taken: int | None = None
        self.job: Job | None = None
        self.go = self.out = self._outputs = self._ended = False
        self._key_next = self._key_now = False
        self._blocks_begun = 0
        self._busy = 0
        self._level, self._space, self.coming = 0, layout.capacity, 0
        self._filling = False
        self._loading = self._storing = self._arriving = self._loading_key = False
        self._wait = self._beats = 0
        self._queue, self._queue_depth = 0, layout.queue_depth
        self._at = self._wanted = self._gathered = 0
        self.error = Errors.NONE
        self.active_cycles = self.busy_cycles = self.beats = 0
        self._burst_start = self._storing_of = self._queued_of = 0
        self._more = False
        self.notes: list[Note] = []
        self._latest: dict[str, int] = {}
        self.operations = self._first = 0

    @property
    def active(self) -> bool:
        """Whether a message is under way, or a `start` is in the slot."""
        is_starting = self._slot is not None and self._slot[0] == "start"
        return self._works or self._queue > 0 or is_starting

    @property
    def _works(self) -> bool:
        return self.go or self.out

    def step(self, name: str = "", a: int = 0, b: int = 0) -> tuple[bool, int]:
        """Make one cycle with a command at the port, or "" for none.

        What is decided in a cycle is decided by the registers as they are at its beginning.

        Returns:
            Whether the command is held, and what `wait` answers.
        """
        self.active_cycles += self.active
        slot = self._slot
        available = self._available()
        starved = self._starved(available)
        run = self._runs(available)
        fills = self._works and (self._double or self._filling)
        there = self._works and self.coming > 0 and not self._dma
        puts = slot is not None and slot[0] == "put" and there
        put = puts and self._space > 0 and fills
        takes_effect = slot is not None and not self._stays(run, fills)
        held, takes = self._port(name, starved, takes_effect)
        flush = name in ("get", "wait") and not self._dma and slot is None
        result = Errors.LACKING if flush and starved else self.error
        self.taken = (self._at + 1 - self._gather) * self._layout.step_bytes if takes else None
        closes = self._loaded() or self._full() or (flush and available)
        filling = not closes if self._filling else starved
        if self._dma:
            depth = self._queue_depth
            moves = self._storing and not self._wait
            step = self.out and self._queue < depth if depth else moves
        else:
            step = slot == TAKE or (self.out and self._gathered < self._gather - 1)
        leaves, complete = self._outlet() if step else (False, False)
        if self._dma:
            self._bus(fills, complete, leaves)
        elif put:
            self._put(slot)
        self._filling = filling
        self._engine(run, leaves)
        if flush and starved:
            self.error = Errors.LACKING
        elif puts and takes_effect and not put:
            self.error = Errors.DROPPED
        if slot is None or takes_effect:
            enters = name in ("set", "start") or (name == "put" and not self._dma)
            self._slot = TAKE if takes else (name, a, b) if enters else None
            if slot is not None:
                self._execute(*slot)
        self.now += 1
        return held, result

    def _put(self, slot: tuple[str, int, int] | None) -> None:
        self._note_step("load", self._loading_of())
        self._level += 1
        self._space -= 1
        self.coming -= 1
        self.beats += 1
        if self._follower is not None and slot is not None:
            self._follower.put(*slot[1:])

    def _execute(self, name: str, a: int, b: int) -> None:
        """Do what a `set` or `start` does."""
        if name == "set":
            self.settings[b & 7] = a & MASK
        if name in ("set", "start"):
            self.go = self.out = False
        if name == "start":
            self._start()

    def _stays(self, run: bool, fills: bool) -> bool:
        """Whether the command in the slot cannot take effect yet."""
        name = self._slot[0] if self._slot is not None else ""
        if name == "put":
            there = self._works and self.coming > 0
            return there and not (self._space and fills) and not self.out
        occupied = self._busy > 0 or run or (self._dma and (self._works or self._queue > 0))
        return name in ("set", "start") and occupied

    def _port(self, name: str, starved: bool, takes_effect: bool) -> tuple[bool, bool]:
        """Return whether a command at the port is held, and whether it takes output."""
        is_full = self._slot is not None
        if name in ("set", "put", "start"):
            return is_full and not takes_effect, False
        if name == "wait" and self._dma:
            return is_full or self._works or self._queue > 0, False
        if name not in ("get", "wait") or self._dma:
            return False, False
        held = is_full or (self.go and not starved)
        if name == "wait" or held or not self.out:
            return held, False
        gathered = self._gathered == self._gather - 1
        return not gathered, gathered

    def _note(self, what: str, number: int, start: int, cycles: int) -> None:
        self._latest[what] = len(self.notes)
        self.notes.append(Note(what, number, start, start + cycles))

    def _note_step(self, what: str, number: int) -> None:
        """Note a cycle of something that goes on with pauses."""
        latest = self._latest.get(what)
        if latest is not None and self.notes[latest].number == number:
            self.notes[latest] = self.notes[latest]._replace(end=self.now + 1)
        else:
            self._note(what, number, self.now, 1)

    def _loading_of(self) -> int:
        """Number of the operation that the next transfer into the buffer belongs to."""
        job = self.job
        assert job is not None
        size, key = self._layout.transfer_bytes, job.algorithm.key_bytes
        if self._dma:
            if self._loading_key:
                return self._first
            done = (job.message_transfers - self.coming) * size
        else:
            done = (self._layout.transfers(job.size + key) - self.coming) * size - key
        return self._first + (key > 0) + done // job.algorithm.block_bytes

    def _loaded(self) -> bool:
        on_its_way = self._loading or self._arriving or self._loading_key
        return not self.coming and not on_its_way

    def _next_units(self) -> int:
        assert self.job is not None
        return self.job.key_units if self._key_next else self.job.block_units

    def _starved(self, available: bool) -> bool:
        return self.go and not self._busy and not self._ended and not available

    def _available(self) -> bool:
        return self._works and (self._loaded() or self._level >= self._next_units())

    def _runs(self, available: bool) -> bool:
        there = self._ended or (available and (self._double or not self._filling))
        return self.go and self._busy <= 1 and not self._outputs and there

    def _wanted_units(self) -> int:
        return min(self._burst, self.coming) * self._transfer_units if self._dma else 1

    def _full(self) -> bool:
        if self._loading or self._storing or self._arriving:
            return False
        return self._space < self._wanted_units()

    def _outlet(self) -> tuple[bool, bool]:
        """Make a step of output; return whether it is the last, and whether it ends a transfer."""
        job = self.job
        assert job is not None
        size = self._layout.step_bytes
        block_end = self._at == job.steps - 1
        end = self._wanted <= size if job.algorithm.extendable else block_end and self._ended
        complete = self._gathered == self._gather - 1 or (self._dma and end)
        leaves = block_end or (complete and end)
        self._queued_of = self.operations - 1
        self._more = job.algorithm.extendable and not end
        self._at = 0 if leaves else self._at + 1
        self._wanted = max(0, self._wanted - size)
        self._gathered = 0 if complete else self._gathered + 1
        if not self._dma:
            self._note_step("store", self.operations - 1)
            self.beats += complete
        return leaves, complete

    def _bus(self, fills: bool, complete: bool, leaves: bool) -> None:
        out, queue = self.out, self._queue
        self._queue += complete if self._queue_depth else 0
        self._level += self._transfer_units * self._arriving
        self._arriving = self._loading and not self._wait
        if not self._loading and not self._storing:
            self._decide(fills, out or queue > 0)
        elif self._wait:
            self._wait -= 1
        elif self._loading:
            self.beats += 1
            self._beats -= 1
            self._loading = self._beats > 0
        else:
            writes = queue > 0 if self._queue_depth else complete
            ends = queue <= 1 and not out if self._queue_depth else leaves
            self.beats += writes
            self._beats -= writes
            self._queue -= writes if self._queue_depth else 0
            self._storing = not ends and self._beats > 0
            if not self._storing:
                start = self._burst_start
                self._note("store", self._storing_of, start, self.now + 1 - start)

    def _decide(self, fills: bool, stores: bool) -> None:
        """Begin a burst, or go from the key to the message."""
        assert self.job is not None or not fills
        units = self._wanted_units()
        if stores:
            self._storing, self._beats, self._wait = True, self._burst, self._latency - 1
            self._burst_start = self.now
            self._storing_of = self.operations - 1 if self.out else self._queued_of
        elif fills and self.coming and self._space >= units:
            beats = units // self._transfer_units
            self._loading, self._beats, self._wait = True, beats, self._latency - 1
            self._note("load", self._loading_of(), self.now, self._latency + beats)
            self._space -= units
            self.coming -= beats
        elif self._loading_key and not self.coming and self.job is not None:
            self._loading_key = False
            self.coming = self.job.message_transfers

    def _engine(self, run: bool, leaves: bool) -> None:
        job = self.job
        if self._busy:
            self.busy_cycles += 1
            self._busy -= 1
            if not self._busy and job is not None:
                self._space += job.key_units if self._key_now else job.block_units
                if self._outputs:
                    self.go, self.out = False, True
        if job is None:
            return
        if leaves:
            self.out = self._outputs = False
            self.go = not self._ended if job.algorithm.per_block else self._more
        if run:
            self._level -= self._next_units()
            if self._key_next:
                operation = Operation.KEY
            else:
                operation = Operation.SQUEEZE if self._ended else Operation.BLOCK
            self._key_now, self._key_next = self._key_next, False
            self._blocks_begun += operation is Operation.BLOCK
            self._ended = self._blocks_begun == job.blocks
            self._outputs = self._ended or (
                operation is Operation.BLOCK and job.algorithm.per_block
            )
            self._busy = job.cycles[operation]
            self._note("compute", self.operations, self.now + 1, self._busy)
            self.operations += 1
            if self._follower is not None:
                self._follower.began(operation)

    def asked(self) -> Job | None:
        """The message that is set; None if its algorithm is not held."""
        code = self.settings[coprocessor.ALGORITHM] & (CODES - 1)
        known = coprocessor.ALGORITHMS[code : code + 1]
        if not known or known[0] not in self._layout.p.algorithms:
            return None
        size, wanted = (self.settings[i] for i in (coprocessor.LENGTH, coprocessor.OUTPUT_LENGTH))
        return Job(self._layout, known[0], size, wanted)

    def _start(self) -> None:
        job = self.asked()
        self.error = Errors.UNKNOWN if job is None else Errors.NONE
        if job is None or job.is_empty:
            return
        self.job = job
        self._first = self.operations
        self._latest.clear()
        self.go = True
        self._outputs = self._ended = False
        self._key_next = self._loading_key = job.key_units > 0
        self._loading_key = self._loading_key and self._dma
        self._blocks_begun = self._at = self._gathered = 0
        self._level, self._space, self._filling = 0, self._layout.capacity, True
        self._wanted = job.wanted
        if self._dma:
            self.coming = job.key_transfers if self._loading_key else job.message_transfers
        else:
            self.coming = self._layout.transfers(job.size + job.algorithm.key_bytes)
        if self._follower is not None:
            self._follower.started(job)

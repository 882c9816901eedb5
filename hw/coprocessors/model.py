"""Model: a co-processor in plain Python, exact in results and in cycles."""

from __future__ import annotations

from collections.abc import Sequence

from hw.coprocessors import engines
from hw.coprocessors.automaton import Automaton
from hw.coprocessors.compute import block, compute
from hw.coprocessors.engines.engine import Operation, State
from hw.coprocessors.job import Job, Note
from hw.coprocessors.layout import Layout
from hw.coprocessors.parameters import Coprocessor
from isa import coprocessor
from isa.device import DataMemory, DeviceError

__all__ = ["Model"]


class Model:
    """A member of the family as a device beside a host; see `isa.device.Device`.

    Attributes:
        p: Parameters.
        xlen: Register width of the host.
        is_mapped: It is reached by loads and stores to its window, and by no instruction.
        automaton: Its registers.
    """

    def __init__(self, p: Coprocessor, xlen: int = 32) -> None:
        """Begin at power-on."""
        self.p, self.xlen = p, xlen
        self.is_mapped = p.attachment == "mapped"
        self._access_cycles = p.bus_latency if self.is_mapped else 0
        self._layout = Layout(p, xlen)
        self.reset()

    def reset(self) -> None:
        """Go back to the state after power-on, at cycle 0."""
        self.automaton = Automaton(self._layout, self)
        self._computes = False
        self._input = bytearray()
        self._state: State = ()
        self._block = 0

    @property
    def phases(self) -> Sequence[Note]:
        """What took how long since power-on, in the order noted; cycles as those of `command`."""
        return self.automaton.notes

    @property
    def active_cycles(self) -> int:
        """Cycles in which a message was under way."""
        return self.automaton.active_cycles

    @property
    def unit_busy(self) -> int:
        """Cycles in which an engine was busy."""
        return self.automaton.busy_cycles

    @property
    def bus_busy(self) -> int:
        """Cycles with a beat on the bus; where the CPU moves the data, `put`s and `get`s."""
        return self.automaton.beats

    def command(
        self, now: int, name: str, a: int, b: int, memory: DataMemory | None
    ) -> tuple[int, int]:
        """Execute one command; see `isa.device.Device.command`.

        Raises:
            DeviceError: There is no such command or setting, or DMA is to use an address that is
                not a multiple of a beat, or outside of memory, or to store over what it has still
                to load.
        """
        if name not in coprocessor.COMMANDS or (name == "set" and b > coprocessor.KEY):
            raise DeviceError(
                f"command must be one of {', '.join(coprocessor.COMMANDS)}, "
                f"with a setting from 0 to {coprocessor.KEY}, not {name} {b}"
            )
        automaton = self.automaton
        automaton.advance(now + self._access_cycles)
        if name == "low":
            return self._access_cycles, 0
        result = automaton.finish(name, a, b)
        if name == "get":
            result = 0 if automaton.taken is None else self._taken(automaton.taken)
        elif name != "wait":
            result = 0
        if name == "start":
            self._computes = memory is not None
            if memory is not None and self._layout.has_dma:
                self._move(memory)
        return automaton.now - 1 - now, result

    def access(self, now: int) -> int:
        """Cycles that a load or store of data memory waits: until DMA is done."""
        if not self._layout.has_dma:
            return 0
        automaton = self.automaton
        automaton.advance(now)
        automaton.settle()
        return automaton.now - now

    def _move(self, memory: DataMemory) -> None:
        """Do all of the message that is started at once: nobody can see what is not done yet."""
        job, settings = self.automaton.asked(), self.automaton.settings
        if job is None or job.is_empty:
            return
        places = {"source": coprocessor.SOURCE, "destination": coprocessor.DESTINATION}
        if job.algorithm.key_bytes:
            places["key"] = coprocessor.KEY
        at = {what: self._address(settings[i], what) for what, i in places.items()}
        ahead = at["destination"] - at["source"]
        if job.algorithm.per_block and 0 < ahead < job.size:
            raise DeviceError(
                f"destination must not lie within the message behind its first byte, "
                f"not {ahead} bytes behind it"
            )
        message = memory.read(at["source"], job.size)
        key = memory.read(at["key"], job.algorithm.key_bytes) if "key" in at else b""
        output = compute(job.algorithm.name, message, key, job.wanted)
        memory.write(at["destination"], output)

    def _address(self, address: int, what: str) -> int:
        size = self._layout.transfer_bytes
        if address % size:
            raise DeviceError(
                f"{what} must be a multiple of {size} bytes, a beat of the bus, not {address:#x}"
            )
        return address

    def started(self, job: Job) -> None:
        """A message begins; see `Follower`."""
        self._input, self._block = bytearray(), 0
        self._state = engines.engine_of(job.algorithm.name).initial(job.algorithm.name)

    def put(self, a: int, b: int) -> None:
        """A `put` is accepted."""
        if self._computes:
            value = a if self.xlen == 64 else b << 32 | a
            self._input += value.to_bytes(8, "little")

    def began(self, operation: Operation) -> None:
        """Make an operation on what the host has put."""
        job = self.automaton.job
        if not self._computes or self._layout.has_dma or job is None:
            return
        algorithm = job.algorithm
        data = b""
        if operation is Operation.KEY:
            data = bytes(self._input[: algorithm.key_bytes])
            del self._input[: algorithm.key_bytes]
        elif operation is Operation.BLOCK:
            data = block(algorithm, self._input, job.size, self._block)
            self._block += 1
        engine = engines.engine_of(algorithm.name)
        self._state = engine.step(algorithm.name, self._state, data, operation)

    def _taken(self, offset: int) -> int:
        """The output at an offset, a register of the host."""
        job = self.automaton.job
        if not self._computes or job is None:
            return 0
        name = job.algorithm.name
        output = engines.engine_of(name).output(name, self._state)
        return int.from_bytes(output[offset : offset + self.xlen // 8], "little")

"""Machine: executes a program of an instruction set, fast, with every access checked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from isa.attachment import Attachment
from isa.bits import Bits, evaluate
from isa.device import DataMemory, Device, DeviceError
from isa.disassembler import disassemble_word
from isa.instruction_set import InstructionSet
from isa.outcome import Run
from isa.program import DATA_BASE, DATA_SIZE, Program, fetch
from isa.registers import NAMES
from isa.taint import Leak, Leaks, TrackedTranslation, mark
from isa.translate import FILENAME, Block, Placed, Translation

DATA_END = DATA_BASE + DATA_SIZE
"""First address beyond a kernel's data memory; the initial stack pointer."""
DEFAULT_LIMIT = 100_000_000
"""Executed instructions after which a run is taken to be endless."""
CHUNK = 4096
"""Blocks executed between two looks at the limit."""


class SimulationError(RuntimeError):
    """A program did what no correct program does.

    Attributes:
        pc: Address of the instruction.
        word: The instruction, None where there is none.
    """

    def __init__(self, message: str, pc: int, word: int | None = None) -> None:
        """Start an error whose message stands alone."""
        super().__init__(message)
        self.pc = pc
        self.word = word


class EndlessError(SimulationError):
    """A run went on beyond its limit."""


class _Stop(Exception):
    """A host call in translated code; never seen outside."""


HostCall = Callable[[list[int], memoryview], int | None]
"""Serves `ecall`: may change the registers and data memory given; returns an exit code or None."""


Clock = Callable[[Sequence[Block], Sequence[int]], int]
"""Cycles that have passed after a trace of blocks."""

COUNTERS = {0xC00: ("cycle", 0), 0xC01: ("time", 0), 0xC02: ("instret", 0)}
COUNTERS |= {number + 0x80: (name, 32) for number, (name, _) in COUNTERS.items()}
"""Read-only counters by CSR number: what they count, and the lowest bit that is read."""

_Code = Literal["B", "b", "H", "h", "I", "i", "Q", "q"]


def views(memory: bytearray) -> dict[str, Any]:
    """Memory views by the names that translated code uses.

    `U<w>` and `S<w>` index elements of w bits. `W...` indexes by the misalignment first: all but
    the first view are empty, so that a misaligned access fails like one out of range.
    """
    found: dict[str, Any] = {}
    codes: tuple[tuple[int, _Code, _Code], ...]
    codes = ((8, "B", "b"), (16, "H", "h"), (32, "I", "i"), (64, "Q", "q"))
    for width, unsigned, signed in codes:
        for name, code in ((f"U{width}", unsigned), (f"S{width}", signed)):
            found[name] = memoryview(memory).cast(code)
            empty = memoryview(bytearray()).cast(code)
            found["W" + name] = (found[name], *[empty] * (width // 8 - 1))
    return found


class Machine:
    """A program, translated, and the memory it runs in.

    Translation happens once, at the first run. Runs start from the same memory image: constant
    data of the program, zeros elsewhere, then the buffers given.
    """

    def __init__(
        self, instructions: InstructionSet, program: Program, device: Device | None = None
    ) -> None:
        """Prepare a program and the co-processor that it gives commands to, if it does.

        Raises:
            ValueError: Its data do not fit data memory.
        """
        if sys.byteorder != "little":
            raise RuntimeError("the host must be little-endian, as memory views are used")
        if len(program.data) > program.memory_bytes:
            raise ValueError(
                f"data of the program must fit {program.memory_bytes} bytes, "
                f"not {len(program.data)}"
            )
        self.instructions = instructions
        self.program = program
        self.memory = bytearray(program.memory_bytes)
        self.attachment = Attachment(
            device, DataMemory(self.memory, program.data_base), instructions.xlen
        )
        self._tracked: _Tracked | None = None
        self._image = program.data + bytes(program.memory_bytes - len(program.data))

        self.translation = Translation(instructions, program, self._scope(self.attachment))

    def run(
        self,
        args: Sequence[int] = (),
        memory: Mapping[int, bytes] | None = None,
        *,
        limit: int = DEFAULT_LIMIT,
        state: Mapping[str, int] | None = None,
        host: HostCall | None = None,
        clock: Clock | None = None,
    ) -> Run:
        """Execute from the start to `ebreak` or the exit call.

        Args:
            args: Values of a0, a1, ..., at most eight; sp is the end of data memory.
            memory: Bytes to place into data memory, by address.
            limit: Executed instructions after which the run is refused as endless.
            state: Initial values of other architectural state; 0 where not given.
            host: Serves `ecall`; by default exit (a7 = 93) and write (a7 = 64).
            clock: Answers reads of the `cycle` register, see `isa.timing.clock`.

        Raises:
            SimulationError: Illegal instruction, access misaligned or outside data memory, jump
                out of the code, a command that the co-processor refuses, or more than `limit`
                instructions.
            ValueError: Arguments or buffers that do not fit.
        """
        x = self.prepare(args, memory, state)
        self.attachment.reset()
        output = bytearray()
        serve = host or default_host(output, self.program)
        trace: list[int] = []
        try:
            exit_code = self._execute(self.translation, x, trace, limit, serve, clock)
        except (IndexError, TypeError, DeviceError) as error:
            raise self._run_error(self.translation, error) from None
        self.refuse_changed_code()
        return self._result(x, trace, exit_code, bytes(output))

    def run_tracked(
        self,
        args: Sequence[int] = (),
        memory: Mapping[int, bytes] | None = None,
        secret: Iterable[tuple[int, int]] = (),
        *,
        declassified: Iterable[tuple[int, int]] = (),
        limit: int = DEFAULT_LIMIT,
    ) -> list[Leak]:
        """Execute as `run` does and report every use of a secret that shows in time.

        Args:
            args: Values of a0, a1, ..., public.
            memory: Bytes to place into data memory, by address.
            secret: (address, size) of the bytes of data memory that are secret at the start.
            declassified: (address, size) of bytes that are public whatever is stored there.
            limit: Executed instructions after which the run is refused as endless.

        Raises:
            SimulationError: As `run`.
        """
        if self._tracked is None:
            self._tracked = _Tracked(self)
        return self._tracked.run(args, memory, secret, declassified, limit)

    def prepare(
        self,
        args: Sequence[int],
        memory: Mapping[int, bytes] | None,
        state: Mapping[str, int] | None = None,
    ) -> list[int]:
        """Reset memory and return the registers and state at the start of a run."""
        self.memory[:] = self._image
        place(self.memory, memory or {}, self.program.data_base)
        x = [0] * self.translation.register_count
        if len(args) > 8:
            raise ValueError(f"arguments must be at most 8, not {len(args)}")
        mask = (1 << self.instructions.xlen) - 1
        x[2] = self.program.data_end & mask
        for i, value in enumerate(args):
            x[10 + i] = value & mask
        for name, value in (state or {}).items():
            x[self.translation.state[name]] = value
        return x

    def _execute(
        self,
        translation: Translation,
        x: list[int],
        trace: list[int],
        limit: int,
        serve: HostCall,
        clock: Clock | None = None,
    ) -> int | None:
        """Run to the end, appending to `trace`; returns the exit code."""
        functions = translation.functions
        append = trace.append
        index = translation.entry(self.program.start)
        executed = counted = 0
        ended, code = False, None
        while not ended:
            try:
                for _ in range(CHUNK):
                    append(index)
                    index = functions[index](x)
            except _Stop:
                trace.pop()
                last = translation.blocks[trace[-1]].instructions[-1]
                host = last.instruction.effects(self.instructions.xlen).host
                if host == "ebreak":
                    ended = True
                elif host == "csr":
                    value = self.counter(last, *self._clocks(translation.blocks, trace, clock))
                    translation.write_register(x, last.fields["rd"], value)
                else:
                    code = self.serve(serve, last, x)
                    ended = code is not None
                if not ended:
                    index = translation.entry(last.next_pc)
            blocks = translation.blocks
            executed += sum(len(blocks[i].instructions) for i in trace[counted:])
            counted = len(trace)
            if executed > limit:
                raise self.limit_fault(blocks[trace[-1]].pc, limit)
        return code

    def serve(self, host: HostCall, placed: Placed, x: list[int]) -> int | None:
        """Serve a host call; an exit code ends the run."""
        try:
            return host(x, memoryview(self.memory))
        except ValueError as error:
            where = f"at pc {placed.pc:#x}: {self._text(placed.pc)}"
            raise SimulationError(f"{error}, {where}", placed.pc, self._word(placed.pc)) from None

    def refuse_changed_code(self) -> None:
        """Refuse a run that wrote to its code, which was executed as it was at the start.

        Raises:
            SimulationError: Data memory holds the code at its address, and it is not the same.
        """
        program = self.program
        low = max(program.text_base, program.data_base) - program.data_base
        high = min(program.text_end, program.data_end) - program.data_base
        if low < high and self.memory[low:high] != self._image[low:high]:
            changed = next(i for i in range(low, high) if self.memory[i] != self._image[i])
            pc = (program.data_base + changed) // 4 * 4
            raise SimulationError(
                f"code must stay as it is, not change at {pc:#x}: {self._text(pc)}", pc
            )

    def limit_fault(self, pc: int, limit: int) -> EndlessError:
        """The error of a run that does not end."""
        return EndlessError(
            f"run must end within {limit} instructions, not go on at pc {pc:#x}: "
            f"{self._text(pc)}; raise the limit if it is no endless loop",
            pc,
            self._word(pc),
        )

    def _result(self, x: list[int], trace: list[int], code: int | None, output: bytes) -> Run:
        blocks = self.translation.blocks
        lengths = [len(b.instructions) for b in blocks]
        total = sum([lengths[i] for i in trace])
        entry = self.program.entry
        kernel = sum([lengths[i] for i in trace if blocks[i].pc >= entry])
        return Run(
            total,
            kernel,
            tuple(x[:32]),
            {name: x[i] for name, i in self.translation.state.items()},
            bytes(self.memory),
            self.program.data_base,
            blocks,
            code,
            output,
            tuple(trace),
            tuple(self.attachment.log),
        )

    def _clocks(
        self, blocks: Sequence[Block], trace: Sequence[int], clock: Clock | None
    ) -> tuple[int, int | None]:
        """Instructions executed and cycles passed."""
        executed = sum(len(blocks[i].instructions) for i in trace)
        return executed, None if clock is None else clock(blocks, trace)

    def counter(self, placed: Placed, executed: int, cycles: int | None) -> int:
        """Value that an access to a control and status register reads.

        Args:
            placed: The instruction.
            executed: Instructions executed, this one included.
            cycles: Cycles passed, if they are counted.

        Raises:
            SimulationError: The register is no counter, is written, or counts unknown cycles.
        """
        fields, pc = placed.fields, placed.pc
        where = f"at pc {pc:#x}: {self._text(pc)}"
        if fields["csr"] not in COUNTERS:
            raise SimulationError(
                f"csr must be a counter (cycle, time or instret), not {fields['csr']:#x}, {where}",
                pc,
                self._word(pc),
            )
        # The set and clear forms with x0 or 0, whose encodings have bit 13 set, write nothing.
        if not self._word_bits(pc, 13) or fields.get("rs1") or fields.get("zimm5"):
            raise SimulationError(f"a counter must be read, not written, {where}", pc)
        name, low = COUNTERS[fields["csr"]]
        if name == "instret":
            value = executed - 1
        elif cycles is not None:
            value = cycles
        else:
            raise SimulationError(
                f"{name} must be read in a run with a clock, not without a core, {where}", pc
            )
        return value >> low & ((1 << self.instructions.xlen) - 1)

    def _word_bits(self, pc: int, bit: int) -> int:
        word = self._word(pc)
        assert word is not None
        return word >> bit & 1

    def _scope(self, attachment: Attachment) -> dict[str, Any]:
        """What translated code uses by name."""

        def stop(x: list[int]) -> int:
            raise _Stop

        return {
            **attachment.views(views(self.memory)),
            "stop": stop,
            "fault": self.fault,
            "command": attachment.command,
        }

    def _word(self, pc: int) -> int | None:
        return fetch(self.program, self.instructions, pc)

    def _text(self, pc: int) -> str:
        word = self._word(pc)
        return "no code" if word is None else disassemble_word(word, self.instructions)

    def fault(self, pc: int) -> int:
        """Refuse to go on where there is no instruction."""
        word = self._word(pc)
        if word is None:
            step = self.instructions.alignment
            first, last = self.program.text_base, self.program.text_end - step
            raise SimulationError(
                f"pc must be a multiple of {step} in {first:#x} to {last:#x}, not {pc:#x}", pc
            )
        raise SimulationError(
            f"word at pc {pc:#x} must be an instruction of the set, not {word:#010x}; "
            "add the extension that defines it",
            pc,
            word,
        )

    def _run_error(self, translation: Translation, error: Exception) -> Exception:
        """Explain a failed access or command from the frame of translated code where it failed."""
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_frame.f_code.co_filename != FILENAME:
            traceback = traceback.tb_next
        if traceback is None:
            raise RuntimeError("translated code must fail only in an access or a command")
        pc = translation.pc_of_line(traceback.tb_lineno)
        placed = translation.decode(pc)
        assert placed is not None
        if isinstance(error, DeviceError):
            return SimulationError(f"{error}, at pc {pc:#x}: {self._text(pc)}", pc, self._word(pc))
        address, size = self._access(placed, traceback.tb_frame.f_locals)
        return self.access_fault(pc, address, size)

    def access_fault(self, pc: int, address: int, size: int) -> SimulationError:
        """The error of an access of `size` bytes that is misaligned or outside data memory."""
        where = f"at pc {pc:#x}: {self._text(pc)} ({self._word(pc):#010x})"
        if address % size:
            fault = f"address must be a multiple of {size}, not {address:#x}"
        else:
            program = self.program
            fault = (
                f"address must lie in data memory, {program.data_base:#x} to "
                f"{program.data_end - size:#x}, not {address:#x}"
            )
        return SimulationError(f"{fault}, {where}", pc, self._word(pc))

    def _access(self, placed: Placed, values: Mapping[str, int]) -> tuple[int, int]:
        """Address and size in bytes of a memory access, from the registers at that moment."""
        effects = placed.instruction.effects(self.instructions.xlen)
        address: Bits
        if effects.load is not None:
            address, width = effects.load.address, effects.load.width
        else:
            assert effects.store is not None
            address, width = effects.store.address, effects.store.value.width
        operands: dict[str, int] = {**placed.fields, "pc": placed.pc}
        for r in placed.instruction.sources:
            number = placed.fields[r]
            operands[r] = values[f"r{number}"] if number else 0
        return evaluate(address, operands), width // 8


class _Tracked:
    """The second translation of a program, which follows secrets, and its taint memory."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._leaks = Leaks()
        self._taints = bytearray(machine.program.memory_bytes)
        self._mask = bytearray(b"\1") * machine.program.memory_bytes
        memory = _TaintedMemory(machine.memory, machine.program.data_base, self._taints, self._mask)
        device, xlen = machine.attachment.device, machine.instructions.xlen
        self._attachment = Attachment(device, memory, xlen)
        scope = machine._scope(self._attachment)
        for letter, shadow in (("Q", self._taints), ("D", self._mask)):
            shadows = self._attachment.shadows(views(shadow))
            scope.update((f"{letter}{name}", view) for name, view in shadows.items())
        scope["leak"] = self._leaks.add
        self._translation = TrackedTranslation(machine.instructions, machine.program, scope)

    def run(
        self,
        args: Sequence[int],
        memory: Mapping[int, bytes] | None,
        secret: Iterable[tuple[int, int]],
        declassified: Iterable[tuple[int, int]],
        limit: int,
    ) -> list[Leak]:
        """See `Machine.run_tracked`."""
        machine, translation = self._machine, self._translation
        x = machine.prepare(args, memory)
        self._attachment.reset()
        x += [0] * (translation.register_count - len(x))
        public = list(declassified)
        self._leaks.clear()
        self._taints[:] = bytes(len(self._taints))
        base = machine.program.data_base
        mark(self._taints, "secret", secret, 1, base)
        self._mask[:] = b"\1" * len(self._mask)
        mark(self._mask, "declassified", public, 0, base)
        mark(self._taints, "declassified", public, 0, base)
        try:
            machine._execute(translation, x, [], limit, default_host(bytearray(), machine.program))
        except (IndexError, TypeError, DeviceError) as error:
            raise machine._run_error(translation, error) from None
        return self._leaks.result()


@dataclass(frozen=True)
class _TaintedMemory(DataMemory):
    """Data memory of a tracked run, in which what a device writes is secret if not declassified."""

    taints: bytearray
    mask: bytearray

    def write(self, address: int, data: bytes) -> None:
        super().write(address, data)
        low = address - self.base
        self.taints[low : low + len(data)] = self.mask[low : low + len(data)]


def place(memory: bytearray, contents: Mapping[int, bytes], base: int = DATA_BASE) -> None:
    """Copy buffers into data memory.

    Raises:
        ValueError: A buffer does not lie within data memory.
    """
    for address, data in contents.items():
        if not base <= address <= base + len(memory) - len(data):
            raise ValueError(
                f"buffer must lie in data memory, {base:#x} to {base + len(memory):#x}, "
                f"not {len(data)} bytes at {address:#x}"
            )
        memory[address - base : address - base + len(data)] = data


def default_host(output: bytearray, program: Program) -> HostCall:
    """Serve exit (a7 = 93, code in a0) and write (a7 = 64, buffer a1, size a2)."""

    def serve(x: list[int], memory: memoryview) -> int | None:
        number = x[17]
        if number == 93:
            return x[10]
        if number == 64:
            low, size = x[11] - program.data_base, x[12]
            if low < 0 or low + size > program.memory_bytes:
                raise ValueError(
                    f"buffer of the write call must lie in data memory, not at {x[11]:#x}"
                )
            output.extend(memory[low : low + size])
            x[10] = size
            return None
        raise ValueError(f"{NAMES[17]} of an ecall must be 93 (exit) or 64 (write), not {number}")

    return serve

"""Device: what a co-processor is to the program that drives it, and the log of its use.

A program reaches a device by instructions whose `Effects` hold a `Command`, or by loads and stores
to a window of the address space, each of which stands for a command (`isa.coprocessor`). The
machine executes the program first and logs every command; `isa.device_timing` then walks the trace
and asks a fresh device how long each command stays in EX. So what a command does must not depend
on when it comes, and how long it takes must not depend on the contents of memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol


class DeviceError(ValueError):
    """A command that the device does not know, cannot execute, or not now."""


@dataclass(frozen=True)
class DataMemory:
    """Data memory as a device reaches it.

    Attributes:
        content: Its bytes; shared with the machine.
        base: Address of the first.
    """

    content: bytearray
    base: int

    def read(self, address: int, size: int) -> bytes:
        """Bytes at an address.

        Raises:
            DeviceError: They do not lie within data memory.
        """
        low = self._place(address, size)
        return bytes(self.content[low : low + size])

    def write(self, address: int, data: bytes) -> None:
        """Change bytes at an address.

        Raises:
            DeviceError: They do not lie within data memory.
        """
        low = self._place(address, len(data))
        self.content[low : low + len(data)] = data

    def _place(self, address: int, size: int) -> int:
        low = address - self.base
        if not 0 <= low <= len(self.content) - size:
            raise DeviceError(
                f"transfer must lie in data memory, {self.base:#x} to "
                f"{self.base + len(self.content):#x}, not {size} bytes at {address:#x}"
            )
        return low


class Device(Protocol):
    """A co-processor in plain Python, exact in results and in cycles.

    Attributes:
        is_mapped: It is reached by loads and stores to its window, and by no instruction.
    """

    is_mapped: bool

    def reset(self) -> None:
        """Go back to the state after power-on, at cycle 0."""

    def command(
        self, now: int, name: str, a: int, b: int, memory: DataMemory | None
    ) -> tuple[int, int]:
        """Execute one command.

        Args:
            now: Its first cycle in EX; it grows from command to command.
            name: One of `isa.coprocessor.COMMANDS`.
            a: First operand, unsigned, xlen bits.
            b: Second operand.
            memory: Where the device itself reads and writes. None asks for the time alone; the
                result is then not used.

        Returns:
            Cycles that it stays in EX beyond the first, and its result, unsigned, xlen bits.

        Raises:
            DeviceError: The command cannot be executed.
        """

    def access(self, now: int) -> int:
        """Cycles beyond the first that a load or store of data memory stays in EX.

        The device may use the memory port; `now` is the first cycle of the access in EX.
        """


class Event(NamedTuple):
    """One command of a run.

    Attributes:
        name: The command.
        a: First operand.
        b: Second operand.
        access: Number of the load or store that stood for it, among all of the run from 0; None
            where it was an instruction of its own.
    """

    name: str
    a: int
    b: int
    access: int | None = None

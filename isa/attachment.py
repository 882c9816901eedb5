"""Attachment: a device at work in the run of a program, and the window through which it is seen."""

from __future__ import annotations

from typing import Any

from isa.coprocessor import (
    GET_OFFSET,
    PUT_OFFSET,
    SET_OFFSET,
    START_OFFSET,
    WAIT_OFFSET,
    WINDOW_BASE,
    WINDOW_SIZE,
)
from isa.device import DataMemory, Device, DeviceError, Event


class Attachment:
    """Executes the commands of a run, one after the other, and logs them.

    Attributes:
        log: The commands since the last reset.
        accesses: Loads and stores since then; counted only where the device is mapped.
    """

    def __init__(self, device: Device | None, memory: DataMemory, xlen: int) -> None:
        """Attach a device, or none, to data memory."""
        self.device = device
        self.memory = memory
        self.xlen = xlen
        self.log: list[Event] = []
        self.accesses = 0
        self._now = 0
        self._low = 0

    def reset(self) -> None:
        """Begin a run."""
        self.log.clear()
        self.accesses = self._now = self._low = 0
        if self.device is not None:
            self.device.reset()

    def command(self, name: str, a: int, b: int, access: int | None = None) -> int:
        """Execute a command; returns its result.

        Raises:
            DeviceError: There is no device, or it refuses.
        """
        if self.device is None:
            raise DeviceError("a program with commands must run with a co-processor, not without")
        self.log.append(Event(name, a, b, access))
        hold, result = self.device.command(self._now, name, a, b, self.memory)
        self._now += hold + 1
        return result

    def views(self, plain: dict[str, Any]) -> dict[str, Any]:
        """Memory views (see `isa.machine.views`) beyond whose end a mapped device is seen."""
        if self.device is None or not self.device.is_mapped:
            return plain
        found: dict[str, Any] = {}
        for name, view in plain.items():
            if name[0] == "W":
                found[name] = (found[name[1:]], *view[1:])
            else:
                found[name] = _Window(self, view)
        return found

    def shadows(self, plain: dict[str, Any]) -> dict[str, Any]:
        """Views of what is noted beside memory: all ones in the window, whatever is stored."""
        if self.device is None or not self.device.is_mapped:
            return plain
        return {n: v if n[0] == "W" else _Shadow(v) for n, v in plain.items()}

    def load(self, address: int, width: int) -> int:
        """A load from the window.

        Raises:
            IndexError: The address is outside of it.
            DeviceError: Nothing can be loaded there.
        """
        match self._offset(address, width, "load"):
            case offset if offset == WAIT_OFFSET:
                return self.command("wait", 0, 0, self.accesses - 1)
            case offset if offset == GET_OFFSET:
                return self.command("get", 0, 0, self.accesses - 1)
            case offset:
                raise DeviceError(f"load must be of wait or get in the window, not at {offset:#x}")

    def store(self, address: int, width: int, value: int) -> None:
        """A store to the window; raises as `load` does."""
        offset = self._offset(address, width, "store")
        access = self.accesses - 1
        if SET_OFFSET <= offset < PUT_OFFSET and offset % 8 == 0:
            self.command("set", value, (offset - SET_OFFSET) // 8, access)
        elif offset == PUT_OFFSET and self.xlen == 32:
            self._low = value
            self.command("low", value, 0, access)
        elif offset == PUT_OFFSET:
            self.command("put", value, 0, access)
        elif offset == PUT_OFFSET + 4:
            self.command("put", self._low, value, access)
        elif offset == START_OFFSET:
            self.command("start", 0, 0, access)
        else:
            raise DeviceError(
                f"store must be of set, put or start in the window, not at {offset:#x}"
            )

    def _offset(self, address: int, width: int, what: str) -> int:
        offset = address - WINDOW_BASE
        if not 0 <= offset < WINDOW_SIZE:
            raise IndexError(address)
        if width != self.xlen:
            raise DeviceError(f"{what} in the window must be {self.xlen} bits wide, not {width}")
        return offset


class _Window:
    """Elements of data memory, and the window where they end."""

    def __init__(self, owner: Attachment, view: memoryview) -> None:
        self._owner = owner
        self._view: Any = view
        self._size = view.itemsize

    def __getitem__(self, index: int) -> int:
        owner = self._owner
        owner.accesses += 1
        if index < len(self._view):
            found: int = self._view[index]
            return found
        return owner.load(owner.memory.base + index * self._size, 8 * self._size)

    def __setitem__(self, index: int, value: int) -> None:
        owner = self._owner
        owner.accesses += 1
        if index < len(self._view):
            self._view[index] = value
        else:
            owner.store(owner.memory.base + index * self._size, 8 * self._size, value)


class _Shadow:
    """Elements of what is noted beside memory; whatever is beyond their end is secret."""

    def __init__(self, view: memoryview) -> None:
        self._view: Any = view

    def __getitem__(self, index: int) -> int:
        found: int = self._view[index] if index < len(self._view) else 1
        return found

    def __setitem__(self, index: int, value: int) -> None:
        if index < len(self._view):
            self._view[index] = value

"""Commands to a co-processor: executed in order, logged, and refused in one line."""

from __future__ import annotations

import pytest

from isa.assembler import assemble
from isa.coprocessor import KEY, LENGTH, SOURCE, WINDOW_BASE
from isa.device import DataMemory, DeviceError, Event
from isa.instruction_set import InstructionSet
from isa.machine import Machine, SimulationError
from isa.native import NativeMachine, is_available
from isa.program import DATA_BASE, Program

BASE = {32: "rv32i", 64: "rv64i"}
PUT = {32: "cp.put a0, a1", 64: "cp.put a0"}


class Adder:
    """Adds up the 64-bit words it is given, or those of memory from the address set as source."""

    def __init__(self, is_mapped: bool = False, xlen: int = 32) -> None:
        self.is_mapped = is_mapped
        self.mask = (1 << xlen) - 1
        self.reset()

    def reset(self) -> None:
        self.total = 0
        self.settings: dict[int, int] = {}

    def command(
        self, now: int, name: str, a: int, b: int, memory: DataMemory | None
    ) -> tuple[int, int]:
        if name == "set":
            self.settings[b] = a
        elif name == "put":
            self.total += a + (b << 32)
        elif name == "start" and SOURCE in self.settings and memory is not None:
            for i in range(self.settings[LENGTH] // 8):
                word = memory.read(self.settings[SOURCE] + 8 * i, 8)
                self.total += int.from_bytes(word, "little")
            memory.write(self.settings[SOURCE], self.total.to_bytes(8, "little"))
        elif name == "get":
            return 0, self.total & self.mask
        return 3, 0

    def access(self, now: int) -> int:
        return 0


def program(xlen: int, text: str) -> tuple[InstructionSet, Program]:
    instructions = InstructionSet.of(xlen, BASE[xlen], "xcop")
    return instructions, assemble(text, instructions)


@pytest.mark.parametrize("xlen", [32, 64])
def test_commands_are_executed_and_logged(xlen: int) -> None:
    text = f"cp.set a0, {KEY}\n{PUT[xlen]}\n{PUT[xlen]}\ncp.wait a2\ncp.get a3\ncp.get x0\nebreak"
    machine = Machine(*program(xlen, text), Adder(xlen=xlen))
    for _ in range(2):  # a run begins with the device as it was
        run = machine.run([5, 6], state={})
        assert run.registers[0] == 0
        assert run.registers[12:14] == (0, 10)
        put = Event("put", 5, 6 if xlen == 32 else 0)
        get = Event("get", 0, 0)
        assert run.log == (Event("set", 5, KEY), put, put, Event("wait", 0, 0), get, get)


@pytest.mark.parametrize("xlen", [32, 64])
def test_window_stands_for_commands(xlen: int) -> None:
    store, load = ("sw", "lw") if xlen == 32 else ("sd", "ld")
    high = "sw a1, 0x44(t0)\n" if xlen == 32 else ""
    text = (
        f"lui t0, {WINDOW_BASE >> 12}\nlui t1, {DATA_BASE >> 12}\n"
        f"{store} a0, 0x28(t0)\nlw a4, 0(t1)\n{store} a0, 0x40(t0)\n{high}"
        f"{load} a2, 0x58(t0)\n{load} a3, 0x60(t0)\nebreak"
    )
    instructions, made = program(xlen, text)
    run = Machine(instructions, made, Adder(True, xlen)).run([5, 6], {DATA_BASE: b"\7"})
    assert run.registers[14] == 7
    assert run.registers[12:14] == (0, 5)
    put = [Event("low", 5, 0, 2), Event("put", 5, 6, 3)] if xlen == 32 else [Event("put", 5, 0, 2)]
    last = put[-1].access
    assert last is not None
    tail = [Event("wait", 0, 0, last + 1), Event("get", 0, 0, last + 2)]
    assert list(run.log) == [Event("set", 5, KEY, 0), *put, *tail]


def test_device_moves_data_itself() -> None:
    text = f"cp.set a0, {SOURCE}\ncp.set a1, {LENGTH}\ncp.start\nlw a2, 0(a0)\nebreak"
    machine = Machine(*program(32, text), Adder())
    data = b"".join(i.to_bytes(8, "little") for i in (3, 4, 5))
    assert machine.run([DATA_BASE, 24], {DATA_BASE: data}).registers[12] == 12
    with pytest.raises(
        SimulationError, match=r"^transfer must lie in data memory.*at pc 0x8: cp\.start$"
    ):
        machine.run([DATA_BASE - 8, 24])


@pytest.mark.parametrize(
    ("is_mapped", "text", "error"),
    [
        (True, "sw a0, 0x48(t0)", "store must be of set, put or start in the window, not at 0x48"),
        (True, "lw a0, 0x50(t0)", "load must be of wait or get in the window, not at 0x50"),
        (True, "sb a0, 0(t0)", "store in the window must be 32 bits wide, not 8"),
        (True, "lw a0, 0x80(t0)", "address must lie in data memory"),
        (False, "lw a0, 0x58(t0)", "address must lie in data memory"),
    ],
)
def test_bad_access_is_refused_in_one_line(is_mapped: bool, text: str, error: str) -> None:
    made = program(32, f"lui t0, {WINDOW_BASE >> 12}\n{text}\nebreak")
    with pytest.raises(SimulationError, match=f"^{error}.*at pc 0x4: {text[:2]} a0"):
        Machine(*made, Adder(is_mapped)).run()


def test_commands_need_a_device() -> None:
    with pytest.raises(SimulationError, match=r"^a program with commands must run with a co-proc"):
        Machine(*program(32, "cp.start\nebreak")).run()


@pytest.mark.skipif(not is_available(), reason="needs llvmlite")
def test_native_code_refuses_commands() -> None:
    with pytest.raises(ValueError, match=r"^native code must give no commands to a co-processor"):
        NativeMachine(*program(32, "cp.start\nebreak")).run()


def test_output_is_secret_and_a_secret_setting_leaks() -> None:
    text = "cp.get a2\nbeqz a2, there\nthere: lw a3, 0(a0)\ncp.set a3, 1\ncp.put a3, a3\nebreak"
    made = program(32, text)
    leaks = Machine(*made, Adder()).run_tracked([DATA_BASE], None, [(DATA_BASE, 4)])
    assert [(leak.pc, leak.kind) for leak in leaks] == [(4, "branch"), (12, "latency")]


def test_what_a_device_writes_is_secret() -> None:
    text = (
        f"cp.set a0, {SOURCE}\ncp.set a1, {LENGTH}\ncp.start\nlw a2, 0(a0)\nlw a3, 4(a0)\n"
        "beqz a2, there\nthere: beqz a3, end\nend: ebreak"
    )
    machine = Machine(*program(32, text), Adder())
    leaks = machine.run_tracked([DATA_BASE, 8], declassified=[(DATA_BASE, 4)])
    assert [leak.pc for leak in leaks] == [24]


def test_memory_refuses_what_is_outside() -> None:
    memory = DataMemory(bytearray(16), 0x100)
    memory.write(0x108, b"abcdefgh")
    assert memory.read(0x10C, 4) == b"efgh"
    with pytest.raises(DeviceError, match=r"0x100 to 0x110, not 4 bytes at 0x10d"):
        memory.read(0x10D, 4)

"""Pipeline: the 2-, 3- and 5-stage organisations of the core, in PyRTL.

Their timing is that of `isa.timing`, which describes it. Nothing that was fetched on a wrong path
changes registers, memory or the state of a unit: all three are written under `commit`, which is 1
in the last EX cycle of an instruction that is on the right path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TypeAlias

import pyrtl

from hw.alu import execute, loaded_value, store_lanes
from hw.decoder import Control, Decoder
from hw.fetch import Fetched, build_fetch
from hw.slot import Access, DataPort, Issue, UnitPort, answered
from isa.core import Core

Wire: TypeAlias = pyrtl.WireVector


@dataclass(frozen=True)
class Ports:
    """How a pipeline reaches what is outside of it.

    Attributes:
        instruction: Takes the address of the next fetch; returns the word, a cycle later.
        data: Data memory.
        unit: What gives the instruction in EX its result; the core's own passes through it.
        register_file: 32 words; a read of word 0 gives 0, as it is never written.
    """

    instruction: Callable[[Wire], Wire]
    data: DataPort
    unit: UnitPort
    register_file: pyrtl.MemBlock


@dataclass(frozen=True)
class Retired:
    """The instruction that leaves the pipeline in a cycle, and the register it writes.

    Attributes:
        valid: 1 bit.
        pc: Its address.
        writes: 1 bit, it writes a register.
        rd: The register, 5 bits.
        value: What it writes, xlen bits.
    """

    valid: Wire
    pc: Wire
    writes: Wire
    rd: Wire
    value: Wire


def build_pipeline(
    core: Core, decoder: Decoder, latencies: Mapping[str, int], ports: Ports
) -> Retired:
    """Build the core in the working block."""
    if core.pipeline == 5:
        return _five_stages(core, decoder, latencies, ports)
    return _short(core, decoder, latencies, ports)


def _register(value: Wire, name: str, keep: Wire | None = None) -> pyrtl.Register:
    """A register that takes `value` at the end of every cycle in which `keep` is not 1."""
    register = pyrtl.Register(len(value), name)
    register.next <<= value if keep is None else pyrtl.select(keep, register, value)
    return register


def _control_registers(control: Control, prefix: str, keep: Wire) -> Control:
    return Control(
        **{
            f.name: _register(getattr(control, f.name), f"{prefix}_{f.name}", keep)
            for f in fields(Control)
        }
    )


def _valid(fetched: Fetched) -> Wire:
    """1 bit, an instruction comes from the fetch stage."""
    return pyrtl.Const(1, 1) if fetched.valid is None else fetched.valid


def _link(fetched: Fetched, xlen: int, *keep: tuple[str, Wire]) -> Wire:
    """Distance from an instruction to the one behind it, when it is in the stage of EX.

    Args:
        fetched: From the fetch stage.
        xlen: Register width in bits.
        keep: Name and wait of each register on the way.
    """
    if fetched.short is None:
        return pyrtl.Const(4, xlen)
    short = fetched.short
    for name, wait in keep:
        short = _register(short, name, wait)
    return pyrtl.concat(~short, short, pyrtl.Const(0, 1)).zero_extended(xlen)


def _sum(a: Wire, b: int) -> Wire:
    total = Wire(bitwidth=len(a) + 1)
    total <<= a + pyrtl.Const(b, len(a))
    return total[: len(a)]


def _five_stages(
    core: Core, decoder: Decoder, latencies: Mapping[str, int], ports: Ports
) -> Retired:
    xlen = core.xlen
    hold, stall, redirect = Wire(1, "hold"), Wire(1, "stall"), Wire(1, "redirect")
    target = Wire(xlen, "target")
    waiting = hold | stall

    # IF
    fetched = build_fetch(ports.instruction, decoder.instructions, waiting, redirect, target)
    ir = _register(fetched.word, "id_word", waiting)
    id_pc = _register(fetched.pc, "id_pc", waiting)
    id_valid = pyrtl.Register(1, "id_valid")
    id_valid.next <<= ~redirect & pyrtl.select(waiting, id_valid, _valid(fetched))

    # ID
    decoded = decoder.build(ir, latencies)
    control = decoded.control
    mem_rd, wb_rd = pyrtl.Register(5, "mem_rd"), pyrtl.Register(5, "wb_rd")
    mem_writes, wb_writes = pyrtl.Register(1, "mem_writes"), pyrtl.Register(1, "wb_writes")
    wb_value = pyrtl.Register(xlen, "wb_value")
    mem_value = Wire(xlen, "mem_value")
    ex_value = Wire(xlen, "ex_value")
    ex_valid = pyrtl.Register(1, "ex_valid")
    ex_word = _register(ir, "ex_word", hold)
    ex = _control_registers(control, "ex", hold)
    ex_writes = ex.writes_rd & ex_valid

    def operand(number: Wire, reads: Wire) -> tuple[Wire, Wire]:
        """Value of a source register, and whether it has to be waited for."""
        in_ex = ex_writes & (ex_word[7:12] == number)
        in_mem = mem_writes & (mem_rd == number)
        in_wb = wb_writes & (wb_rd == number)
        value = pyrtl.select(in_wb, wb_value, ports.register_file[number])
        if not core.forwarding:
            return value, reads & (in_ex | in_mem)
        value = pyrtl.select(in_ex, ex_value, pyrtl.select(in_mem, mem_value, value))
        return value, reads & in_ex & ex.load

    rs1, wait1 = operand(ir[15:20], control.reads_rs1)
    rs2, wait2 = operand(ir[20:25], control.reads_rs2)
    stall <<= id_valid & (wait1 | wait2)

    # EX
    ex_rs1, ex_rs2 = _register(rs1, "ex_rs1", hold), _register(rs2, "ex_rs2", hold)
    ex_immediate = _register(decoded.immediate, "ex_immediate", hold)
    ex_pc = _register(id_pc, "ex_pc", hold)
    done = id_valid & ~stall & ~redirect
    ex_valid.next <<= pyrtl.select(hold, ex_valid, done)
    commit = ex_valid & ~hold
    link = _link(fetched, xlen, ("id_short", waiting), ("ex_short", hold))
    executed = execute(ex, ex_pc, ex_rs1, ex_rs2, ex_immediate, link)
    redirect <<= commit & executed.taken
    target <<= executed.target
    answer = ports.unit(Issue(ex_valid, commit, ex_word, ex_rs1, ex_rs2, ex_pc, executed.result))
    ex_value <<= answer.value
    data, enables = store_lanes(ex_rs2, ex.size, executed.address[0:2])
    asks = ex_valid & (ex.load | ex.store)
    memory = ports.data(
        Access(asks, commit & ex.load, executed.address, data, enables, commit & ex.store)
    )
    outside = answered(answer.hold, memory.hold)
    inside: Wire | None = None
    if any(cycles > 1 for cycles in latencies.values()):
        remaining = pyrtl.Register(len(control.wait), "ex_remaining")
        inside = remaining != 0
        less = _less_one(remaining)
        less = less if outside is None else pyrtl.select(outside, remaining, less)
        remaining.next <<= pyrtl.select(hold, less, control.wait)
    held = answered(outside, inside)
    hold <<= pyrtl.Const(0, 1) if held is None else ex_valid & held

    # MEM
    mem_valid = _register(commit, "mem_valid")
    mem_pc = _register(ex_pc, "mem_pc")
    mem_writes.next <<= commit & ex.writes_rd
    mem_rd.next <<= ex_word[7:12]
    result = _register(ex_value, "mem_result")
    mem_load, mem_sign = _register(ex.load, "mem_load"), _register(ex.load_sign, "mem_load_sign")
    mem_size = _register(ex.size, "mem_size")
    offset = _register(executed.address[0:2], "mem_offset")
    mem_value <<= pyrtl.select(
        mem_load, loaded_value(memory.value, mem_size, offset, mem_sign), result
    )

    # WB
    wb_valid, wb_pc = _register(mem_valid, "wb_valid"), _register(mem_pc, "wb_pc")
    wb_writes.next <<= mem_writes
    wb_rd.next <<= mem_rd
    wb_value.next <<= mem_value
    ports.register_file[wb_rd] <<= pyrtl.MemBlock.EnabledWrite(wb_value, enable=wb_writes)
    return Retired(wb_valid, wb_pc, wb_writes, wb_rd, wb_value)


def _less_one(count: Wire) -> Wire:
    total = Wire(bitwidth=len(count) + 1)
    total <<= count - pyrtl.Const(1, len(count))
    return total[: len(count)]


def _short(core: Core, decoder: Decoder, latencies: Mapping[str, int], ports: Ports) -> Retired:
    """Two or three stages: decode, operands and execution all in EX."""
    xlen = core.xlen
    three = core.pipeline == 3
    waiting, redirect = Wire(1, "waiting"), Wire(1, "redirect")
    target = Wire(xlen, "target")

    # IF
    fetched = build_fetch(ports.instruction, decoder.instructions, waiting, redirect, target)
    ir = _register(fetched.word, "ex_word", waiting)
    ex_pc = _register(fetched.pc, "ex_pc", waiting)
    ex_valid = pyrtl.Register(1, "ex_valid")
    ex_valid.next <<= ~redirect & pyrtl.select(waiting, ex_valid, _valid(fetched))

    # EX
    decoded = decoder.build(ir, latencies)
    control = decoded.control
    if three:
        wb_writes, wb_rd = pyrtl.Register(1, "wb_writes"), pyrtl.Register(5, "wb_rd")
        wb_load, wb_result = pyrtl.Register(1, "wb_load"), pyrtl.Register(xlen, "wb_result")

    def operand(number: Wire, reads: Wire) -> tuple[Wire, Wire]:
        """Value of a source register, and whether it has to be waited for."""
        value = ports.register_file[number]
        if not three:
            return value, pyrtl.Const(0, 1)
        in_wb = wb_writes & (wb_rd == number)
        if not core.forwarding:
            return value, reads & in_wb
        # The operands of a unit that stays in EX must not move from the forwarded result to the
        # register file while it works, so that it has all its cycles to settle.
        stays = control.wait != 0
        return pyrtl.select(in_wb, wb_result, value), reads & in_wb & (wb_load | stays)

    rs1, wait1 = operand(ir[15:20], control.reads_rs1)
    rs2, wait2 = operand(ir[20:25], control.reads_rs2)
    stall = wait1 | wait2
    running = ex_valid & ~stall
    hold = Wire(1, "hold")
    inside: Wire | None = None
    if not three or any(cycles > 1 for cycles in latencies.values()):
        total = control.wait if three else _with_load(control)
        spent = pyrtl.Register(len(total), "ex_spent")
        inside = spent != total
    waiting <<= (ex_valid & stall) | hold
    commit = running & ~hold
    link = _link(fetched, xlen, ("ex_short", waiting))
    executed = execute(control, ex_pc, rs1, rs2, decoded.immediate, link)
    redirect <<= commit & executed.taken
    target <<= executed.target
    answer = ports.unit(Issue(running, commit, ir, rs1, rs2, ex_pc, executed.result))
    result = answer.value
    offset = executed.address[0:2]
    data, enables = store_lanes(rs2, control.size, offset)
    # In two stages the second cycle of a load is that in which memory answers.
    asks_load = control.load if three else control.load & (spent == 0)
    asks, reads = running & (asks_load | control.store), Wire(1, "ex_reads")
    memory = ports.data(
        Access(asks, reads, executed.address, data, enables, commit & control.store)
    )
    outside = answered(answer.hold, memory.hold)
    reads <<= running & asks_load if outside is None else running & asks_load & ~outside
    if inside is not None:
        more = _sum(spent, 1)
        more = more if outside is None else pyrtl.select(outside, spent, more)
        spent.next <<= pyrtl.select(hold, more, pyrtl.Const(0, len(spent)))
    held = answered(outside, inside)
    hold <<= pyrtl.Const(0, 1) if held is None else running & held
    if not three:
        loaded = loaded_value(memory.value, control.size, offset, control.load_sign)
        value = pyrtl.select(control.load, loaded, result)
        writes, rd = commit & control.writes_rd, ir[7:12]
        ports.register_file[rd] <<= pyrtl.MemBlock.EnabledWrite(value, enable=writes)
        return Retired(commit, ex_pc, writes, rd, value)

    # WB
    wb_valid, wb_pc = _register(commit, "wb_valid"), _register(ex_pc, "wb_pc")
    wb_writes.next <<= commit & control.writes_rd
    wb_rd.next <<= ir[7:12]
    wb_load.next <<= control.load
    wb_result.next <<= result
    size, sign = _register(control.size, "wb_size"), _register(control.load_sign, "wb_load_sign")
    loaded = loaded_value(memory.value, size, _register(offset, "wb_offset"), sign)
    value = pyrtl.select(wb_load, loaded, wb_result)
    ports.register_file[wb_rd] <<= pyrtl.MemBlock.EnabledWrite(value, enable=wb_writes)
    return Retired(wb_valid, wb_pc, wb_writes, wb_rd, value)


def _with_load(control: Control) -> Wire:
    """Cycles in EX beyond the first where a load, which has latency 1 itself, takes two."""
    first, *others = list(control.wait)
    return pyrtl.concat_list([first | control.load, *others])

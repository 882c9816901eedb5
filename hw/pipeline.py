"""Pipeline: the 2-, 3- and 5-stage organisations of the core, in PyRTL.

Their timing is that of `isa.pipeline`, which describes it. Nothing that was fetched on a wrong path
changes registers, memory or the state of a unit: all three are written under `commit`, which is 1
in the last EX cycle of an instruction that is on the right path.

Five stages are IF ID EX MEM WB. Three (IF EX WB) and two (IF EX) decode and read registers in EX;
the stage behind IF is then EX.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TypeAlias

import pyrtl

from hw.alu import compare, execute, follow, loaded_value, store_lanes
from hw.bypass import Source, Underway, bypassed
from hw.decoder import Control, Decoded, Decoder, any_wire
from hw.extension import matches
from hw.fetch import Flow, build_fetch
from hw.icicle import resting
from hw.pipelined import Late, Moving, pipelined_units
from hw.retired import Retired
from hw.slot import Access, DataPort, Issue, UnitPort, answered
from isa.core import Core

Wire: TypeAlias = pyrtl.WireVector


@dataclass(frozen=True)
class Ports:
    """How a pipeline reaches what is outside of it.

    Attributes:
        instruction: Takes the address of the next fetch; returns the word, after the latency of
            the memory. None where instructions come through `data`.
        data: Data memory.
        unit: What gives the instruction in EX its result; the core's own passes through it.
        register_file: 32 words; a read of word 0 gives 0, as it is never written.
    """

    instruction: Callable[[Wire], Wire] | None
    data: DataPort
    unit: UnitPort
    register_file: pyrtl.MemBlock


def build_pipeline(
    core: Core, decoder: Decoder, latencies: Mapping[str, int], ports: Ports
) -> Retired:
    """Build the core in the working block."""
    return _Pipeline(core, decoder, latencies, ports).build()


@dataclass(frozen=True)
class _Stage:
    """What stands in a stage before memory.

    Attributes:
        valid: 1 bit, an instruction; in EX also on the right path and with its operands.
        word: The instruction, 32 bits.
        pc: Its address.
        short: 1 bit, it is compressed; None where none is.
        predicted: 1 bit, fetch has followed it; None where nothing is predicted.
    """

    valid: Wire
    word: Wire
    pc: Wire
    short: Wire | None
    predicted: Wire | None

    def link(self) -> Wire:
        """Distance to the instruction behind it."""
        if self.short is None:
            return pyrtl.Const(4, len(self.pc))
        return pyrtl.concat(~self.short, self.short, pyrtl.Const(0, 1)).zero_extended(len(self.pc))


@dataclass(frozen=True)
class _Executed:
    """What leaves EX.

    Attributes:
        commit: 1 bit, an instruction does.
        value: Its result.
        memory: The word with which memory answers in the next cycle.
        offset: Place of a load in that word.
    """

    commit: Wire
    value: Wire
    memory: Wire
    offset: Wire


class _Pipeline:
    """One core under construction; its wires are used before they are driven."""

    def __init__(
        self, core: Core, decoder: Decoder, latencies: Mapping[str, int], ports: Ports
    ) -> None:
        self.core, self.decoder, self.latencies, self.ports = core, decoder, latencies, ports
        self.five = core.pipeline == 5
        self.early = core.branch == "decode"
        self.units = pipelined_units(core, decoder)
        self.load_stays = core.memory_latency + (core.pipeline == 2)
        self.waiting = Wire(1, "waiting")  # what is behind IF has to stay
        self.hold = Wire(1, "hold")  # what is in EX has to stay
        self.redirect, self.target = Wire(1, "redirect"), Wire(core.xlen, "target")
        # IF waits for a branch to be resolved.
        self.frozen = Wire(1, "frozen") if core.prediction == "none" else None
        # ID waits for what left EX before.
        self.resting = Wire(1, "resting") if core.name == "icicle" else None
        self.asks = Wire(1, "ex_asks")  # an access is in EX
        self.fetch_address: Wire | None = None  # these two where instructions come through `data`
        self.fetch_word: Wire | None = None

    def build(self) -> Retired:
        """Build everything, from IF to WB."""
        first = self._fetch()
        decoded = self.decoder.build(
            first.word, self.latencies, self.load_stays, self.core.memory_latency
        )
        if self.five:
            return self._five_stages(first, decoded)
        return self._short(first, decoded)

    def _fetch(self) -> _Stage:
        """IF, and the registers behind it."""
        stall = self.waiting if self.frozen is None else self.waiting | self.frozen
        granted = ~self.asks if self.ports.instruction is None else None
        fetched = build_fetch(
            self.core,
            self.decoder,
            self.ports.instruction or self._through_data,
            Flow(stall, self.redirect, self.target, granted),
        )
        prefix = "id" if self.five else "ex"
        word = _register(fetched.word, f"{prefix}_word", self.waiting)
        pc = _register(fetched.pc, f"{prefix}_pc", self.waiting)
        valid = pyrtl.Register(1, f"{prefix}_valid")
        enters = pyrtl.Const(1, 1) if fetched.valid is None else fetched.valid
        enters = enters if self.frozen is None else enters & ~self.frozen
        valid.next <<= ~self.redirect & pyrtl.select(self.waiting, valid, enters)
        short = _optional(fetched.short, f"{prefix}_short", self.waiting)
        predicted = _optional(fetched.predicted, f"{prefix}_predicted", self.waiting)
        return _Stage(valid, word, pc, short, predicted)

    def _through_data(self, address: Wire) -> Wire:
        """The port of instructions where they come through that of data."""
        self.fetch_address, self.fetch_word = address, Wire(32, "fetch_word")
        return self.fetch_word

    def _sources(self, word: Wire, control: Control) -> dict[str, Source]:
        """The source registers; each takes a port of the register file."""
        numbers = {"rs1": word[15:20], "rs2": word[20:25]}
        if self.core.read_ports == 3:
            numbers["rs3"] = word[27:32]
        return {
            name: Source(
                number, getattr(control, f"reads_{name}"), self.ports.register_file[number]
            )
            for name, number in numbers.items()
        }

    def _five_stages(self, first: _Stage, decoded: Decoded) -> Retired:
        """ID, EX, MEM and WB."""
        core, hold, control = self.core, self.hold, decoded.control
        stall = Wire(1, "stall")
        # Where fetch may have nothing to hand on, what is in EX blocks no empty ID.
        gaps = core != replace(core, memory="separate", memory_latency=1, prediction="not-taken")
        self.waiting <<= (hold & first.valid if gaps else hold) | stall
        ex_value, mem_value = Wire(core.xlen, "ex_value"), Wire(core.xlen, "mem_value")
        mem_rd, wb_rd = pyrtl.Register(5, "mem_rd"), pyrtl.Register(5, "wb_rd")
        mem_writes, wb_writes = pyrtl.Register(1, "mem_writes"), pyrtl.Register(1, "wb_writes")
        mem_result, wb_value = (pyrtl.Register(core.xlen, n) for n in ("mem_result", "wb_value"))
        mem_load = pyrtl.Register(1, "mem_load")

        # ID
        valid = pyrtl.Register(1, "ex_valid")
        word = _register(first.word, "ex_word", hold)
        ex = _control_registers(control, "ex", hold)
        ex_rd, ex_writes = word[7:12], ex.writes_rd & valid
        chosen = self._chosen(first.word)
        moving = Moving(
            self.units,
            [_register(c, f"ex_{u.name}", hold) for c, u in zip(chosen, self.units, strict=True)],
            core.xlen,
        )
        moving.enter(valid)
        late = Late(moving, 2)
        wb_final = moving.result(2, wb_value)
        behind = [
            Underway(wb_writes, wb_rd, wb_final, moving.unready(2)),
            *late.underway(core.xlen),
        ]
        # What takes nothing that comes late in its cycle: branches in ID, and all of icicle.
        in_mem = Underway(mem_writes, mem_rd)
        if core.forwarding or self.resting is not None:
            not_yet = answered(mem_load, moving.unready(1, late=True))
            in_mem = replace(in_mem, value=mem_result, late=not_yet)
        fast = [Underway(ex_writes, ex_rd), in_mem, *behind]
        if core.forwarding:
            fast = [
                Underway(ex_writes, ex_rd, ex_value, answered(ex.load, moving.unready(0))),
                Underway(mem_writes, mem_rd, mem_value, moving.unready(1)),
                *behind,
            ]
        sources = self._sources(first.word, control)
        operands, missing = _operands(sources, fast)
        leaves = first.valid & ~stall
        if self.early:
            jumps = control.branch | control.jump
            compared = {n: replace(s, reads=s.reads & jumps) for n, s in sources.items()}
            in_wb = Underway(wb_writes, wb_rd, wb_value, moving.unready(2, late=True))
            in_late = late.underway(core.xlen, late=True)
            slow = [Underway(ex_writes, ex_rd), in_mem, in_wb, *in_late]
            early, early_missing = _operands(compared, slow)
            missing = missing | early_missing
            condition = compare(control, early["rs1"], early["rs2"])
            self._resolve(
                first, control, early["rs1"], decoded.immediate, condition, leaves & ~hold
            )
        else:
            leaves = leaves & ~self.redirect
        valid.next <<= pyrtl.select(hold, valid, leaves)
        missing = missing if self.resting is None else missing | self.resting
        out_of_turn = moving.waits(chosen, 1)
        missing = missing if out_of_turn is None else missing | out_of_turn
        stall <<= first.valid & missing
        if self.frozen is not None:
            self.frozen <<= first.valid & (control.branch | control.jump | control.host)

        # EX
        values = {name: _register(value, f"ex_{name}", hold) for name, value in operands.items()}
        immediate = _register(decoded.immediate, "ex_immediate", hold)
        stage = _Stage(
            valid,
            word,
            _register(first.pc, "ex_pc", hold),
            _optional(first.short, "ex_short", hold),
            _optional(first.predicted, "ex_predicted", hold),
        )
        executed = self._execute(stage, ex, values, immediate, control.wait)
        moving.execute(word, values["rs1"], values["rs2"])
        ex_value <<= executed.value

        # MEM
        mem_valid = _register(executed.commit, "mem_valid")
        mem_pc = _register(stage.pc, "mem_pc")
        mem_writes.next <<= executed.commit & ex.writes_rd
        mem_rd.next <<= ex_rd
        mem_result.next <<= ex_value
        mem_load.next <<= ex.load
        loaded = self._loaded(executed, ex, "mem")
        mem_value <<= moving.result(1, pyrtl.select(mem_load, loaded, mem_result))

        # WB
        wb_valid, wb_pc = _register(mem_valid, "wb_valid"), _register(mem_pc, "wb_pc")
        wb_writes.next <<= mem_writes
        wb_rd.next <<= mem_rd
        wb_value.next <<= mem_value
        return self._retired(late.retired(Retired(wb_valid, wb_pc, wb_writes, wb_rd, wb_final)))

    def _chosen(self, word: Wire) -> list[Wire]:
        """For each pipelined unit, whether an instruction is of it."""
        return [any_wire(list(matches(word, unit.instructions).values())) for unit in self.units]

    def _short(self, first: _Stage, decoded: Decoded) -> Retired:
        """EX and, in three stages, WB."""
        control = decoded.control
        three = self.core.pipeline == 3
        chosen = self._chosen(first.word)
        moving = Moving(self.units, chosen, self.core.xlen)
        late = Late(moving, 1 if three else 0)
        underway = []
        if three:
            wb_writes, wb_rd = pyrtl.Register(1, "wb_writes"), pyrtl.Register(5, "wb_rd")
            wb_load = pyrtl.Register(1, "wb_load")
            wb_result = pyrtl.Register(self.core.xlen, "wb_result")
            # The operands of what stays in EX must not move from the forwarded result to the
            # register file while it works, so that it has all its cycles to settle.
            not_yet = answered(wb_load | (control.wait != 0), moving.unready(1, late=True))
            in_wb = Underway(wb_writes, wb_rd, wb_result, not_yet)
            underway = [in_wb if self.core.forwarding else Underway(wb_writes, wb_rd)]

        # EX
        underway += late.underway(self.core.xlen, late=True)
        operands, missing = _operands(self._sources(first.word, control), underway)
        out_of_turn = moving.waits(chosen, 0)
        missing = missing if out_of_turn is None else missing | out_of_turn
        self.waiting <<= (first.valid & missing) | self.hold
        stage = replace(first, valid=first.valid & ~missing)
        executed = self._execute(stage, control, operands, decoded.immediate, control.wait)
        moving.enter(stage.valid)
        moving.execute(first.word, operands["rs1"], operands["rs2"])
        rd, writes = first.word[7:12], executed.commit & control.writes_rd
        if not three:
            loaded = self._loaded(executed, control, None)
            value = pyrtl.select(control.load, loaded, executed.value)
            return self._retired(
                late.retired(Retired(executed.commit, first.pc, writes, rd, value))
            )

        # WB
        wb_valid, wb_pc = _register(executed.commit, "wb_valid"), _register(first.pc, "wb_pc")
        wb_writes.next <<= writes
        wb_rd.next <<= rd
        wb_load.next <<= control.load
        wb_result.next <<= executed.value
        value = pyrtl.select(wb_load, self._loaded(executed, control, "wb"), wb_result)
        value = moving.result(1, value)
        return self._retired(late.retired(Retired(wb_valid, wb_pc, wb_writes, wb_rd, value)))

    def _execute(
        self,
        stage: _Stage,
        control: Control,
        operands: Mapping[str, Wire],
        immediate: Wire,
        wait: Wire,
    ) -> _Executed:
        """EX.

        Args:
            stage: What stands in it.
            control: Of that.
            operands: Its source registers, rs3 where the register file has the port for it.
            immediate: Its immediate.
            wait: Cycles beyond the first of that, or, in five stages, of what is in ID.
        """
        core, hold = self.core, self.hold
        rs1, rs2 = operands["rs1"], operands["rs2"]
        commit = stage.valid & ~hold
        executed = execute(control, stage.pc, rs1, rs2, immediate, stage.link())
        if not self.early:
            taken = self._resolve(stage, control, rs1, immediate, executed.condition, commit)
            if self.resting is not None:
                self.resting <<= resting(commit, control, taken)
        answer = self.ports.unit(
            Issue(
                stage.valid, commit, stage.word, rs1, rs2, operands.get("rs3"), stage.pc,
                executed.result,
            )
        )  # fmt: skip
        counter = self._counter(wait)

        offset = executed.address[: (core.xlen // 8).bit_length() - 1]
        data, enables = store_lanes(rs2, control.size, offset)
        asks, reads = control.load | control.store, commit & control.load
        if core.pipeline == 2:  # the last cycle of a load is that in which memory answers
            asks = control.store | control.load & (counter != core.memory_latency)
            reads = Wire(1, "ex_reads")
        self.asks <<= stage.valid & asks
        address = executed.address
        if self.fetch_address is not None:
            address = pyrtl.select(self.asks, address, self.fetch_address)
        memory = self.ports.data(
            Access(self.asks, reads, address, data, enables, commit & control.store)
        )
        if self.fetch_address is not None and self.fetch_word is not None:
            self.fetch_word <<= _half(memory.value, self.fetch_address)

        outside = answered(answer.hold, memory.hold)
        if core.pipeline == 2:
            last = stage.valid & control.load & (counter == core.memory_latency - 1)
            reads <<= last if outside is None else last & ~outside
        held = answered(outside, self._count(counter, wait, outside))
        hold <<= pyrtl.Const(0, 1) if held is None else stage.valid & held
        return _Executed(commit, answer.value, memory.value, offset)

    def _resolve(
        self,
        stage: _Stage,
        control: Control,
        rs1: Wire,
        immediate: Wire,
        condition: Wire,
        leaves: Wire,
    ) -> Wire:
        """Send fetch elsewhere, where it has to go, when the instruction leaves its stage.

        Returns whether it has to go elsewhere.
        """
        elsewhere, target = follow(
            control, stage.pc, rs1, immediate, condition, stage.link(), stage.predicted
        )
        self.redirect <<= leaves & elsewhere
        self.target <<= target
        return elsewhere

    def _counter(self, wait: Wire) -> pyrtl.Register | None:
        """Counts the cycles in EX: up from 0, or, in five stages, down to it."""
        longest = max([self.load_stays, self.core.memory_latency, *self.latencies.values()])
        if longest == 1:
            return None
        return pyrtl.Register(len(wait), "ex_remaining" if self.five else "ex_spent")

    def _count(
        self, counter: pyrtl.Register | None, wait: Wire, outside: Wire | None
    ) -> Wire | None:
        """Whether the instruction in EX has to stay of its own accord; None if none ever has."""
        if counter is None:
            return None
        following = _plus(counter, -1 if self.five else 1)
        if outside is not None:
            following = pyrtl.select(outside, counter, following)
        fresh = wait if self.five else pyrtl.Const(0, len(counter))
        counter.next <<= pyrtl.select(self.hold, following, fresh)
        return counter != (0 if self.five else wait)

    def _retired(self, retired: Retired) -> Retired:
        """The end of the pipeline: the register file is written."""
        self.ports.register_file[retired.rd] <<= pyrtl.MemBlock.EnabledWrite(
            retired.value, enable=retired.writes
        )
        return retired

    def _loaded(self, executed: _Executed, control: Control, stage: str | None) -> Wire:
        """The value of a load, from the word that memory answers, in the stage behind EX."""
        size, sign, offset = control.size, control.load_sign, executed.offset
        if stage is not None:
            size, sign = _register(size, f"{stage}_size"), _register(sign, f"{stage}_load_sign")
            offset = _register(offset, f"{stage}_offset")
        return loaded_value(executed.memory, size, offset, sign)


def _operands(
    sources: Mapping[str, Source], underway: Sequence[Underway]
) -> tuple[dict[str, Wire], Wire]:
    """Values of source registers, and whether any of them has to be waited for."""
    found = {name: bypassed(source, underway) for name, source in sources.items()}
    values = {name: value for name, (value, _) in found.items()}
    return values, any_wire([wait for _, wait in found.values()])


def _register(value: Wire, name: str, keep: Wire | None = None) -> pyrtl.Register:
    """A register that takes `value` at the end of every cycle in which `keep` is not 1."""
    register = pyrtl.Register(len(value), name)
    register.next <<= value if keep is None else pyrtl.select(keep, register, value)
    return register


def _optional(value: Wire | None, name: str, keep: Wire) -> Wire | None:
    return None if value is None else _register(value, name, keep)


def _control_registers(control: Control, prefix: str, keep: Wire) -> Control:
    return Control(
        **{
            f.name: _register(getattr(control, f.name), f"{prefix}_{f.name}", keep)
            for f in fields(Control)
        }
    )


def _half(word: Wire, address: Wire) -> Wire:
    """The 32 bits of a memory word that were asked for in the cycle before."""
    if len(word) == 32:
        return word
    return pyrtl.select(_register(address[2], "fetch_upper"), word[32:], word[:32])


def _plus(count: Wire, step: int) -> Wire:
    """`count` + or - 1, modulo its width."""
    one = pyrtl.Const(1, len(count))
    total = Wire(bitwidth=len(count) + 1)
    total <<= count + one if step > 0 else count - one
    return total[: len(count)]

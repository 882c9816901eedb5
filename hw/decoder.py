"""Decoder: control signals of the core, built from the encodings and meanings of instructions.

No mnemonic is known here. What the shared arithmetic of the core can do is listed as `Bits`; an
instruction whose meaning is in the list is executed there, any other goes to a unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TypeAlias

import pyrtl

from hw.extension import matches
from isa.bits import Bits, arg, concat, const
from isa.core import Core
from isa.encoding import Immediate
from isa.instruction import Effects, Instruction
from isa.instruction_set import InstructionSet
from isa.iterative import operation_of
from isa.pipelined import unit_of

Wire: TypeAlias = pyrtl.WireVector


@dataclass(frozen=True)
class Control:
    """Control signals of one instruction; one bit each where not said otherwise.

    Attributes:
        writes_rd: It has a destination other than x0.
        reads_rs1: It reads rs1.
        reads_rs2: It reads rs2.
        reads_rs3: It reads rs3.
        a_pc: First operand of the adder is pc, else rs1.
        a_zero: First operand of the adder is 0.
        b_imm: Second operand is the immediate, else rs2.
        b_link: Second operand is the distance to the next instruction.
        subtract: The adder subtracts, and so compares.
        less: The result is a comparison; `signed` says which.
        signed: Comparison is signed.
        logic_and: The result is rs1 AND operand.
        logic_or: The result is rs1 OR operand.
        logic: The result is that of the logic, XOR unless one of the two above.
        shift: The result is shifted.
        shift_left: To the left.
        shift_sign: With copies of the sign.
        narrow: Works on the lower 32 bits of its operands, and its result is sign-extended.
        branch: Conditional branch.
        compare_less: Its condition is a comparison, else equality.
        invert: Its condition is inverted.
        jump: Jumps always.
        to_register: The jump starts from rs1, else from pc.
        host: Host call; the core fetches it again and again, until someone serves it.
        load: Reads memory.
        store: Writes memory.
        size: log2 of the bytes accessed, 2 bits.
        load_sign: The value read is sign-extended.
        wait: Cycles in EX beyond the first.
    """

    writes_rd: Wire
    reads_rs1: Wire
    reads_rs2: Wire
    reads_rs3: Wire
    a_pc: Wire
    a_zero: Wire
    b_imm: Wire
    b_link: Wire
    subtract: Wire
    less: Wire
    signed: Wire
    logic_and: Wire
    logic_or: Wire
    logic: Wire
    shift: Wire
    shift_left: Wire
    shift_sign: Wire
    narrow: Wire
    branch: Wire
    compare_less: Wire
    invert: Wire
    jump: Wire
    to_register: Wire
    host: Wire
    load: Wire
    store: Wire
    size: Wire
    load_sign: Wire
    wait: Wire


@dataclass(frozen=True)
class Decoded:
    """What the decoder makes of an instruction word: control and the immediate, xlen bits."""

    control: Control
    immediate: Wire


_FLAGS = tuple(f.name for f in fields(Control) if f.name not in ("size", "wait"))


def _arithmetic(xlen: int) -> Iterator[tuple[Bits, frozenset[str]]]:
    """Each function of the shared arithmetic and the flags that select it."""
    rs1, rs2, pc = arg("rs1", xlen), arg("rs2", xlen), arg("pc", xlen)
    yield from _operations(rs1, rs2)
    if xlen == 64:
        for value, flags in _operations(rs1.slice(0, 32), rs2.slice(0, 32)):
            if not flags & {"less", "logic"}:
                yield value.sext(64), flags | {"narrow"}
    upper = concat(arg("imm20", 20), const(0, 12)).sext(xlen)
    yield upper, frozenset(["a_zero", "b_imm"])
    yield pc + upper, frozenset(["a_pc", "b_imm"])
    yield pc + 4, frozenset(["a_pc", "b_link"])


def _operations(rs1: Bits, rs2: Bits) -> Iterator[tuple[Bits, frozenset[str]]]:
    """Those of two registers, or of one and an immediate."""
    width = rs1.width
    immediate = arg("imm12", 12).sext(width)
    for operand, flags in ((rs2, frozenset[str]()), (immediate, frozenset(["b_imm"]))):
        yield rs1 + operand, flags
        yield rs1 - operand, flags | {"subtract"}
        yield rs1.slt(operand).zext(width), flags | {"subtract", "less", "signed"}
        yield rs1.ult(operand).zext(width), flags | {"subtract", "less"}
        yield rs1 & operand, flags | {"logic", "logic_and"}
        yield rs1 | operand, flags | {"logic", "logic_or"}
        yield rs1 ^ operand, flags | {"logic"}
    bits = width.bit_length() - 1
    amount = arg("shamtw", 5) if width == 32 else arg("shamtd", 6)
    for distance, flags in (
        (rs2.slice(0, bits), frozenset[str]()),
        (amount, frozenset(["b_imm"])),
    ):
        yield rs1.shl_var(distance), flags | {"shift", "shift_left"}
        yield rs1.shr_var(distance), flags | {"shift"}
        yield rs1.sar_var(distance), flags | {"shift", "shift_sign"}


def _conditions(xlen: int) -> Iterator[tuple[Bits, frozenset[str]]]:
    rs1, rs2 = arg("rs1", xlen), arg("rs2", xlen)
    less = frozenset(["subtract", "compare_less"])
    for condition, flags in (
        (rs1.eq(rs2), frozenset[str]()),
        (rs1.slt(rs2), less | {"signed"}),
        (rs1.ult(rs2), less),
    ):
        yield condition, flags
        yield ~condition, flags | {"invert"}


def _targets(xlen: int) -> Iterator[tuple[Bits, frozenset[str]]]:
    rs1, pc = arg("rs1", xlen), arg("pc", xlen)
    for immediate in (arg("bimm12", 12), arg("jimm20", 20)):
        yield pc + concat(immediate, const(0, 1)).sext(xlen), frozenset()
    yield (rs1 + arg("imm12", 12).sext(xlen)) & -2, frozenset(["to_register"])


class Decoder:
    """Sorts the instructions of a set into those the core executes and those for units.

    Attributes:
        flags: Control flags of each instruction by name.
        units: Instructions that go to the extension, in the order of the set.
        commands: Instructions that go to a co-processor.
        iterative: Instructions that go to an iterative unit of the core.
        pipelined: Instructions that go to a pipelined unit of the core, by unit.
    """

    def __init__(self, instructions: InstructionSet, core: Core | None = None) -> None:
        """Classify every instruction.

        Args:
            instructions: What is executed.
            core: Says which iterative and pipelined units there are; none without it.

        Raises:
            ValueError: An instruction accesses memory or jumps in a way the core cannot.
        """
        self.instructions = instructions
        xlen = instructions.xlen
        self._arithmetic = dict(_arithmetic(xlen))
        self._conditions = dict(_conditions(xlen))
        self._targets = dict(_targets(xlen))
        self._address = arg("rs1", xlen) + arg("imm12", 12).sext(xlen)
        self.flags: dict[str, frozenset[str]] = {}
        self.units: list[Instruction] = []
        self.commands: list[Instruction] = []
        self.iterative: list[Instruction] = []
        self.pipelined: dict[str, list[Instruction]] = {}
        self._sizes: dict[str, int] = {}
        for instruction in instructions.instructions:
            effects = instruction.effects(xlen)
            flags = self._classify(instruction, effects)
            if flags is None:
                others = self.units if effects.command is None else self.commands
                if core is not None and operation_of(core, instruction):
                    others = self.iterative
                elif core is not None and (unit := unit_of(core, instruction)):
                    others = self.pipelined.setdefault(unit, [])
                others.append(instruction)
                flags = frozenset()
            operands = {f"reads_{r}" for r in instruction.sources}
            has_result = effects.command is not None and effects.command.has_result
            if effects.rd is not None or effects.load is not None or has_result:
                operands.add("writes_rd")
            self.flags[instruction.name] = flags | operands

    def _classify(self, instruction: Instruction, effects: Effects) -> frozenset[str] | None:
        """Flags of an instruction that the core executes itself; None for one of the slot."""
        flags: frozenset[str] | None = frozenset()
        if effects.host:
            return frozenset(["host"])
        if effects.load:
            flags = frozenset(["load", "b_imm", *(["load_sign"] if effects.load.signed else [])])
            flags = flags if effects.load.address is self._address else None
            self._sizes[instruction.name] = (effects.load.width // 8).bit_length() - 1
        elif effects.store:
            flags = frozenset(["store", "b_imm"])
            flags = flags if effects.store.address is self._address else None
            self._sizes[instruction.name] = (effects.store.value.width // 8).bit_length() - 1
        elif effects.next_pc:
            flags = self._targets.get(effects.next_pc.target)
            if effects.next_pc.condition is not None:
                condition = self._conditions.get(effects.next_pc.condition)
                flags = None if condition is None or flags is None else flags | condition
                flags = None if flags is None else flags | {"branch"}
            else:
                link = None if effects.rd is None else self._arithmetic.get(effects.rd)
                flags = None if link is None or flags is None else flags | link | {"jump"}
        elif effects.state or effects.command:
            return None
        elif effects.rd is not None:
            return self._arithmetic.get(effects.rd)
        if flags is None:
            raise ValueError(
                f"a {instruction.kind} of the core must take its address as the base set does, "
                f"not as {instruction.name}"
            )
        return flags

    def build(
        self, instr: Wire, latencies: Mapping[str, int], load: int = 1, store: int = 1
    ) -> Decoded:
        """Build the decoder of `instr`, 32 bits, in the working block.

        Args:
            instr: The instruction.
            latencies: Cycles in EX of instructions for units that need more than one.
            load: Cycles in EX of a load.
            store: Those of a store.
        """
        named = self.instructions.by_name
        selected = matches(instr, list(self.instructions.instructions))

        def one_of(names: Sequence[str]) -> Wire:
            return any_wire([selected[n] for n in names])

        wires = {f: one_of([n for n, flags in self.flags.items() if f in flags]) for f in _FLAGS}
        wires["writes_rd"] = wires["writes_rd"] & (instr[7:12] != 0)
        wires["size"] = pyrtl.concat(
            one_of([n for n, s in self._sizes.items() if s >> 1]),
            one_of([n for n, s in self._sizes.items() if s & 1]),
        )
        waits = {n: latencies.get(n, 1) - 1 for n in named}
        width = max(1, *(w.bit_length() for w in (*waits.values(), load - 1, store - 1)))
        bits = []
        for i in range(width):
            bit = one_of([n for n, w in waits.items() if w >> i & 1])
            for kind, cycles in (("load", load), ("store", store)):
                if cycles - 1 >> i & 1:
                    bit = bit | wires[kind]
            bits.append(bit)
        wires["wait"] = pyrtl.concat_list(bits)
        return Decoded(Control(**wires), self._immediate(instr, selected))

    def predict(self, instr: Wire) -> tuple[Wire, Wire]:
        """Build what follows a jump that holds its target, and a branch to a lower address.

        Returns:
            1 bit, `instr` is one of them; and its distance to the target, xlen bits.
        """
        known = self.instructions.instructions
        jumps = [
            i for i in known
            if "jump" in self.flags[i.name] and "to_register" not in self.flags[i.name]
        ]  # fmt: skip
        branches = [i for i in known if "branch" in self.flags[i.name]]
        selected = matches(instr, [*jumps, *branches])
        offset = self._immediate(instr, selected)
        jumping = any_wire([selected[i.name] for i in jumps])
        branching = any_wire([selected[i.name] for i in branches])
        return jumping | (branching & offset[-1]), offset

    def _immediate(self, instr: Wire, selected: Mapping[str, Wire]) -> Wire:
        """The immediate of whichever of `selected` the core itself executes; 0 if it has none."""
        xlen = self.instructions.xlen
        users: dict[Immediate, list[Wire]] = {}
        for instruction in self.instructions.instructions:
            used = self.flags[instruction.name] & {"b_imm", "branch", "jump"}
            if used and instruction.name in selected:
                for immediate in instruction.encoding.immediates:
                    users.setdefault(immediate, []).append(selected[instruction.name])
        parts = []
        for immediate, wires in users.items():
            value = _extended(instr, immediate, xlen)
            parts.append(value & any_wire(wires).sign_extended(xlen))
        return any_wire(parts) if parts else pyrtl.Const(0, xlen)


_LOW_ZEROS = {"imm20": 12, "bimm12": 1, "jimm20": 1}
"""Zeros that stand below an immediate in the value it means."""


def immediate_bits(instr: Wire, immediate: Immediate) -> list[Wire]:
    """The bits of an immediate in an instruction word, lowest first."""
    bits: list[Wire] = [pyrtl.Const(0, 1)] * immediate.width
    for word_low, low, length in immediate.pieces:
        for i in range(length):
            bits[low + i] = instr[word_low + i]
    return bits


def _extended(instr: Wire, immediate: Immediate, xlen: int) -> Wire:
    bits = immediate_bits(instr, immediate)
    zeros = [pyrtl.Const(0, 1)] * _LOW_ZEROS.get(immediate.name, 0)
    value = pyrtl.concat_list(zeros + bits)
    return value.zero_extended(xlen) if immediate.width == 5 else value.sign_extended(xlen)


def any_wire(level: list[Wire]) -> Wire:
    """OR of wires of one width, as a balanced tree; 0 for none."""
    if not level:
        return pyrtl.Const(0, 1)
    while len(level) > 1:
        pairs = [level[i] | level[i + 1] for i in range(0, len(level) - 1, 2)]
        level = [*pairs, *(level[-1:] if len(level) % 2 else [])]
    return level[0]

"""Emit: allocated code to a `Program`: frame, stub, addresses of tables and buffers, words."""

from __future__ import annotations

from isa.compiler.allocate import Allocation, Line
from isa.compiler.constants import Constants
from isa.compiler.frame import near_first
from isa.compiler.operations import Address, Loop, Operation
from isa.compiler.place import Placement, Word
from isa.compiler.pools import STACK_POINTER
from isa.compiler.rename import rename
from isa.compiler.repertoire import AffineImmediate, Repertoire
from isa.compiler.select import Selection
from isa.instruction import Instruction
from isa.instruction_set import InstructionSet
from isa.kernel import KernelError, UnsupportedKernel
from isa.program import TEXT_BASE, Program, packed
from isa.registers import NUMBERS

STACK_ALIGNMENT = 16
"""Bytes (RISC-V calling convention)."""
LARGEST_STEP = 2032
"""Bytes that one instruction moves sp, a multiple of the alignment."""


class Emitter:
    """Turns an allocation into a program."""

    def __init__(
        self,
        selection: Selection,
        allocation: Allocation,
        repertoire: Repertoire,
        constants: Constants,
        instructions: InstructionSet,
    ) -> None:
        self._instructions = instructions
        self._selection = selection
        self._allocation = allocation
        self._repertoire = repertoire
        self._constants = constants
        self._size = repertoire.xlen // 8
        self._mask = (1 << repertoire.xlen) - 1
        self._words: list[Word] = []
        self._labels: dict[Loop, int] = {}
        self._image, self._tables, self._anchors = selection.layout.place()
        self._frame()

    def _frame(self) -> None:
        """Lay out the frame, from sp upward: spill slots, saved registers, buffers."""
        offset = self._size * self._allocation.slots
        self._saved_at = {}
        for register in self._allocation.saved:
            self._saved_at[register] = offset
            offset += self._size
        self._buffers: dict[str, int] = {}
        for name, size in near_first(self._selection.scratch):
            self._buffers[name] = offset
            offset += (size + self._size - 1) // self._size * self._size
        self._frame_bytes = -(-offset // STACK_ALIGNMENT) * STACK_ALIGNMENT

    def run(self) -> Program:
        """Write everything."""
        if self._frame_bytes:
            self._move_stack(-self._frame_bytes)
            for register, offset in self._saved_at.items():
                self._store_slot(register, offset, "save")
        start = len(self._words)
        for line in self._allocation.lines:
            self._line(line)
        given = {register for _, register in self._allocation.lines[0].defines}
        fixed = {0, STACK_POINTER, NUMBERS["ra"], *given}
        rename(self._words[start:], fixed, self._instructions)
        for register, offset in self._saved_at.items():
            self._load_slot(register, offset, "restore")
        if self._frame_bytes:
            self._move_stack(self._frame_bytes)
        self._return()
        return self._program()

    def _program(self) -> Program:
        call, stop = self._repertoire.call, self._repertoire.stop
        if call is None or stop is None:
            raise UnsupportedKernel("the instruction set must have a call and a stop")
        entry = TEXT_BASE + 8
        field = call.offset.solve(entry - TEXT_BASE)
        assert field is not None
        stub = [
            call.instruction.encode(rd=NUMBERS["ra"], **{call.offset.name: field}),
            stop.encode(),
        ]
        placed = Placement(self._words, self._labels, entry, self._repertoire, self._instructions)
        code = b"".join(word.to_bytes(4, "little") for word in stub)
        code += b"".join(word.bits.to_bytes(word.size, "little") for word in placed.words)
        words, padding = packed(code)
        symbols = {"_start": TEXT_BASE, "kernel": entry}
        for n, index in enumerate(sorted(placed.labels.values())):
            symbols[f"loop{n}"] = placed.places[index]
        report = {
            "spills": self._allocation.spills,
            "saved_registers": len(self._allocation.saved),
            "stack_bytes": self._frame_bytes,
            "executed": placed.executed(),
            "waits": placed.waits(),
        }
        return Program(
            words,
            self._image,
            symbols,
            {pc: w.text for pc, w in zip(placed.places, placed.words, strict=False) if w.text},
            self._frame_bytes,
            report,
            padding_bytes=padding,
        )

    # Lines.

    def _line(self, line: Line) -> None:
        match line.kind:
            case "operation":
                assert line.operation is not None
                self._operation(line, line.operation)
            case "constant":
                assert line.operation is not None
                assert line.operation.immediate is not None
                value = self._resolve(line.operation.immediate)
                self._constant(line.result, value, line.operation.text)
            case "move":
                self._add_immediate(line.result, line.registers[0][1], 0, "")
            case "spill":
                self._store_slot(line.registers[0][1], self._size * line.slot, "spill")
            case "reload":
                self._load_slot(line.result, self._size * line.slot, "reload")
            case "label":
                assert line.loop is not None
                self._labels[line.loop] = len(self._words)
            case "branch":
                assert line.operation is not None
                assert line.operation.instruction is not None
                instruction = line.operation.instruction
                values = self._registers(instruction, line)
                values.pop("rd", None)
                jump = self._repertoire.branch_different
                self._words.append(Word(instruction, values, "", line.loop, jump))

    def _registers(self, instruction: Instruction, line: Line) -> dict[str, int]:
        values = dict.fromkeys(instruction.encoding.registers, 0)
        values.update(line.registers)
        if "rd" in values:
            values["rd"] = line.result
        return values

    def _operation(self, line: Line, operation: Operation) -> None:
        instruction = operation.instruction
        assert instruction is not None
        values = self._registers(instruction, line)
        values.update(operation.fixed)
        if operation.solver is not None:
            assert operation.immediate is not None
            values[operation.solver.name] = self._solve(
                operation.solver, self._resolve(operation.immediate)
            )
        for name in instruction.immediates:
            values.setdefault(name, 0)
        self._words.append(Word(instruction, values, operation.text))

    def _solve(self, solver: AffineImmediate, value: int) -> int:
        field = solver.solve(value & self._mask)
        if field is None:
            raise KernelError(
                f"an offset must fit its field, not {value:#x}; use a smaller stack buffer"
            )
        return field

    def _resolve(self, immediate: int | Address) -> int:
        if isinstance(immediate, int):
            return immediate
        match immediate.kind:
            case "anchor":
                return self._anchors[immediate.name]
            case "absolute":
                return self._tables[immediate.name] + immediate.addend
            case "frame":
                return self._buffers[immediate.name] + immediate.addend
        anchor = self._anchors[self._selection.layout.anchors[immediate.name]]
        return self._tables[immediate.name] - anchor + immediate.addend

    def _constant(self, register: int, value: int, text: str) -> None:
        steps = self._constants.steps(value)
        if steps is None:
            raise UnsupportedKernel(f"no instruction of the set makes the constant {value:#x}")
        for step in steps:
            instruction = step.pattern.instruction
            values = dict.fromkeys(instruction.encoding.registers, 0)
            values.update(step.pattern.fixed)
            if step.source is not None:
                values[step.source] = register
            values["rd"] = register
            if step.pattern.immediate is not None and step.field is not None:
                values[step.pattern.immediate.name] = step.field
            self._words.append(Word(instruction, values, text))

    def _move_stack(self, distance: int) -> None:
        """Add to sp, in steps where the frame is larger than an immediate."""
        while distance:
            step = max(-LARGEST_STEP, min(distance, LARGEST_STEP))
            self._add_immediate(STACK_POINTER, STACK_POINTER, step, "frame")
            distance -= step

    def _add_immediate(self, result: int, register: int, addend: int, text: str) -> None:
        for accumulate in self._repertoire.accumulate_immediate["add"]:
            pattern = accumulate.pattern
            assert pattern.immediate is not None
            field = pattern.immediate.solve(addend & self._mask)
            if field is not None:
                values = dict.fromkeys(pattern.instruction.encoding.registers, 0)
                values.update(pattern.fixed)
                values.update({accumulate.acc: register, "rd": result})
                values[pattern.immediate.name] = field
                self._words.append(Word(pattern.instruction, values, text))
                return
        raise UnsupportedKernel(f"no instruction of the set adds {addend} to a register")

    def _store_slot(self, register: int, offset: int, text: str) -> None:
        access = self._repertoire.stores[self._repertoire.xlen]
        assert access.value is not None
        values = {access.base: STACK_POINTER, access.value: register}
        values[access.offset.name] = self._solve(access.offset, offset)
        self._words.append(Word(access.instruction, values, text))

    def _load_slot(self, register: int, offset: int, text: str) -> None:
        loads, xlen = self._repertoire.loads, self._repertoire.xlen
        access = loads.get((xlen, True)) or loads[xlen, False]
        values = {access.base: STACK_POINTER, "rd": register}
        values[access.offset.name] = self._solve(access.offset, offset)
        self._words.append(Word(access.instruction, values, text))

    def _return(self) -> None:
        jump = self._repertoire.jump_register
        if jump is None:
            raise UnsupportedKernel("the instruction set must have a jump to a register")
        values = {"rd": 0, jump.sources[0]: NUMBERS["ra"], jump.offset.name: 0}
        self._words.append(Word(jump.instruction, values, "return"))

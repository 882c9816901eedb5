"""Programs that execute one instruction on many operands, and what our meaning says they give.

A program is a list of runs. A run executes one encoding of an instruction over a slice of the
operand table and stores a result a row. Everything is written as words by our own encoder, so the
emulator judges encodings as well as meanings.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from isa.bits import Bits, arg, evaluate
from isa.encoding import Immediate
from isa.instruction import Instruction
from isa.instruction_set import InstructionSet
from isa.python_source import compile_function
from tests.oracles import emulators
from tests.oracles.elf import BASE

A, B, C, RESULT, TABLE, COUNT, OUT, SCRATCH = 10, 11, 12, 13, 8, 9, 18, 19
"""Registers: operands, result, table and output pointers, counter, buffer address."""
BUFFER_SIZE = 8192
OUTPUT = BASE + 0x4000000
"""Address of the results."""
EVALUATED = 24
"""Rows a run that are checked by `evaluate` too; all are by the compiled meaning."""
SHARE = {"shamtw": 32, "shamtd": 64, "bs": 4, "rnum": 11, "imm12": 50, "imm20": 50}
"""Values of an immediate that one instruction is run with."""


@dataclass(frozen=True)
class Case:
    """One encoding and the rows of the table it runs over."""

    instruction: Instruction
    immediates: dict[str, int]
    rows: range


def operand_table(xlen: int, rows: int, seed: int) -> list[tuple[int, int, int]]:
    """Rows of three operands: pairs of corner values first, then random ones."""
    rng = random.Random(f"{xlen} {seed}")
    top = 1 << xlen - 1
    corners = [0, 1, 2, 2 * top - 1, top, top - 1, 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF % (2 * top)]
    corners += [0x5555555555555555 % (2 * top), 0x0123456789ABCDEF % (2 * top)]
    table = [(a, b, rng.choice(corners)) for a in corners for b in corners]
    rng.shuffle(table)

    def value() -> int:
        number = rng.getrandbits(xlen)
        match rng.randrange(6):
            case 0:
                return number & number >> rng.randrange(xlen)
            case 1:
                return number >> rng.randrange(xlen)
            case 2:
                return (number | ~((1 << rng.randrange(xlen)) - 1)) % (1 << xlen)
            case 3:
                return rng.choice(corners)
        return number

    table += [(value(), value(), value()) for _ in range(max(0, rows - len(table)))]
    return table[:rows]


def immediate_values(immediate: Immediate, count: int, rng: random.Random) -> list[int]:
    """All values of a narrow immediate, corners and random ones of a wide one."""
    if len(immediate.values) <= count:
        return list(immediate.values)
    width = immediate.width
    corners = [0, 1, (1 << width) - 1, 1 << width - 1, (1 << width - 1) - 1]
    return corners + [rng.getrandbits(width) for _ in range(count - len(corners))]


def cases(instruction: Instruction, rows: int, seed: int) -> Iterator[Case]:
    """Split the table among the immediates of an instruction; without one, one case takes all."""
    rng = random.Random(f"{instruction.name} {seed}")
    if not instruction.immediates or instruction.kind == "branch":
        yield Case(instruction, {}, range(rows))
        return
    (immediate,) = instruction.encoding.immediates
    values = immediate_values(immediate, min(SHARE.get(immediate.name, 50), rows), rng)
    start = 0
    for i, v in enumerate(values):
        end = rows * (i + 1) // len(values)
        if end > start:
            yield Case(instruction, {immediate.name: v}, range(start, end))
        start = end


class Differential:
    """One program for one instruction set, its expected and its actual results."""

    def __init__(self, instructions: InstructionSet, rows: int, seed: int = 1) -> None:
        """Prepare `rows` rows of operands."""
        self.xlen = instructions.xlen
        self.by_name = instructions.by_name
        self.size = self.xlen // 8
        self.rows = rows
        self.seed = seed
        self.table = operand_table(self.xlen, rows, seed)
        self.buffer = random.Random(seed).randbytes(BUFFER_SIZE)
        form = "<QQQ" if self.xlen == 64 else "<III"
        self.table_address = BASE + emulators.MAILBOX_SIZE
        table = b"".join(struct.pack(form, *row) for row in self.table)
        self.buffer_address = self.table_address + len(table) + -len(table) % 64
        data = bytes(emulators.MAILBOX_SIZE) + table.ljust(
            self.buffer_address - self.table_address, b"\0"
        )
        self.data = data + self.buffer
        self.code_address = BASE + len(self.data)
        self.words: list[int] = []
        self.expected: list[tuple[str, int]] = []  # (description, value) a result
        self._load_address(OUT, OUTPUT)

    def _emit(self, name: str, **values: int) -> None:
        self.words.append(self.by_name[name].encode(**values))

    @property
    def _pc(self) -> int:
        return self.code_address + 4 * len(self.words)

    def _load_address(self, register: int, value: int) -> None:
        self.words += emulators.load_address(self.by_name, register, value)

    def _load(self, register: int, base: int, offset: int) -> None:
        name = "ld" if self.xlen == 64 else "lw"
        self._emit(name, rd=register, rs1=base, imm12=offset)

    def _store(self, register: int, base: int, offset: int) -> None:
        name = "sd" if self.xlen == 64 else "sw"
        self._emit(name, rs2=register, rs1=base, imm12=offset)

    def _record(self, description: str, value: int) -> None:
        """Store the result register; `value` is what it must hold."""
        self._store(RESULT, OUT, 0)
        self._emit("addi", rd=OUT, rs1=OUT, imm12=self.size)
        self.expected.append((description, value))

    def _over_rows(self, rows: range, body: Callable[[], None]) -> None:
        """Run `body` once a row, with the operands loaded, and store what it leaves."""
        self._load_address(TABLE, self.table_address + 3 * self.size * rows.start)
        self._load_address(COUNT, len(rows))
        start = self._pc
        for i, register in enumerate((A, B, C)):
            self._load(register, TABLE, i * self.size)
        body()
        self._store(RESULT, OUT, 0)
        self._emit("addi", rd=OUT, rs1=OUT, imm12=self.size)
        self._emit("addi", rd=TABLE, rs1=TABLE, imm12=3 * self.size)
        self._emit("addi", rd=COUNT, rs1=COUNT, imm12=-1)
        self._emit("bne", rs1=COUNT, rs2=0, bimm12=(start - self._pc) >> 1)

    def add(self, instruction: Instruction) -> int:
        """Add all runs of an instruction; returns the number of results."""
        before = len(self.expected)
        kind = instruction.kind
        for case in cases(instruction, self.rows, self.seed):
            if kind == "alu":
                self._register_case(case)
            elif kind == "branch":
                self._branch_case(case)
            elif kind in ("load", "store"):
                for row in case.rows:
                    self._memory_case(instruction, row)
            elif kind == "jump":
                for row in case.rows:
                    self._jump_case(instruction, row)
        return len(self.expected) - before

    def _values(self, case: Case, pc: int, root: Bits) -> list[int]:
        """The value of `root` for each row, by the compiled meaning, a few by `evaluate` too."""
        names = ("rs1", "rs2", "rs3")
        constants = {**case.immediates, "pc": pc}
        widths = {i.name: i.width for i in case.instruction.encoding.immediates}
        widths["pc"] = self.xlen
        parameters = [arg(n, self.xlen) for n in names]
        parameters += [arg(n, widths[n]) for n in constants]
        function = compile_function([root], parameters)
        found = []
        for k, i in enumerate(case.rows):
            (value,) = function(*self.table[i], *constants.values())
            if k < EVALUATED:
                given = dict(zip(names, self.table[i], strict=True))
                assert value == evaluate(root, {**given, **constants})
            found.append(value)
        return found

    def _describe(self, case: Case, row: int) -> str:
        operands = ", ".join(f"{v:#x}" for v in self.table[row])
        return f"{case.instruction.name} {case.immediates or ''} rs1, rs2, rs3 = {operands}"

    def _register_case(self, case: Case) -> None:
        i = case.instruction
        registers = {"rd": RESULT, "rs1": A, "rs2": B, "rs3": C}
        fields = {r: registers[r] for r in i.encoding.registers}
        pc = 0

        def body() -> None:
            nonlocal pc
            pc = self._pc
            self._emit(i.name, **fields, **case.immediates)

        self._over_rows(case.rows, body)
        root = i.effects(self.xlen).rd
        assert root is not None
        for row, value in zip(case.rows, self._values(case, pc, root), strict=True):
            self.expected.append((self._describe(case, row), value))

    def _branch_case(self, case: Case) -> None:
        i = case.instruction
        jump = i.effects(self.xlen).next_pc
        assert jump is not None
        assert jump.condition is not None

        def body() -> None:
            self._emit("addi", rd=RESULT, rs1=0, imm12=1)
            self._emit(i.name, rs1=A, rs2=B, bimm12=8 >> 1)
            self._emit("addi", rd=RESULT, rs1=0, imm12=0)

        self._over_rows(case.rows, body)
        taken = Case(i, {"bimm12": 4}, case.rows)
        for row, value in zip(case.rows, self._values(taken, 0, jump.condition), strict=True):
            self.expected.append((self._describe(case, row), value))

    def _memory_case(self, i: Instruction, row: int) -> None:
        effects = i.effects(self.xlen)
        rng = random.Random(f"{i.name} {row} {self.seed}")
        immediate = rng.randrange(-2048, 2048)
        access = effects.load or effects.store
        assert access is not None
        width = effects.load.width if effects.load else effects.store.value.width  # type: ignore[union-attr]
        place = rng.randrange(2048, 4096) // (width // 8) * (width // 8)
        base = self.buffer_address + place - immediate
        given = {"rs1": base, "rs2": self.table[row][1], "imm12": immediate & 0xFFF}
        offset = evaluate(access.address, given) - self.buffer_address
        self._load_address(A, base)
        if effects.load:
            self._emit(i.name, rd=RESULT, rs1=A, imm12=immediate)
            raw = self.buffer[offset : offset + width // 8]
            value = int.from_bytes(raw, "little", signed=effects.load.signed)
            self._record(f"{i.name} {immediate}({base:#x})", value % (1 << self.xlen))
            return
        assert effects.store is not None
        # Stores go to the upper half of the buffer, which is cleared around them first.
        self._load_address(SCRATCH, self.buffer_address + BUFFER_SIZE // 2 + place // 8 * 8)
        self._load_address(A, base + BUFFER_SIZE // 2)
        for k in range(0, 8, self.size):
            self._store(0, SCRATCH, k)
        self._load_address(TABLE, self.table_address + 3 * self.size * row)
        self._load(B, TABLE, self.size)
        self._emit(i.name, rs1=A, rs2=B, imm12=immediate)
        stored = evaluate(effects.store.value, given) << 8 * (offset % 8)
        for k in range(0, 8, self.size):
            self._load(RESULT, SCRATCH, k)
            self._record(
                f"{i.name} {immediate}({base:#x}), bytes from {k}",
                stored >> 8 * k & ((1 << self.xlen) - 1),
            )

    def _jump_case(self, i: Instruction, row: int) -> None:
        """A jump over one word; the link register and the address reached are the results."""
        effects = i.effects(self.xlen)
        assert effects.next_pc is not None
        rng = random.Random(f"{i.name} {row} {self.seed}")
        immediate = rng.randrange(-2048, 2048)
        over = 4 * rng.randrange(1, 4)
        if i.name == "jalr":  # the lowest bit of the target is ignored
            self._load_address(A, self._pc + 8 + 4 + over + rng.randrange(2) - immediate)
        pc = self._pc
        if i.name == "jalr":
            rs1 = pc + 4 + over - immediate
            given = {"rs1": rs1, "imm12": immediate & 0xFFF, "pc": pc}
            self._emit(i.name, rd=RESULT, rs1=A, imm12=immediate)
        else:
            given = {"jimm20": (4 + over) >> 1, "pc": pc}
            self._emit(i.name, rd=RESULT, jimm20=(4 + over) >> 1)
        for _ in range(over // 4):
            self._emit("addi", rd=RESULT, rs1=0, imm12=0)
        assert evaluate(effects.next_pc.target, given) == self._pc
        assert effects.rd is not None
        self._record(f"{i.name} over {over} bytes", evaluate(effects.rd, given))

    def run(self, emulator: str, folder: Path) -> list[str]:
        """Run on an emulator; returns a line for each result that differs from ours."""
        size = self.size * len(self.expected)
        output = range(OUTPUT, OUTPUT + size)
        results = emulators.run(
            emulator, self.xlen, self.by_name, self.data, self.words, output, folder
        )
        return self._differences(results)

    def _differences(self, output: bytes) -> list[str]:
        """A line for each result that differs from ours."""
        size = self.size
        if len(output) != size * len(self.expected):
            return [f"results must be {size * len(self.expected)} bytes, not {len(output)}"]
        found = [
            int.from_bytes(output[k : k + size], "little") for k in range(0, len(output), size)
        ]
        return [
            f"{text}: {ours:#x} by our meaning, {theirs:#x} by the emulator"
            for (text, ours), theirs in zip(self.expected, found, strict=True)
            if ours != theirs
        ]

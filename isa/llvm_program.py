"""LLVM program: the IR of a whole program, one LLVM block a basic block and timing state.

Registers and state elements are allocas, which LLVM turns into machine registers; inside a block
they are plain values. Where a timing automaton is given, a basic block is written once for every
state in which it can be entered, so that counting executions counts cycles exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from isa.bits import Bits, evaluate
from isa.instruction_set import InstructionSet
from isa.llvm_source import LlvmTemplate, llvm_templates
from isa.program import Program
from isa.translate import Block, Placed

if TYPE_CHECKING:
    from isa.timing import Automaton

HOST, LIMIT, FAULT, JUMP, ACCESS = range(5)
"""Why native code returns: a host call, the limit, no instruction at pc, a computed jump to an
address that is not yet known to start a block, a bad access."""
BUDGET, NUMBER, PC, BASES = range(4)
"""64-bit words that native code and its caller exchange: instructions left to the limit; where to
enter, then where to enter again, from which dispatch a jump came or which accesses are bad; where
it left; and values of address registers, as many as a stretch of accesses has."""
MOST_VERSIONS = 16
"""Timing states a block, on average, beyond which a program is not worth translating."""
NO_DEVICES = "native code must give no commands to a co-processor; run the program in isa.machine"

_RARE = "!prof !0"


@dataclass
class Version:
    """A basic block in one timing state.

    Attributes:
        index: Number of its LLVM block and of its counter.
        block: Index of the basic block.
        state: Timing state at its entry.
        cycles: Cycles where it is left in the straight line.
        taken_cycles: Cycles where it is left by a jump.
        taken_counter: Counter of the latter, where they differ.
    """

    index: int
    block: int
    state: Hashable
    cycles: int = 0
    taken_cycles: int = 0
    taken_counter: int | None = None


@dataclass
class Access:
    """A load or store; its address is the value of a register plus a distance.

    Attributes:
        pc: Its address.
        base: Register number; None where the address itself is taken as base.
        distance: Bytes from the base.
        size: Bytes.
    """

    pc: int
    base: int | None
    distance: int
    size: int


@dataclass
class Stretch:
    """Accesses of a block whose base registers are all known at the first of them.

    They are checked together there. A failed check hands over the bases, from which the caller
    finds the first that is bad.
    """

    accesses: list[Access]

    @property
    def bases(self) -> list[int | None]:
        """The different bases, in order of first use."""
        return list(dict.fromkeys(a.base for a in self.accesses))


@dataclass
class Layout:
    """Where the values of registers and state elements stand outside native code.

    Attributes:
        names: `r1` to `r31` and `s_<name>`.
        widths: Width of each in bits.
        places: Byte offset of each.
        size: Bytes in all.
    """

    names: list[str] = field(default_factory=list)
    widths: dict[str, int] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    size: int = 256

    @classmethod
    def of(cls, instructions: InstructionSet) -> Layout:
        """The layout for an instruction set: 8 bytes a register, then the state."""
        made = cls()
        for number in range(1, 32):
            made._add(f"r{number}", instructions.xlen, 8 * number)
        for name, width in instructions.state:
            made._add(f"s_{name}", width, made.size)
            made.size += (width + 63) // 64 * 8
        return made

    def _add(self, name: str, width: int, place: int) -> None:
        self.names.append(name)
        self.widths[name] = width
        self.places[name] = place


class LlvmProgram:
    """Finds the blocks of a program and writes its IR.

    Attributes:
        blocks: Basic blocks by index.
        versions: The same in every timing state, by index.
        resumes: (pc, timing state) by the number with which native code is entered.
        stretches: Accesses checked together, by number.
        dispatches: Number of the dispatch of computed jumps in each timing state.
        counters: How many counters native code keeps.
    """

    def __init__(
        self,
        instructions: InstructionSet,
        program: Program,
        decode: Callable[[int], Placed | None],
        rules: Automaton | None,
        entries: set[int],
    ) -> None:
        """Find and write all that can be reached.

        Args:
            instructions: The instruction set.
            program: The program.
            decode: The instruction at an address.
            rules: Times every instruction; None leaves cycles uncounted.
            entries: Addresses that computed jumps may reach, besides return addresses; those
                found in the program are added.
        """
        self.instructions = instructions
        self.program = program
        self.rules = rules
        self.entries = entries
        self.layout = Layout.of(instructions)
        self.blocks: list[Block] = []
        self.versions: list[Version] = []
        self.resumes: list[tuple[int, Hashable]] = []
        self.counters = 0
        self.stretches: list[Stretch] = []
        self._decode = decode
        self.templates = llvm_templates(instructions.xlen)
        self._index: dict[int, int] = {}
        self._known: dict[tuple[int, Hashable], Version] = {}
        self._pending: list[Version] = []
        self.dispatches: dict[Hashable, int] = {}
        self._leaders: set[int] = set()
        self._heads: set[int] = set()
        self._returns: set[int] = set()
        self.definitions: dict[str, None] = {}
        self._text: list[str] = []
        self._exits: list[tuple[str, int, int, int]] = []
        self._find()

    # --- basic blocks ---------------------------------------------------------------------------

    def _find(self) -> None:
        """Find leaders: static control flow, return addresses, addresses formed as constants."""
        stack = [self.program.start, *sorted(self.entries)]
        relocated = self.program.text_base > 0  # else small numbers would pass for addresses
        while stack:
            pc = stack.pop()
            if pc in self._leaders:
                continue
            self._leaders.add(pc)
            constants: dict[int, int] = {}
            while (placed := self._decode(pc)) is not None:
                if relocated:
                    address = self._constant(placed, constants)
                    if address is not None and self._decode(address) is not None:
                        self.entries.add(address)
                        stack.append(address)
                following = placed.next_pc
                if placed.instruction.kind in ("branch", "jump", "system"):
                    template = self.templates.get(placed.instruction, placed.fields)
                    target = self._target(placed, template)
                    if target is not None:
                        stack.append(target)
                        if target <= pc:
                            self._heads.add(target)
                    if placed.instruction.kind == "jump" and placed.rd:
                        self._returns.add(following)
                    if placed.instruction.kind != "jump" or placed.rd:
                        stack.append(following)
                    break
                pc = following

    def _constant(self, placed: Placed, constants: dict[int, int]) -> int | None:
        """Value or target of an instruction whose operands are known; notes the value."""
        effects = placed.instruction.effects(self.instructions.xlen)
        known = all(not r or r in constants for r in placed.reads)
        root: Bits | None = effects.rd
        if effects.next_pc is not None and effects.next_pc.condition is None:
            root = effects.next_pc.target
        value = None
        if known and root is not None and not placed.instruction.reads_state:
            operands: dict[str, int] = {**placed.fields, "pc": placed.pc}
            for r in placed.instruction.sources:
                operands[r] = constants.get(placed.fields[r], 0)
            value = evaluate(root, operands)
        if placed.rd:
            constants.pop(placed.rd, None)
            if value is not None and root is effects.rd:
                constants[placed.rd] = value
        return value

    def _target(self, placed: Placed, template: LlvmTemplate) -> int | None:
        """Target of a static jump or branch."""
        if template.effects.next_pc is None:
            return None
        _, roots = template.fill("%", placed.pc, placed.fields, _NOTHING)
        target = roots[template.effects.rd is not None]
        return int(target) if target.isdigit() else None

    def _block(self, pc: int) -> int:
        """Index of the basic block that starts at `pc`."""
        if pc not in self._index:
            placed_at: list[Placed] = []
            at = pc
            while (placed := self._decode(at)) is not None:
                placed_at.append(placed)
                at = placed.next_pc
                if placed.instruction.kind in ("branch", "jump", "system") or at in self._leaders:
                    break
            self._index[pc] = len(self.blocks)
            self.blocks.append(Block(pc, False, tuple(placed_at), at))
        return self._index[pc]

    def _version(self, pc: int, state: Hashable) -> Version:
        key = (pc, state)
        if key not in self._known:
            version = Version(len(self.versions), self._block(pc), state)
            self._known[key] = version
            self.versions.append(version)
            self._pending.append(version)
            if len(self.versions) > MOST_VERSIONS * max(len(self._leaders), 16):
                raise OverflowError("timing states are too many to translate")
        return self._known[key]

    def _resume(self, pc: int, state: Hashable) -> int:
        if (pc, state) not in self.resumes:
            self.resumes.append((pc, state))
            self._version(pc, state)
        return self.resumes.index((pc, state))

    # --- text -----------------------------------------------------------------------------------

    def text(self, *entered: tuple[int, Hashable]) -> str:
        """The module; its function `run` takes registers, memory, counters and control words.

        It can be entered at the start and at the (pc, timing state) given, by their number.
        """
        self._resume(self.program.start, self.rules.start if self.rules else None)
        for pc, state in entered:
            self._resume(pc, state)
        dispatched: dict[Hashable, set[int]] = {}
        while self._pending or any(
            dispatched.get(s) != self._returns | self.entries for s in self.dispatches
        ):
            while self._pending:
                self._write(self._pending.pop())
            for state in list(self.dispatches):
                dispatched[state] = self._returns | self.entries
                for pc in sorted(dispatched[state]):
                    self._version(pc, state)
        self.counters = len(self.versions)
        for version in self.versions:
            if version.taken_counter is not None:
                version.taken_counter += len(self.versions)
                self.counters += 1
        definitions = [self.templates.definitions[name] for name in self.definitions]
        return "\n".join(
            [
                *definitions,
                '!0 = !{!"branch_weights", i32 1, i32 1000000}',
                "define i32 @run(ptr noalias %x, ptr noalias %mem, ptr noalias %counts, "
                "ptr noalias %control) nounwind {",
                self._entry(),
                *self._text,
                self._tail(),
                "}",
            ]
        )

    def _entry(self) -> str:
        lines = ["entry:"]
        for name in self.layout.names:
            kind = f"i{self.layout.widths[name]}"
            lines += [
                f" %{name} = alloca {kind}",
                f" %{name}_p = getelementptr i8, ptr %x, i64 {self.layout.places[name]}",
                f" %{name}_v = load {kind}, ptr %{name}_p, align 8",
                f" store {kind} %{name}_v, ptr %{name}",
            ]
        lines += [
            " %budget = alloca i64",
            " %budget_v = load i64, ptr %control",
            " store i64 %budget_v, ptr %budget",
            f" %jump = alloca i{self.instructions.xlen}",
            f" %takens = getelementptr i64, ptr %counts, i64 {len(self.versions)}",
            " %resume_p = getelementptr i64, ptr %control, i64 1",
            " %resume = load i64, ptr %resume_p",
        ]
        cases = " ".join(
            f"i64 {i}, label %b{self._known[key].index}" for i, key in enumerate(self.resumes)
        )
        lines.append(f" switch i64 %resume, label %b{self._known[self.resumes[0]].index} [{cases}]")
        return "\n".join(lines)

    def _tail(self) -> str:
        """Dispatch of computed jumps, traps and the exit."""
        xlen = self.instructions.xlen
        lines: list[str] = []
        jumps: list[str] = []
        for state, number in self.dispatches.items():
            targets = sorted(self._returns | self.entries)
            cases = " ".join(
                f"i{xlen} {pc}, label %b{self._known[pc, state].index}" for pc in targets
            )
            lines += [
                f"dispatch{number}:",
                f" %to{number} = load i{xlen}, ptr %jump",
                f" switch i{xlen} %to{number}, label %unknown{number} [{cases}]",
                f"unknown{number}:",
                " br label %unknown",
            ]
            jumps.append(f"[{number}, %unknown{number}]")
        if jumps:
            lines += [
                "unknown:",
                f" %state = phi i64 {', '.join(jumps)}",
                f" %target = load i{xlen}, ptr %jump",
                f" %target64 = {self.to_64('%target')}",
                " br label %leave",
            ]
        exits = [f"[{status}, %{label}]" for label, _, status, _ in self._exits]
        pcs = [f"[{pc}, %{label}]" for label, pc, _, _ in self._exits]
        numbers = [f"[{number}, %{label}]" for label, _, _, number in self._exits]
        if jumps:
            exits.append(f"[{JUMP}, %unknown]")
            pcs.append("[%target64, %unknown]")
            numbers.append("[%state, %unknown]")
        lines += [
            "leave:",
            f" %status = phi i32 {', '.join(exits)}",
            f" %pc = phi i64 {', '.join(pcs)}",
            f" %number = phi i64 {', '.join(numbers)}",
            " %number_p = getelementptr i64, ptr %control, i64 1",
            " store i64 %number, ptr %number_p",
            " %budget_e = load i64, ptr %budget",
            " store i64 %budget_e, ptr %control",
            " %pc_p = getelementptr i64, ptr %control, i64 2",
            " store i64 %pc, ptr %pc_p",
        ]
        for name in self.layout.names:
            kind = f"i{self.layout.widths[name]}"
            lines += [
                f" %{name}_e = load {kind}, ptr %{name}",
                f" store {kind} %{name}_e, ptr %{name}_p, align 8",
            ]
        lines.append(" ret i32 %status")
        return "\n".join(lines)

    def to_64(self, value: str) -> str:
        """A value of a register as 64 bits."""
        wide = self.instructions.xlen == 64
        return f"add i64 {value}, 0" if wide else f"zext i32 {value} to i64"

    def _write(self, version: Version) -> None:
        """Write the LLVM block of one version."""
        writer = _BlockWriter(self, version)
        self._text.append(writer.write())

    def after(self, version: Version) -> tuple[Hashable, Hashable]:
        """Timing states behind a block, left straight and by a jump; notes its cycles."""
        if self.rules is None:
            return None, None
        states = []
        for leaves in (False, True):
            total, state = 0, version.state
            placed_at = self.blocks[version.block].instructions
            for placed in placed_at:
                cycles, state = self.rules.step(state, placed, leaves and placed is placed_at[-1])
                total += cycles
            states.append(state)
            if leaves:
                version.taken_cycles = total
            else:
                version.cycles = total
        return states[0], states[1]


class _Nothing(dict[str, str]):
    """Operands of a template of which only static texts are wanted."""

    def __missing__(self, key: str) -> str:
        return "undef"


_NOTHING: Mapping[str, str] = _Nothing()


class _BlockWriter:
    """Writes one LLVM block, split where accesses are checked."""

    def __init__(self, owner: LlvmProgram, version: Version) -> None:
        self.owner = owner
        self.version = version
        self.xlen = owner.instructions.xlen
        self.lines: list[str] = []
        self.label = f"b{version.index}"
        self.values: dict[str, str] = {}
        self.written: dict[str, None] = {}
        self.pointers: dict[str, tuple[str, int]] = {}
        self.stretches: dict[int, Stretch] = {}
        self.rare: list[str] = []
        self.count = 0

    def write(self) -> str:
        """The text of the block."""
        self._body()
        return "\n".join([*self.lines, *self.rare])

    def _body(self) -> None:
        owner, version = self.owner, self.version
        block = owner.blocks[version.block]
        self.lines.append(f"{self.label}:")
        if not block.instructions:
            self._leave(FAULT, block.pc)
            return
        self._account(len(block.instructions), block.pc)
        straight, taken = owner.after(version)
        self.stretches = self._stretches(block.instructions)
        for placed in block.instructions:
            template = owner.templates.get(placed.instruction, placed.fields)
            owner.definitions.update(dict.fromkeys(template.definitions))
            operands = self._operands(placed, template)
            prefix = f"%v{version.index}_{self.count}_"
            self.count += 1
            lines, roots = template.fill(prefix, placed.pc, placed.fields, operands)
            effects = template.effects
            if effects.command is not None:
                raise ValueError(NO_DEVICES)
            if effects.load is not None or effects.store is not None:
                self._access(placed, template, lines, roots)
                continue
            if lines:
                self.lines.append(" " + lines)
            texts = iter(roots)
            result = next(texts) if effects.rd is not None else None
            if result is not None and placed.size < 4:
                result = template.fill(prefix, placed.body_pc, placed.fields, operands)[1][0]
            if effects.next_pc is not None:
                target = next(texts)
                condition = next(texts) if effects.next_pc.condition is not None else None
                self._set(placed, effects.state, result, list(texts))
                self._jump(placed, template, target, condition, block.next_pc, straight, taken)
                return
            self._set(placed, effects.state, result, list(texts))
            if effects.host is not None:
                self._store_back()
                self._leave(HOST, placed.pc, owner._resume(block.next_pc, straight))
                return
        self._store_back()
        self.lines.append(f" br label %b{owner._version(block.next_pc, straight).index}")

    def _name(self) -> str:
        self.count += 1
        return f"%n{self.version.index}_{self.count}"

    def _emit(self, text: str) -> str:
        name = self._name()
        self.lines.append(f" {name} = {text}")
        return name

    def _account(self, length: int, pc: int) -> None:
        """Count the block, and stop where the limit is passed."""
        old = self._emit("load i64, ptr %budget")
        new = self._emit(f"sub i64 {old}, {length}")
        owner = self.owner
        if pc in owner._heads or pc in owner._returns or pc in owner.entries:
            over = self._emit(f"icmp slt i64 {new}, 0")
            label, onward = f"{self.label}_limit", f"{self.label}_in"
            self.lines += [
                f" br i1 {over}, label %{label}, label %{onward}, {_RARE}",
                f"{label}:",
                f" store i64 {new}, ptr %budget",
            ]
            self._leave(LIMIT, pc)
            self.lines.append(f"{onward}:")
            self.label = onward
        self.lines.append(f" store i64 {new}, ptr %budget")
        self._increment("%counts", self.version.index)

    def _increment(self, counters: str, index: int) -> None:
        place = self._emit(f"getelementptr i64, ptr {counters}, i64 {index}")
        old = self._emit(f"load i64, ptr {place}")
        new = self._emit(f"add i64 {old}, 1")
        self.lines.append(f" store i64 {new}, ptr {place}")

    def _operands(self, placed: Placed, template: LlvmTemplate) -> dict[str, str]:
        operands = {}
        for name in sorted(template.leaves):
            if name in placed.instruction.sources:
                operands[name] = self._value(f"r{placed.fields[name]}")
            else:
                operands[name] = self._value(f"s_{name}")
        return operands

    def _value(self, name: str) -> str:
        """Current value of a register or state element."""
        if name not in self.values:
            width = self.owner.layout.widths[name]
            self.values[name] = self._emit(f"load i{width}, ptr %{name}")
        return self.values[name]

    def _set(
        self,
        placed: Placed,
        state: tuple[tuple[str, Bits], ...],
        result: str | None,
        values: list[str],
    ) -> None:
        if result is not None and placed.rd:
            self._write_name(f"r{placed.rd}", result)
        for (name, _), value in zip(state, values, strict=True):
            self._write_name(f"s_{name}", value)

    def _write_name(self, name: str, value: str) -> None:
        self.values[name] = value
        self.written[name] = None

    def _store_back(self) -> None:
        for name in self.written:
            width = self.owner.layout.widths[name]
            self.lines.append(f" store i{width} {self.values[name]}, ptr %{name}")

    def _leave(self, status: int, pc: int, number: int = 0) -> None:
        label = f"x{len(self.owner._exits)}"
        self.owner._exits.append((label, pc, status, number))
        self.lines += [f" br label %{label}", f"{label}:", " br label %leave"]

    def _jump(
        self,
        placed: Placed,
        template: LlvmTemplate,
        target: str,
        condition: str | None,
        following: int,
        straight: Hashable,
        taken: Hashable,
    ) -> None:
        owner, version = self.owner, self.version
        self._store_back()
        computed = target.startswith("%")
        if computed:
            number = owner.dispatches.setdefault(taken, len(owner.dispatches))
            self.lines.append(f" store i{self.xlen} {target}, ptr %jump")
            goal = f"dispatch{number}"
        else:
            goal = f"b{owner._version(int(target), taken).index}"
        if condition is None:
            version.cycles = version.taken_cycles
            self.lines.append(f" br label %{goal}")
            return
        onward = f"b{owner._version(following, straight).index}"
        if version.cycles == version.taken_cycles:
            self.lines.append(f" br i1 {condition}, label %{goal}, label %{onward}")
            return
        version.taken_counter = sum(v.taken_counter is not None for v in owner.versions)
        label = f"{self.label}_taken"
        self.lines += [f" br i1 {condition}, label %{label}, label %{onward}", f"{label}:"]
        self._increment("%takens", version.taken_counter)
        self.lines.append(f" br label %{goal}")

    def _stretches(self, instructions: tuple[Placed, ...]) -> dict[int, Stretch]:
        """Stretches of a block by the address of their first access."""
        found: dict[int, Stretch] = {}
        defined: dict[int, int] = {}  # where in the block a register was last written
        start = -1
        current: Stretch | None = None
        for i, placed in enumerate(instructions):
            template = self.owner.templates.get(placed.instruction, placed.fields)
            access = self._access_of(placed, template)
            if access is not None:
                is_open = current is not None and access.base is not None
                if not is_open or defined.get(access.base or 0, -1) >= start:
                    start = i
                    current = found[placed.pc] = Stretch([])
                assert current is not None
                current.accesses.append(access)
                if access.base is None:
                    current = None
            if placed.rd:
                defined[placed.rd] = i
        return found

    def _access_of(self, placed: Placed, template: LlvmTemplate) -> Access | None:
        load, store = template.effects.load, template.effects.store
        if load is not None:
            size = load.width // 8
        elif store is not None:
            size = store.value.width // 8
        else:
            return None
        if template.displacement is None:
            return Access(placed.pc, None, 0, size)
        half = 1 << self.xlen - 1
        distance = template.displacement(placed.pc, placed.fields)
        distance = (distance + half) % (2 * half) - half  # as signed
        return Access(placed.pc, placed.fields["rs1"], distance, size)

    def _access(
        self, placed: Placed, template: LlvmTemplate, lines: str, roots: tuple[str, ...]
    ) -> None:
        """A load or store of an address that has been checked or is checked now."""
        load, store = template.effects.load, template.effects.store
        access = self._access_of(placed, template)
        assert access is not None
        if lines and (store is not None or access.base is None):
            self.lines.append(" " + lines)
        if placed.pc in self.stretches:
            self._check(self.stretches[placed.pc], roots[0])
        base = roots[0] if access.base is None else self._value(f"r{access.base}")
        pointer, low = self.pointers[base]
        place = self._emit(f"getelementptr i8, ptr {pointer}, i64 {access.distance - low}")
        width = 8 * access.size
        if store is not None:
            self.lines.append(f" store i{width} {roots[1]}, ptr {place}, align 1")
            return
        assert load is not None
        value = self._emit(f"load i{width}, ptr {place}, align 1")
        if width < self.xlen:
            extension = "sext" if load.signed else "zext"
            value = self._emit(f"{extension} i{width} {value} to i{self.xlen}")
        if placed.rd:
            self._write_name(f"r{placed.rd}", value)

    def _check(self, stretch: Stretch, address: str) -> None:
        """Leave unless every access of a stretch is aligned and within memory."""
        owner = self.owner
        number = len(owner.stretches)
        owner.stretches.append(stretch)
        values = [address if b is None else self._value(f"r{b}") for b in stretch.bases]
        trap = f"t{number}"
        for base, value in zip(stretch.bases, values, strict=True):
            bad = self._bad(value, [a for a in stretch.accesses if a.base == base])
            onward = f"c{self.version.index}_{self.count}"
            self.lines += [f" br i1 {bad}, label %{trap}, label %{onward}, {_RARE}", f"{onward}:"]
            self.label = onward
        rare = [f"{trap}:", f" %{trap}n = getelementptr i64, ptr %control, i64 {NUMBER}"]
        rare.append(f" store i64 {number}, ptr %{trap}n")
        for i, value in enumerate(values):
            wide = f"%{trap}w{i}"
            rare += [
                f" {wide} = {owner.to_64(value)}",
                f" {wide}p = getelementptr i64, ptr %control, i64 {BASES + i}",
                f" store i64 {wide}, ptr {wide}p",
            ]
        self.rare += [*rare, f" ret i32 {ACCESS}"]

    def _bad(self, value: str, accesses: list[Access]) -> str:
        """A bit that tells whether one of the accesses from one base is bad; sets its pointer."""
        kind, memory = f"i{self.xlen}", self.owner.program.memory_bytes
        low = min(a.distance for a in accesses)
        span = max(a.distance + a.size for a in accesses) - low
        widest = max(accesses, key=lambda a: a.size)
        size = widest.size
        wrapped = (low - self.owner.program.data_base) % (1 << self.xlen)
        offset = self._emit(f"add {kind} {value}, {wrapped}")
        wide = offset if self.xlen == 64 else self._emit(f"zext i32 {offset} to i64")
        self.pointers[value] = self._emit(f"getelementptr i8, ptr %mem, i64 {wide}"), low
        if span > memory or any((a.distance - widest.distance) % a.size for a in accesses):
            return "true"  # not all of them can be good
        shift = size.bit_length() - 1
        if shift and (low - widest.distance) % size == 0:
            # Rotated, a remainder makes the offset larger than any memory.
            name = self.owner.templates.rotation(self.xlen)
            self.owner.definitions[name] = None
            call = f"call {kind} {name}({kind} {offset}, {kind} {offset}, {kind} {shift})"
            return self._emit(f"icmp ugt {kind} {self._emit(call)}, {(memory - span) // size}")
        bad = self._emit(f"icmp ugt {kind} {offset}, {memory - span}")
        if not shift:
            return bad
        shifted = self._emit(f"add {kind} {offset}, {(widest.distance - low) % size}")
        rest = self._emit(f"and {kind} {shifted}, {size - 1}")
        uneven = self._emit(f"icmp ne {kind} {rest}, 0")
        return self._emit(f"or i1 {bad}, {uneven}")

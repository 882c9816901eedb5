"""Translation: a program as Python functions, one a basic block, made once and run many times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from isa.instruction import Instruction
from isa.instruction_set import InstructionSet
from isa.ops import carryless
from isa.program import Program, fetch
from isa.template import Fields, Template, templates

FILENAME = "<translated>"
"""File name of translated code in tracebacks, from which a fault is traced to its pc."""
STOP = 0
"""Index of the pseudo-block to which host calls lead."""

BlockFunction = Callable[[list[int]], int]


@dataclass(frozen=True, slots=True)
class Placed:
    """An instruction at its place in a program.

    Attributes:
        pc: Its address.
        instruction: What it is.
        fields: Its operand fields.
        reads: Numbers of the registers it reads; x0 may be among them.
        rd: Number of the register it writes, 0 if none.
        size: Its bytes, 2 if it is compressed.
    """

    pc: int
    instruction: Instruction
    fields: Fields
    reads: tuple[int, ...]
    rd: int
    size: int = 4

    @property
    def next_pc(self) -> int:
        """Address after it."""
        return self.pc + self.size

    @property
    def straddles(self) -> bool:
        """Whether it stands in two aligned words."""
        return self.size == 4 and self.pc % 4 == 2

    @property
    def body_pc(self) -> int:
        """What its meaning takes for pc where it writes rd.

        A compressed instruction reads pc to link alone, and the link is the address after it,
        where the meaning has pc + 4.
        """
        return self.pc + self.size - 4


@dataclass(frozen=True)
class Block:
    """A stretch of code with one entry, left only at its end.

    Attributes:
        pc: Address of the first instruction.
        taken_entry: The block is entered only by a taken branch to the address after the branch,
            which costs more time than falling through to the same address.
        instructions: What it executes; empty if `pc` holds no instruction, which is a fault.
        next_pc: Address after the last instruction.
    """

    pc: int
    taken_entry: bool
    instructions: tuple[Placed, ...]
    next_pc: int


class Translation:
    """The blocks of a program, found from its entry and translated together.

    Targets of computed jumps are translated when they are first reached.

    Attributes:
        blocks: By index; index 0 is the pseudo-block of host calls.
        functions: The function of each block. It takes registers and state as one list, changes
            it, and returns the index of the next block.
        register_count: Length of that list.
    """

    def __init__(
        self, instructions: InstructionSet, program: Program, memory: dict[str, Any]
    ) -> None:
        """Translate what can be reached from the start.

        Args:
            instructions: Decodes the words.
            program: What to translate.
            memory: Memory views by name that the code indexes, and `stop` and `fault`, the
                functions that host calls and unusable addresses lead to.
        """
        self.program = program
        self.blocks = [Block(-1, False, (), -1)]
        self.functions: list[BlockFunction] = [memory["stop"]]
        self.state = {name: 32 + i for i, (name, _) in enumerate(instructions.state)}
        self.register_count = 32 + len(self.state)
        self._instructions = instructions
        self._templates = templates(instructions.xlen, program.data_base)
        self._entries = _Entries(self)
        self._taken_entries: dict[int, int] = {}
        self._decoded: dict[int, Placed | None] = {}
        self._leaders: set[int] = set()
        self._pending: list[int] = []
        self._lines: list[int] = [-1]
        self._scope: dict[str, Any] = {**memory, "P": self._entries, "carryless": carryless}
        self._find_leaders(program.start)
        self.entry(program.start)

    def entry(self, pc: int) -> int:
        """Index of the block that starts at `pc`, translated now if it is not yet known."""
        index = self._entries.get(pc)
        if index is None:
            index = self._index(pc)
            self._translate()
        return index

    def pc_of_line(self, line: int) -> int:
        """Address of the instruction on a line of translated code."""
        return self._lines[line]

    def write_register(self, x: list[int], rd: int, value: int) -> None:
        """Set a register between blocks, for a host call."""
        if rd:
            x[rd] = value

    def decode(self, pc: int) -> Placed | None:
        """The instruction at `pc`, None if there is none."""
        if pc not in self._decoded:
            word = fetch(self.program, self._instructions, pc)
            found = None if word is None else self._instructions.decode(word)
            if word is None or found is None:
                self._decoded[pc] = None
            else:
                self._decoded[pc] = self._placed(pc, *found, self._instructions.size(word))
        return self._decoded[pc]

    def _placed(self, pc: int, instruction: Instruction, fields: Fields, size: int) -> Placed:
        effects = instruction.effects(self._instructions.xlen)
        has_result = effects.command is not None and effects.command.has_result
        writes = effects.rd is not None or effects.load is not None or has_result
        reads = tuple([fields[r] for r in instruction.sources])
        return Placed(pc, instruction, fields, reads, fields["rd"] if writes else 0, size)

    def _find_leaders(self, start: int) -> None:
        """Note where static control flow from `start` begins a block."""
        stack = [start]
        while stack:
            pc = stack.pop()
            if pc in self._leaders:
                continue
            self._leaders.add(pc)
            while (placed := self.decode(pc)) is not None:
                kind = placed.instruction.kind
                pc += placed.size
                if kind in ("branch", "jump", "system"):
                    template = self._templates.get(placed.instruction, placed.fields)
                    if template.target is not None:
                        stack.append(template.target(placed.pc, placed.fields))
                    if kind == "branch" or placed.rd or template.host is not None:
                        stack.append(pc)
                    break

    def _index(self, pc: int, taken_entry: bool = False) -> int:
        """Index of a block, reserved if it is new."""
        known = self._taken_entries if taken_entry else self._entries
        index = known.get(pc)
        if index is None:
            index = known[pc] = len(self.blocks)
            self.blocks.append(Block(pc, taken_entry, (), pc))
            self.functions.append(self.functions[STOP])
            self._pending.append(index)
        return index

    def _translate(self) -> None:
        """Translate all reserved blocks, and those that they lead to, in one compilation."""
        indices: list[int] = []
        text: list[str] = []
        start = len(self._lines) - 1
        while self._pending:
            index = self._pending.pop()
            indices.append(index)
            self._write(index, text)
        # Lines count on over all compilations, so that one table finds the pc of any.
        code = compile("\n" * start + "\n".join(text), FILENAME, "exec")
        self._scope.update((name, t.entries) for t, name in self._templates.tables.items())
        exec(code, self._scope)  # our own text
        for index in indices:
            self.functions[index] = self._scope[f"b{index}"]

    def _write(self, index: int, text: list[str]) -> None:
        """Write the function of one block; the register list is `x`, locals are `r<n>`."""
        block = self.blocks[index]
        pc = block.pc
        lines: list[str] = []
        placed_lines: list[int] = []
        instructions: list[Placed] = []
        used: list[str] = []  # names to read on entry
        written: dict[str, None] = {}
        residues: dict[int, tuple[int, int]] = {}
        end = ""
        while not end:
            placed = self.decode(pc)
            if placed is None:
                end = f"return fault({pc})" if not instructions else f"return {self._index(pc)}"
                break
            instruction, fields = placed.instruction, placed.fields
            instructions.append(placed)
            used += [n for n in self._names_read(placed) if n not in written and n not in used]
            template = self._templates.get(instruction, fields)
            if template.displacement is not None:
                template = self._known_alignment(placed, template.displacement, residues)
            body = self._statement(placed, template)
            written.update(dict.fromkeys(self._names_written(placed)))
            residues.pop(placed.rd, None)
            if body:
                lines.append(body)
                placed_lines.append(pc)
            pc += placed.size
            if template.host is not None:
                end = f"return {STOP}"
            elif template.computed_target or template.target is not None:
                end = "return P[n]"
                if template.target is not None:
                    target = template.target(placed.pc, fields)
                    end = f"return {self._index(target, target == pc)}"
                if template.condition is not None:
                    end += f" if {template.condition(placed.pc, fields)} else {self._index(pc)}"
            elif pc in self._leaders:
                end = f"return {self._index(pc)}"
        entry = [f"{n}=x[{self._place(n)}]" for n in used]
        leave = [f"x[{self._place(n)}]={n}" for n in written]
        lines = [f"def b{index}(x):", ";".join(entry) or "pass", *lines, ";".join([*leave, end])]
        last = instructions[-1].pc if instructions else pc
        self._lines += [block.pc, block.pc, *placed_lines, last]
        text.append("\n ".join(lines))
        self.blocks[index] = Block(block.pc, block.taken_entry, tuple(instructions), pc)

    def _statement(self, placed: Placed, template: Template) -> str:
        """What an instruction executes, on one line."""
        return template.body(placed.body_pc, placed.fields)

    def _names_read(self, placed: Placed) -> list[str]:
        """Locals that the statement of an instruction may read, each once."""
        names = [f"r{n}" for n in dict.fromkeys(placed.reads) if n]
        return names + [f"s_{s}" for s in placed.instruction.reads_state]

    def _names_written(self, placed: Placed) -> list[str]:
        """Locals that the statement of an instruction may write."""
        names = [f"r{placed.rd}"] if placed.rd else []
        effects = placed.instruction.effects(self._instructions.xlen)
        return names + [f"s_{s}" for s, _ in effects.state]

    def _place(self, name: str) -> int:
        """Where a local lives between blocks."""
        return int(name[1:]) if name[0] == "r" else self.state[name[2:]]

    def _known_alignment(
        self,
        placed: Placed,
        displacement: Callable[[int, Fields], int],
        residues: dict[int, tuple[int, int]],
    ) -> Template:
        """The template of an access; checks are left out where an earlier one proves them.

        `residues` holds, for a register, a size and the remainder of the register modulo it.
        """
        instruction, fields = placed.instruction, placed.fields
        effects = instruction.effects(self._instructions.xlen)
        if effects.load is not None:
            size = effects.load.width // 8
        else:
            assert effects.store is not None
            size = effects.store.value.width // 8
        offset = displacement(placed.pc, fields)
        base = fields["rs1"]
        known = residues.get(base)
        aligned = known is not None and known[0] >= size and not (known[1] + offset) % size
        if not aligned and size > 1:
            residues[base] = (size, -offset % size)
        return self._templates.get(instruction, fields, aligned)


class _Entries(dict[int, int]):
    """Block index by pc; a computed jump to a new address translates it."""

    def __init__(self, translation: Translation) -> None:
        super().__init__()
        self._translation = translation

    def __missing__(self, pc: int) -> int:
        self._translation._find_leaders(pc)
        return self._translation.entry(pc)

"""A slow machine that evaluates meanings one node at a time; shares nothing with translation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from isa.bits import evaluate
from isa.instruction_set import InstructionSet
from isa.machine import DATA_END
from isa.program import DATA_BASE, DATA_SIZE, Program, fetch


@dataclass
class Reference:
    """Registers, state and memory of a run, and how often each address was executed."""

    instructions: InstructionSet
    program: Program
    registers: list[int] = field(default_factory=lambda: [0] * 32)
    state: dict[str, int] = field(default_factory=dict)
    executed: int = 0

    def run(self, args: Sequence[int]) -> Reference:
        xlen = self.instructions.xlen
        mask = (1 << xlen) - 1
        self.memory = bytearray(self.program.data.ljust(DATA_SIZE, b"\0"))
        self.registers[2] = DATA_END
        self.registers[10 : 10 + len(args)] = [a & mask for a in args]
        self.state = dict.fromkeys(dict(self.instructions.state), 0)
        pc = 0
        while True:
            word = fetch(self.program, self.instructions, pc)
            assert word is not None
            decoded = self.instructions.decode(word)
            assert decoded is not None
            size = self.instructions.size(word)
            instruction, values = decoded
            self.executed += 1
            effects = instruction.effects(xlen)
            if effects.host:
                return self
            operands = {**values, **self.state, "pc": pc}
            operands.update((r, self.registers[values[r]]) for r in instruction.sources)
            result = None if effects.rd is None else evaluate(effects.rd, operands)
            if effects.load:
                at = evaluate(effects.load.address, operands) - DATA_BASE
                data = self.memory[at : at + effects.load.width // 8]
                result = int.from_bytes(data, "little", signed=effects.load.signed) & mask
            if effects.store:
                at = evaluate(effects.store.address, operands) - DATA_BASE
                length = effects.store.value.width // 8
                value = evaluate(effects.store.value, operands)
                self.memory[at : at + length] = value.to_bytes(length, "little")
            following = pc + size
            if effects.next_pc and result is not None:
                assert result == pc + 4  # the meaning's link
                result = following
            if effects.next_pc:
                condition = effects.next_pc.condition
                if condition is None or evaluate(condition, operands):
                    following = evaluate(effects.next_pc.target, operands)
            self.state |= {name: evaluate(value, operands) for name, value in effects.state}
            if result is not None and values["rd"]:
                self.registers[values["rd"]] = result
            pc = following

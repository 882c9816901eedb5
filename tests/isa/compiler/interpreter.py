"""A second, slow way to run programs: decode each word, evaluate its effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isa.bits import evaluate
from isa.instruction_set import InstructionSet
from isa.program import DATA_BASE, Program

STACK_TOP = 0x30000


class Interpreter:
    """Runs a compiled kernel on plain dictionaries of bytes and registers."""

    def __init__(self, program: Program, instructions: InstructionSet) -> None:
        self.instructions = instructions
        self.program = program
        self.memory = {DATA_BASE + i: b for i, b in enumerate(program.data)}
        self.registers = [0x5EED0000 + i for i in range(32)]
        self.registers[0] = 0
        self.registers[2] = STACK_TOP
        self.state = dict.fromkeys(dict(instructions.state), 0)
        self.count = 0
        self.mnemonics: list[str] = []

    def write(self, address: int, data: bytes) -> None:
        self.memory.update({address + i: b for i, b in enumerate(data)})

    def read(self, address: int, size: int) -> bytes:
        return bytes(self.memory[address + i] for i in range(size))

    def run(self, arguments: Sequence[int], limit: int = 100_000) -> int:
        """Call the kernel; returns instructions from its entry to its return inclusive."""
        before = list(self.registers)
        for i, value in enumerate(arguments):
            self.registers[10 + i] = value
        pc = 0
        while True:
            instruction, values = self._decoded(pc)
            effects = instruction.effects(self.instructions.xlen)
            if effects.host == "ebreak":
                break
            self.mnemonics.append(instruction.name)
            pc = self._step(pc, effects, values)
            assert len(self.mnemonics) < limit
        for r in (2, 3, 4, 8, 9, *range(18, 28)):
            assert self.registers[r] == before[r], f"x{r} must be preserved"
        return len(self.mnemonics) - 1

    def _decoded(self, pc: int):
        decoded = self.instructions.decode(self.program.words[pc // 4])
        assert decoded is not None, hex(pc)
        return decoded

    def _step(self, pc: int, effects, values: Mapping[str, int]) -> int:
        mask = (1 << self.instructions.xlen) - 1
        environment = {"pc": pc, **self.state}
        for name, value in values.items():
            environment[name] = self.registers[value] if name in ("rs1", "rs2", "rs3") else value
        following = pc + 4
        if effects.next_pc:
            taken = effects.next_pc.condition is None or evaluate(
                effects.next_pc.condition, environment
            )
            if taken:
                following = evaluate(effects.next_pc.target, environment)
        result = None
        if effects.load:
            address = evaluate(effects.load.address, environment)
            size = effects.load.width // 8
            assert address % size == 0
            result = int.from_bytes(self.read(address, size), "little")
            if effects.load.signed and result >> 8 * size - 1:
                result -= 1 << 8 * size
        elif effects.rd is not None:
            result = evaluate(effects.rd, environment)
        if effects.store:
            address = evaluate(effects.store.address, environment)
            value = evaluate(effects.store.value, environment)
            size = effects.store.value.width // 8
            assert address % size == 0
            self.write(address, value.to_bytes(size, "little"))
        self.state.update({n: evaluate(v, environment) for n, v in effects.state})
        if result is not None and values.get("rd"):
            self.registers[values["rd"]] = result & mask
        return following

"""Profile: where a run spent its instructions, by function, mnemonic and block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from isa.disassembler import disassemble_word
from isa.instruction_set import InstructionSet
from isa.liveness import live_registers
from isa.outcome import Outcome
from isa.program import Program, fetch
from isa.translate import Placed


@dataclass(frozen=True)
class Line:
    """One instruction of the hottest block.

    Attributes:
        pc: Its address.
        executions: How often it was executed.
        text: Disassembly.
        comment: What its compiler said of it.
    """

    pc: int
    executions: int
    text: str
    comment: str


@dataclass(frozen=True)
class Profile:
    """Executed instructions, counted in three ways.

    Attributes:
        functions: By the last symbol at or before the address, most first.
        mnemonics: By mnemonic, most first.
        hottest: The block with the most executed instructions.
        traffic: Loads, stores, and bytes loaded and stored.
        registers: Integer registers that executed instructions name.
        pressure: Most of them live at once in each executed block, by its address; the block with
            the most executed instructions first. See `isa.liveness`.
    """

    functions: Mapping[str, int]
    mnemonics: Mapping[str, int]
    hottest: tuple[Line, ...]
    traffic: Mapping[str, int]
    registers: int
    pressure: Mapping[int, int]

    def to_json(self) -> dict[str, Any]:
        """Plain data for scripts."""
        return {
            "functions": dict(self.functions),
            "instructions": dict(self.mnemonics),
            "memory": dict(self.traffic),
            "registers": self.registers,
            "pressure": [{"pc": pc, "live": live} for pc, live in self.pressure.items()],
            "hottest": [
                {"pc": line.pc, "executions": line.executions, "text": line.text}
                for line in self.hottest
            ],
        }


def profile(outcome: Outcome, program: Program, instructions: InstructionSet) -> Profile:
    """Count what a run executed."""
    places = sorted((address, name) for name, address in program.symbols.items())
    functions: Counter[str] = Counter()
    at, name = 0, f"{program.text_base:#x}"
    for pc, times in outcome.executions.items():  # by address
        while at < len(places) and places[at][0] <= pc:
            name = places[at][1]
            at += 1
        functions[name] += times
    work: Counter[int] = Counter()
    for index, times in outcome.times.items():
        work[outcome.blocks[index].pc] += times * len(outcome.blocks[index].instructions)
    live = live_registers(outcome, instructions.xlen)
    hot = max(work, key=lambda pc: (work[pc], -pc))
    block = next(b for b in outcome.blocks if b.pc == hot and b.instructions)
    lines = []
    for placed in block.instructions:
        word = fetch(program, instructions, placed.pc)
        assert word is not None
        lines.append(
            Line(
                placed.pc,
                outcome.executions[placed.pc],
                disassemble_word(word, instructions),
                program.comments.get(placed.pc, ""),
            )
        )
    return Profile(
        _sorted(functions),
        _sorted(Counter(outcome.counts)),
        tuple(lines),
        _traffic(outcome, instructions.xlen),
        len({r for p in _executed(outcome) for r in (*p.reads, p.rd) if r}),
        {pc: live[pc] for pc in sorted(work, key=lambda pc: (-work[pc], pc)) if pc in live},
    )


def _executed(outcome: Outcome) -> Iterator[Placed]:
    """Every instruction that was executed; those of overlapping blocks may come twice."""
    for index, times in outcome.times.items():
        if times:
            yield from outcome.blocks[index].instructions


def _traffic(outcome: Outcome, xlen: int) -> dict[str, int]:
    found = dict.fromkeys(("loads", "stores", "bytes_loaded", "bytes_stored"), 0)
    for index, times in outcome.times.items():
        for placed in outcome.blocks[index].instructions:
            effects = placed.instruction.effects(xlen)
            if effects.load is not None:
                found["loads"] += times
                found["bytes_loaded"] += times * effects.load.width // 8
            if effects.store is not None:
                found["stores"] += times
                found["bytes_stored"] += times * effects.store.value.width // 8
    return found


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

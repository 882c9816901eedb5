"""The icicle preset against 46 micro-benchmarks of the published RTL.

Cycles of one repetition of a body, four repetitions in a row, in steady state; measured with
Verilator on github.com/UzunerH/MasterThesisCode at 2cc3fdf. F and G are `addi` to x6 and x8 that
depend on nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import pytest

from isa.assembler import assemble
from isa.core import Core
from isa.instruction_set import InstructionSet
from isa.machine import Machine
from isa.program import Program
from isa.timing import automaton, retirements

F = "addi x6, x7, 1"
G = "addi x8, x7, 1"
NOP = "nop"
LW = "lw x5, 0(x9)"
SW = "sw x7, 0(x9)"
TAKEN = "beq x7, x7, +4"
BODIES: dict[str, tuple[list[str], list[int]]] = {
    "F": ([F], [4, 4, 4, 4]),
    "nop": ([NOP], [2, 2, 2, 2]),
    "F;nop": ([F, NOP], [6, 6, 6, 6]),
    "nop;F": ([NOP, F], [6, 6, 6, 6]),
    "F;F;nop": ([F, F, NOP], [10, 10, 10, 10]),
    "distance 1": (["addi x5, x5, 1"], [4, 4, 4, 4]),
    "distance 2": (["addi x5, x5, 1", F], [8, 8, 8, 8]),
    "distance 3": (["addi x5, x5, 1", F, G], [12, 12, 12, 12]),
    "distance 4": (["addi x5, x5, 1", F, G, F], [16, 16, 16, 16]),
    "addi;add": (["addi x5, x7, 1", "add x6, x5, x5", F, F], [16, 16, 16, 16]),
    "lw": ([LW], [6, 6, 6, 6]),
    "lw;F": ([LW, F], [10, 10, 10, 10]),
    "lw;F;F": ([LW, F, F], [14, 14, 14, 14]),
    "lw;F;F;F": ([LW, F, F, F], [18, 18, 18, 18]),
    "lw;add;F;F": ([LW, "add x6, x5, x7", F, F], [18, 18, 18, 18]),
    "lw;G;add;G": ([LW, G, "add x6, x5, x7", G], [18, 18, 18, 18]),
    "lw;G;G;add": ([LW, G, G, "add x6, x5, x7"], [18, 18, 18, 18]),
    "lw;sw x5": ([LW, "sw x5, 0(x9)"], [10, 10, 10, 10]),
    "sw": ([SW], [4, 6, 4, 6]),
    "sw;F": ([SW, F], [6, 6, 6, 6]),
    "sw;F;F": ([SW, F, F], [10, 10, 10, 10]),
    "sw;sw;F": ([SW, SW, F], [14, 14, 14, 14]),
    "sw;sw;sw;F": ([SW, SW, SW, F], [16, 16, 16, 16]),
    "lw;lw;F": ([LW, LW, F], [16, 16, 16, 16]),
    "lw;sw;F": ([LW, SW, F], [12, 12, 12, 12]),
    "sw;lw;F": ([SW, LW, F], [14, 14, 14, 14]),
    "bne not taken": (["bne x7, x7, +4"], [2, 2, 2, 2]),
    "bne not taken;F": (["bne x7, x7, +4", F], [6, 6, 6, 6]),
    "beq taken": ([TAKEN], [6, 6, 6, 6]),
    "beq taken;F": ([TAKEN, F], [10, 10, 10, 10]),
    "beq taken over F;F": (["beq x7, x7, +8", F, F], [10, 10, 10, 10]),
    "jal x0": (["jal x0, +4"], [6, 6, 6, 6]),
    "jal x1": (["jal x1, +4"], [6, 6, 6, 6]),
    "jal x0 over F;F": (["jal x0, +8", F, F], [10, 10, 10, 10]),
    "addi;bne not taken": (["addi x5, x7, 1", "bne x5, x5, +4"], [6, 6, 6, 6]),
    "addi;beq taken": (["addi x5, x7, 1", "beq x5, x5, +4"], [10, 10, 10, 10]),
    "lw;beq taken on x5": ([LW, "beq x5, x5, +4"], [12, 12, 12, 12]),
    "sw;beq taken": ([SW, TAKEN], [8, 8, 8, 8]),
    "lw;beq taken": ([LW, TAKEN], [12, 12, 12, 12]),
    "nldnl": (["nldnl 4, 0x1234"], [2, 2, 2, 2]),
    "nnlaese": (["nnlaese x5, x7"], [4, 4, 4, 4]),
    "nnlaese x5, x5": (["nnlaese x5, x5"], [4, 4, 4, 4]),
    "nmu": (["nmu x5, x7"], [4, 4, 4, 4]),
    "F;nldnl": ([F, "nldnl 4, 0x1234"], [6, 6, 6, 6]),
    "lui": (["lui x5, 1"], [4, 4, 4, 4]),
    "slli": (["slli x5, x7, 3"], [4, 4, 4, 4]),
}
INSTRUCTIONS = InstructionSet.of(32, "rv32i", "nluv")


def test_all_46_are_here() -> None:
    assert len(BODIES) == 46


def repeated(body: list[str]) -> Program:
    """Ten repetitions of a body, each at a label: start0, start1, ..."""
    lines = ["lui x9, 0x10"]
    for repetition in range(10):
        lines.append(f"start{repetition}:")
        for position, line in enumerate(body):
            *front, last = line.split(" ")
            if last.startswith("+"):  # a forward target, as a label
                steps = position + int(last) // 4
                whole, rest = divmod(steps, len(body))
                assert rest == 0 or steps < len(body)
                label = f"start{repetition + whole}" if rest == 0 else f"in{repetition}_{rest}"
                line = " ".join([*front, label])
            lines += [f"in{repetition}_{position}:", line]
    return assemble("\n".join([*lines, "start10:", "ebreak"]), INSTRUCTIONS)


def steady(program: Program, retired: Iterable[tuple[int, int]]) -> list[int]:
    """Cycles of four repetitions, from (cycle, pc) of every retirement."""
    starts = {program.symbols[f"start{i}"] for i in range(1, 11)}
    ends, last = [], 0  # retirement of the last instruction of each repetition
    for now, pc in retired:
        if pc in starts:
            ends.append(last)
        last = now
    return [b - a for a, b in pairwise(ends)][4:8]


@pytest.mark.parametrize("name", BODIES)
def test_micro_benchmark(name: str) -> None:
    body, measured = BODIES[name]
    program = repeated(body)
    run = Machine(INSTRUCTIONS, program).run()
    timed = retirements(run.blocks, run.trace, automaton(Core("icicle")))
    assert steady(program, ((now, placed.pc) for now, placed in timed)) == measured

"""Front hardware: the instructions on the front of a run, for compilers and hardware tools."""

from __future__ import annotations

from collections.abc import Iterator

from dse.front import Front
from dse.measure.target import Target, target_of
from dse.propose.exports import EXPORTS
from dse.run import Run
from dse.vocabulary import REGISTRIES
from hw.composition import circuit_map
from hw.extension import build_extension
from hw.verilog import verilog
from isa.instruction import Instruction

STEM = "instructions"


def front_files(run: Run, front: Front, name: str) -> Iterator[tuple[str, str]]:
    """Name and text of the files of one format.

    "verilog" is the extension block of each design of the front, decoder and result multiplexer
    included, numbered like the rows of the front; every other format describes all instructions
    that some design of the front uses, once for each register width.
    """
    space = run.space(REGISTRIES)
    targets = [target_of(space, row.evaluation.canonical) for row in front.rows]
    if name == "verilog":
        for number, target in enumerate(targets, start=1):
            extras = target.instructions.extras()
            if extras:
                yield f"extension_{number}.v", _block(target, extras, number)
        return
    for xlen in sorted({target.core.xlen for target in targets}):
        found: dict[str, Instruction] = {}
        for target in targets:
            if target.core.xlen == xlen:
                found.update((i.name, i) for i in target.instructions.extras())
        if found:
            yield from EXPORTS[name]([found[i] for i in sorted(found)], xlen, f"{STEM}{xlen}")


def _block(target: Target, extras: tuple[Instruction, ...], number: int) -> str:
    block = build_extension(extras, target.core.xlen, circuit_map(target.circuits))
    names = ", ".join(i.name for i in extras)
    return f"// {names}\n" + verilog(block, f"extension_{number}").text

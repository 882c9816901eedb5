"""Exports: instructions as riscv-opcodes lines, C, CoreDSL, PyRTL and Verilog."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dse.propose.score import circuits_of
from hw import units
from hw.unit import build_unit, pyrtl_source
from hw.verilog import verilog
from isa.c_header import c_header
from isa.coredsl import coredsl
from isa.encoding import IMMEDIATES
from isa.function import function_of
from isa.instruction import Instruction

Files = Iterator[tuple[str, str]]
"""Name and text of each file."""


def _opcodes(instructions: Sequence[Instruction], xlen: int, stem: str) -> Files:
    lines = []
    for i in instructions:
        for immediate in i.encoding.immediates:
            if immediate.name not in IMMEDIATES or IMMEDIATES[immediate.name] != immediate:
                places = (f"{low + n - 1}..{low}" for low, _, n in immediate.pieces)
                lines.append(f"# {immediate.name} of {i.name}: bits {', '.join(places)}")
        lines.append(i.line)
    yield f"{stem}.opcodes", "\n".join(lines) + "\n"


def _c(instructions: Sequence[Instruction], xlen: int, stem: str) -> Files:
    yield f"{stem}.h", c_header(instructions, xlen, f"DSE_{stem.upper()}_H")


def _coredsl(instructions: Sequence[Instruction], xlen: int, stem: str) -> Files:
    yield f"{stem}.core_desc", coredsl(instructions, xlen, f"X{stem}")


def _pyrtl(instructions: Sequence[Instruction], xlen: int, stem: str) -> Files:
    for i in instructions:
        if function_of(i, xlen) is not None:
            yield f"{i.name}_pyrtl.py", pyrtl_source(i, xlen)


def _verilog(instructions: Sequence[Instruction], xlen: int, stem: str) -> Files:
    for i in instructions:
        if function_of(i, xlen) is not None:
            circuits = units.chosen_circuits(dict(circuits_of([i], xlen)))
            name = i.name.replace(".", "_")
            yield f"{name}.v", verilog(build_unit(i, xlen, circuits), f"unit_{name}").text


EXPORTS: dict[str, Callable[[Sequence[Instruction], int, str], Files]] = {
    "opcodes": _opcodes,
    "c": _c,
    "coredsl": _coredsl,
    "pyrtl": _pyrtl,
    "verilog": _verilog,
}
"""By the name of the format: instructions, register width and stem of file names to files.

PyRTL and Verilog describe the datapath of each instruction alone, combinational; an instruction
that does more than compute `rd` from registers and immediates has none.
"""

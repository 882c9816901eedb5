"""Single instructions as functions of plain integers, for tests."""

from __future__ import annotations

from collections.abc import Callable

from isa.bits import arg
from isa.instruction_set import InstructionSet
from isa.python_source import compile_function


class Execute:
    """`execute("aes64es", rs1, rs2)`: value of rd; operands in the order of the parameters."""

    def __init__(self, xlen: int, *extensions: str) -> None:
        """Take the instructions of some extensions at one register width."""
        self.xlen = xlen
        self.by_name = InstructionSet.of(xlen, *extensions).by_name
        self._functions: dict[str, Callable[..., tuple[int]]] = {}

    def __call__(self, name: str, *operands: int) -> int:
        if name not in self._functions:
            instruction = self.by_name[name]
            widths = dict.fromkeys(("rs1", "rs2", "rs3"), self.xlen)
            widths |= {i.name: i.width for i in instruction.encoding.immediates}
            root = instruction.effects(self.xlen).rd
            assert root is not None
            parameters = [arg(p, widths[p]) for p in instruction.parameters]
            self._functions[name] = compile_function([root], parameters)
        (value,) = self._functions[name](*operands)
        return value

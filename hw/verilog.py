"""Verilog: a PyRTL block as text, the same text for the same block in any process.

PyRTL 1.0.3's own exporter inlines expressions, and Verilog sizes an inlined expression by what
surrounds it: `~a + b` of 4-bit wires becomes `assign tmp1 = (~(a) + b)` with a 5-bit `tmp1`, which
complements five bits and gives a wrong carry. Here every operation drives a wire of its own width;
only slices and constants stand inside an expression. The exporter's other traps are fenced too:
names that are keywords or no identifiers, temporary names that depend on what else the process has
built, a user's wire called `rst`, and registers without an initial value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyrtl

from hw.identifiers import Identifiers, is_identifier, is_temporary, naming_order
from hw.rom import contents

__all__ = ["Verilog", "verilog"]


@dataclass(frozen=True)
class Verilog:
    """One module.

    Attributes:
        text: The source, Verilog 2001.
        module: Its name.
        names: Verilog name of each input, output, register and memory by its PyRTL name, and of
            each port of an open memory by its name in `hw.bitblast`.
        inputs: (Verilog name, width in bits) of each input but `clk` and `rst`.
        outputs: (Verilog name, width in bits) of each output.
    """

    text: str
    module: str
    names: Mapping[str, str]
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[tuple[str, int], ...]


def verilog(
    block: pyrtl.Block,
    module: str = "toplevel",
    *,
    initial: bool = True,
    reset: bool = False,
    open_memories: bool = False,
) -> Verilog:
    """Return `block`, as built and neither synthesised nor optimised, as a Verilog module.

    The clock is the input `clk`, rising edge. Memories are read in the same cycle and written at
    the clock edge, as PyRTL does.

    Args:
        block: What to export.
        module: Name of the module.
        initial: Registers start at their reset value, 0 where there is none, and memories at 0, as
            in a PyRTL simulation. Programmable logic keeps that; an ASIC flow needs `reset`.
        reset: Add the input `rst`, a synchronous reset of all registers.
        open_memories: Leave memories (not tables) outside: read port 0 of memory m is the output
            m_read0_address and the input m_read0_data, write port 0 the outputs m_write0_address,
            m_write0_data and m_write0_enable. Numbered as the ports of `hw.bitblast`.

    Raises:
        ValueError: when `module` is not an identifier or a wire is not driven.
    """
    if not is_identifier(module):
        raise ValueError(f"module must be a Verilog identifier, not {module!r}")
    return _Writer(block, module, initial=initial, reset=reset, outside=open_memories).write()


def _declared(kind: str, width: int, name: str) -> str:
    return f"{kind} [{width - 1}:0] {name}" if width > 1 else f"{kind} {name}"


class _Writer:
    """One export: the names given out and the lines written so far."""

    def __init__(
        self, block: pyrtl.Block, module: str, *, initial: bool, reset: bool, outside: bool
    ) -> None:
        self.module, self.initial, self.reset = module, initial, reset
        wires = {wire for net in block.logic for wire in (*net.args, *net.dests)}
        wires |= block.wirevector_subset(pyrtl.Input)
        self.wires = sorted(wires, key=naming_order)
        self.driver = {net.dests[0]: net for net in block.logic if net.dests}
        stores = sorted({net.op_param[1] for net in block.logic_subset("m@")}, key=naming_order)
        self.outside = [m for m in stores if outside and not isinstance(m, pyrtl.RomBlock)]
        self.inside = [m for m in stores if m not in self.outside]
        self.identifiers = Identifiers(("clk", "rst", module))
        self.name: dict[Any, str] = {}
        self.names: dict[str, str] = {}
        self.inputs: list[tuple[str, int]] = []
        self.outputs: list[tuple[str, int]] = []
        self.lines: list[str] = []
        self.clocked: list[str] = []

    def write(self) -> Verilog:
        """Return the module."""
        named = [w for w in self.wires if isinstance(w, pyrtl.Input | pyrtl.Output)]
        registers = [w for w in self.wires if isinstance(w, pyrtl.Register)]
        kept = [*named, *registers, *self.inside]
        for thing in kept:
            self.name[thing] = self._fresh(thing.name)
        for wire in named:
            ports = self.inputs if isinstance(wire, pyrtl.Input) else self.outputs
            ports.append((self.name[wire], len(wire)))
        answered = {wire: name for m in self.outside for wire, name in self._read_ports(m)}
        self.name |= answered
        inner = [w for w in self.wires if w not in self.name and not self._stands_inside(w)]
        for wire in inner:
            self.name[wire] = self._fresh(wire.name)
        self.lines += [_declared("wire", len(w), self.name[w]) + ";" for w in inner]
        for memory in self.inside:
            self._store(memory)
        for register in registers:
            self._register(register)
        for wire in (*inner, *(w for w in named if isinstance(w, pyrtl.Output))):
            self.lines.append(f"assign {self.name[wire]} = {self._expression(wire)};")
        for memory in self.outside:
            self._open_ports(memory)
        self.names |= {thing.name: self.name[thing] for thing in kept}
        return Verilog(
            self._text(),
            self.module,
            self.names,
            tuple(self.inputs),
            tuple(self.outputs),
        )

    def _fresh(self, name: str) -> str:
        return self.identifiers.fresh("n" if is_temporary(name) else name)

    def _text(self) -> str:
        ports = ["input clk", *(["input rst"] if self.reset else [])]
        ports += [_declared("input", width, name) for name, width in self.inputs]
        ports += [_declared("output", width, name) for name, width in self.outputs]
        body = list(self.lines)
        if self.clocked:
            body += ["always @(posedge clk) begin", *(f"  {c}" for c in self.clocked), "end"]
        lines = [f"module {self.module}(", ",\n".join(f"  {port}" for port in ports), ");"]
        return "\n".join([*lines, *(f"  {line}" for line in body), "endmodule", ""])

    def _stands_inside(self, wire: Any) -> bool:
        """Whether `wire` is a constant, a slice or a second name, written where it is read."""
        if isinstance(wire, pyrtl.Const):
            return True
        net = self.driver.get(wire)
        if net is None:
            raise ValueError(f"wire {wire.name} must be driven, not left open")
        return net.op == "s" or (net.op == "w" and is_temporary(wire.name))

    def _bits(self, wire: Any) -> tuple[Any, list[int]]:
        """Return the wire or constant that has a name or value, and which of its bits `wire` is."""
        selection = list(range(len(wire)))
        while wire not in self.name and not isinstance(wire, pyrtl.Const):
            net = self.driver[wire]
            if net.op == "s":
                selection = [net.op_param[i] for i in selection]
            wire = net.args[0]
        return wire, selection

    def _read(self, wire: Any) -> str:
        return self._selected(*self._bits(wire))

    def _selected(self, base: Any, selection: Sequence[int]) -> str:
        if isinstance(base, pyrtl.Const):
            value = sum((base.val >> bit & 1) << i for i, bit in enumerate(selection))
            return f"{len(selection)}'h{value:x}"
        name = self.name[base]
        if list(selection) == list(range(len(base))):
            return name
        parts = [_part(name, len(base), low, high, times) for low, high, times in _runs(selection)]
        return parts[0] if len(parts) == 1 else "{" + ", ".join(reversed(parts)) + "}"

    def _expression(self, wire: Any) -> str:
        net = self.driver.get(wire)
        if net is None:
            raise ValueError(f"wire {wire.name} must be driven, not left open")
        if net.op == "s":
            base, selection = self._bits(net.args[0])
            return self._selected(base, [selection[i] for i in net.op_param])
        if net.op == "m":
            return f"{self.name[net.op_param[1]]}[{self._read(net.args[0])}]"
        return _OPERATORS[net.op](*(self._read(arg) for arg in net.args))

    def _register(self, register: Any) -> None:
        name, width = self.name[register], len(register)
        value = f"{width}'h{register.reset_value or 0:x}"
        start = f" = {value}" if self.initial else ""
        self.lines.append(_declared("reg", width, name) + f"{start};")
        following = self._read(self.driver[register].args[0])
        if self.reset:
            following = f"rst ? {value} : {following}"
        self.clocked.append(f"{name} <= {following};")

    def _store(self, memory: Any) -> None:
        name, words = self.name[memory], 1 << memory.addrwidth
        self.lines.append(_declared("reg", memory.bitwidth, name) + f" [0:{words - 1}];")
        if isinstance(memory, pyrtl.RomBlock):
            values = contents(memory)
            self.lines.append("initial begin")
            for i, value in enumerate(values):
                self.lines.append(f"  {name}[{i}] = {memory.bitwidth}'h{value:x};")
            self.lines.append("end")
            return
        if self.initial:
            count = self.identifiers.fresh(f"{name}_i")
            self.lines.append(f"integer {count};")
            loop = f"for ({count} = 0; {count} < {words}; {count} = {count} + 1)"
            self.lines.append(f"initial {loop} {name}[{count}] = {memory.bitwidth}'h0;")
        for net in memory.writeport_nets:
            address, data, enable = (self._read(arg) for arg in net.args)
            self.clocked.append(f"if ({enable}) {name}[{address}] <= {data};")

    def _read_ports(self, memory: Any) -> Iterator[tuple[Any, str]]:
        for i, net in enumerate(memory.readport_nets):
            name = self._port(memory, f"read{i}", "data")
            self.inputs.append((name, memory.bitwidth))
            yield net.dests[0], name

    def _open_ports(self, memory: Any) -> None:
        for i, net in enumerate(memory.readport_nets):
            self._open_output(self._port(memory, f"read{i}", "address"), net.args[0])
        for i, net in enumerate(memory.writeport_nets):
            for part, wire in zip(("address", "data", "enable"), net.args, strict=True):
                self._open_output(self._port(memory, f"write{i}", part), wire)

    def _port(self, memory: Any, port: str, part: str) -> str:
        rank = self.outside.index(memory)
        stem = f"_{rank}" if is_temporary(memory.name) else str(memory.name)
        name = self.identifiers.fresh(f"{stem}_{port}_{part}")
        self.names[f"{stem}.{port}.{part}"] = name
        return name

    def _open_output(self, name: str, wire: Any) -> None:
        self.outputs.append((name, len(wire)))
        self.lines.append(f"assign {name} = {self._read(wire)};")


def _runs(selection: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield (lowest bit, highest bit, repetitions) of the parts that make `selection`, in order."""
    start = 0
    while start < len(selection):
        end = start + 1
        while end < len(selection) and selection[end] == selection[end - 1] + 1:
            end += 1
        times = 1
        if end == start + 1:
            while end < len(selection) and selection[end] == selection[start]:
                end += 1
            times = end - start
            # The last of equal bits may begin a longer run of rising ones.
            if times > 1 and end < len(selection) and selection[end] == selection[start] + 1:
                end, times = end - 1, times - 1
        yield selection[start], selection[end - 1], times
        start = end


def _part(name: str, width: int, low: int, high: int, times: int) -> str:
    index = f"[{low}]" if low == high else f"[{high}:{low}]"
    picked = name if width == 1 else name + index
    return picked if times == 1 else f"{{{times}{{{picked}}}}}"


_OPERATORS: dict[str, Callable[..., str]] = {
    "w": lambda a: a,
    "~": lambda a: f"~{a}",
    "&": lambda a, b: f"{a} & {b}",
    "|": lambda a, b: f"{a} | {b}",
    "^": lambda a, b: f"{a} ^ {b}",
    "n": lambda a, b: f"~({a} & {b})",
    "+": lambda a, b: f"{a} + {b}",
    "-": lambda a, b: f"{a} - {b}",
    "*": lambda a, b: f"{a} * {b}",
    "=": lambda a, b: f"{a} == {b}",
    "<": lambda a, b: f"{a} < {b}",
    ">": lambda a, b: f"{a} > {b}",
    "x": lambda select, zero, one: f"{select} ? {one} : {zero}",
    "c": lambda *parts: "{" + ", ".join(parts) + "}",
}
"""Right-hand side of each PyRTL operator; both sides have the width that PyRTL gives the result."""

"""Unit: one instruction's datapath as a block of its own, and as PyRTL source that people read."""

from __future__ import annotations

import keyword
import textwrap

import pyrtl

from hw.lower import Circuits, lower
from isa.bits import Bits, topological
from isa.function import function_of, operands
from isa.instruction import Instruction
from isa.statements import statements
from isa.table import Table

__all__ = ["build_unit", "pyrtl_source", "source_name"]

_LONGEST = 60
_INFIX = {"and": "&", "or": "|", "xor": "^", "eq": "==", "ult": "<", "mul_wide": "*"}
_SIZED = {"add": "+", "sub": "-", "mul": "*"}
_SHIFTS = {
    "shl": "shift_left_logical",
    "shr": "shift_right_logical",
    "sar": "shift_right_arithmetic",
}
_SLICED = ("add", "sub", "mul", "slice", "rotr", "zext", "sext", "clmul")


def _plan(instruction: Instruction, xlen: int) -> tuple[Bits, list[tuple[str, int]]]:
    """Return the meaning, and name and width of what it reads: registers, then immediates.

    Raises:
        ValueError: when it does more than compute rd from these.
    """
    root = function_of(instruction, xlen)
    if root is None:
        raise ValueError(
            f"unit must compute rd from registers and immediates, which {instruction.name} does not"
        )
    ports = [(r, xlen) for r in operands(instruction)]
    ports += [(i.name, i.width) for i in instruction.encoding.immediates]
    return root, [(name, width) for name, width in ports if name in instruction.parameters]


def build_unit(instruction: Instruction, xlen: int, circuits: Circuits) -> pyrtl.Block:
    """Return the datapath of an instruction: inputs rs1.. (xlen) and its immediates, output rd.

    Combinational. `circuits` names the circuit of each table; tables without one are multiplexers.

    Raises:
        ValueError: when the instruction does more than compute rd from registers and immediates.
    """
    root, ports = _plan(instruction, xlen)
    with pyrtl.temp_working_block():
        env = {name: pyrtl.Input(width, name) for name, width in ports}
        (wire,) = lower([root], env, circuits)
        result = pyrtl.Output(xlen, "rd")
        result <<= wire
        return pyrtl.working_block()


def source_name(instruction: Instruction) -> str:
    """Return the name of the function that `pyrtl_source` defines."""
    name = instruction.name.replace(".", "_")
    return f"{name}_" if keyword.iskeyword(name) else name


def pyrtl_source(instruction: Instruction, xlen: int) -> str:
    """Return Python that defines the datapath as a function of PyRTL wires.

    It needs PyRTL alone; tables are `RomBlock`s. Operand widths are those of `build_unit`.

    Raises:
        ValueError: when the instruction does more than compute rd from registers and immediates.
    """
    root, ports = _plan(instruction, xlen)
    name = source_name(instruction)
    tables = {n.attr.name: n.attr for n in topological([root]) if isinstance(n.attr, Table)}
    found, result = statements(root, _text, _LONGEST, _SLICED)
    widths = ", ".join(f"{port} ({width} bits)" for port, width in ports)
    lines = [
        f'"""{instruction.name}: a datapath in PyRTL."""',
        "",
        "import pyrtl",
        "",
        *(line for table in tables.values() for line in _table(table)),
        "",
        f"def {name}({', '.join(port for port, _ in ports)}):",
        f'    """Return rd ({xlen} bits) of {widths}."""',
        *(_rom(table) for table in tables.values()),
    ]
    for line in [f"{t} = {text}" for t, _, text in found] + [f"return {result}"]:
        lines += textwrap.indent(line, "    ").splitlines()
    return "\n".join([*lines, ""])


def _table(table: Table) -> list[str]:
    digits = (table.width + 3) // 4
    text = "".join(f"{e:0{digits}x}" for e in table.entries)
    rows = [f'    "{text[i : i + 80]}"' for i in range(0, len(text), 80)]
    return [
        f"{table.name.upper()} = (",
        *rows,
        f")  # {len(table.entries)} entries of {digits} hexadecimal digits",
        "",
    ]


def _rom(table: Table) -> str:
    digits = (table.width + 3) // 4
    entries = f"[int({table.name.upper()}[{digits} * i : {digits} * i + {digits}], 16)"
    return (
        f"    {table.name} = pyrtl.RomBlock({table.width}, {table.index_width}, "
        f"{entries} for i in range({len(table.entries)})], max_read_ports=None, asynchronous=True)"
    )


def _text(n: Bits, xs: list[str]) -> str:
    if n.op == "arg":
        return str(n.attr)
    if isinstance(n.attr, Table):
        return f"pyrtl.as_wires({n.attr.name}[{xs[0]}])"
    k = n.attr if isinstance(n.attr, int) else 0
    if n.op in _INFIX:
        return f"({xs[0]} {_INFIX[n.op]} {xs[1]})"
    if n.op in _SIZED:
        return f"({xs[0]} {_SIZED[n.op]} {xs[1]})[:{n.width}]"
    if n.op in _SHIFTS:
        return f"pyrtl.{_SHIFTS[n.op]}({xs[0]}, {k})"
    if n.op.removesuffix("_var") in _SHIFTS:
        return f"pyrtl.{_SHIFTS[n.op.removesuffix('_var')]}({xs[0]}, {xs[1]})"
    match n.op:
        case "const":
            return f"pyrtl.Const({k:#x}, {n.width})"
        case "not":
            return f"~{xs[0]}"
        case "rotr":
            return f"pyrtl.concat({xs[0]}[:{k}], {xs[0]}[{k}:])" if k else xs[0]
        case "rotr_var":
            twice = f"pyrtl.concat({xs[0]}, {xs[0]})"
            return f"pyrtl.shift_right_logical({twice}, {xs[1]})[:{n.width}]"
        case "concat":
            return f"pyrtl.concat({', '.join(xs)})"
        case "slice":
            return f"{xs[0]}[{k}:{k + n.width}]"
        case "zext":
            return f"{xs[0]}.zero_extended({n.width})"
        case "sext":
            return f"{xs[0]}.sign_extended({n.width})"
        case "slt":
            return f"pyrtl.signed_lt({xs[0]}, {xs[1]})"
        case "mux":
            return f"pyrtl.select({xs[0]}, {xs[1]}, {xs[2]})"
        case "clmul":
            width = n.args[0].width
            rows = (
                f"(pyrtl.concat(pyrtl.Const(0, {width - i}), {xs[0]} & {xs[1]}[{i}]"
                f".sign_extended({width}){f', pyrtl.Const(0, {i})' if i else ''}))"
                for i in range(width)
            )
            return f"({' ^ '.join(rows)})"
    raise AssertionError(n.op)

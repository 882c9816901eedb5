"""CoreDSL: instructions as a description that Longnail, Seal5, ETISS and M2-ISA-R read.

CoreDSL 2 (https://github.com/Minres/CoreDSL). Every operation is cast to its width, as the
language's own widths grow. Tables are functions that choose by the bits of their index.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from isa.bits import Bits, topological
from isa.encoding import REGISTERS, Encoding
from isa.function import function_of
from isa.instruction import REGISTER_SOURCES, Instruction
from isa.statements import statements
from isa.table import Table

_LONGEST = 60
_INFIX = {"and": "&", "or": "|", "xor": "^", "add": "+", "sub": "-", "mul": "*", "mul_wide": "*"}
_COMPARISONS = {"eq": "==", "ult": "<", "slt": "<"}
_VARIABLE = {"shl_var": "<<", "shr_var": ">>", "sar_var": ">>"}
_SLICED = ("slice", "rotr", "rotr_var", "sar", "sar_var", "sext", "slt")


def coredsl(instructions: Sequence[Instruction], xlen: int, name: str) -> str:
    """An instruction set `name` of these instructions.

    Those that do more than compute `rd` from registers and immediates are named in a comment and
    left out.
    """
    described, left_out = [], []
    tables: dict[str, Table] = {}
    for instruction in instructions:
        rd = function_of(instruction, xlen)
        if rd is not None:
            described.append(_instruction(instruction, rd, xlen, tables))
        else:
            left_out.append(f"    // {instruction.name}: has effects beside rd")
    lines = [f"InstructionSet {name} extends RV{xlen}I {{"]
    functions = list(map(_table, tables.values()))
    functions += [_CLMUL] if any("clmul(" in text for text in described) else []
    if functions:
        lines += ["    functions {", *functions, "    }"]
    lines += [*left_out, "    instructions {", *described, "    }", "}", ""]
    return "\n".join(lines)


def _instruction(instruction: Instruction, rd: Bits, xlen: int, tables: dict[str, Table]) -> str:
    for n in topological([rd]):
        if isinstance(n.attr, Table):
            tables.setdefault(n.attr.name, n.attr)
    encoding = instruction.encoding
    found, result = statements(rd, _text, _LONGEST, _SLICED)
    read = {str(a.attr) for a in topological([rd]) if a.op == "arg"}
    body = [
        f"unsigned<{xlen}> {register}_ = X[{register}];"
        for register in encoding.registers
        if register in read
    ]
    body += [f"unsigned<{n.width}> {name} = {text};" for name, n, text in found]
    body += [f"if (rd != 0) X[rd] = {result};"]
    names = ", ".join(
        [f"{{name({r})}}" for r in encoding.registers]
        + [f"{{{i.name}}}" for i in encoding.immediates]
    )
    lines = [
        f"{instruction.name.replace('.', '_')} {{",
        f"    encoding: {_encoding(encoding)};",
        f'    assembly: {{"{instruction.name}", "{names}"}};',
        "    behavior: {",
        *(f"        {statement}" for statement in body),
        "    }",
        "}",
    ]
    return "\n".join(f"        {line}" for line in lines)


def _encoding(encoding: Encoding) -> str:
    """Fields of the word from bit 31 down, joined."""
    fields = {low: (r, 4, 0) for r, low in REGISTERS.items() if r in encoding.registers}
    for immediate in encoding.immediates:
        for word_low, low, length in immediate.pieces:
            fields[word_low] = (immediate.name, low + length - 1, low)
    parts, position = [], 0
    while position < 32:
        if position in fields:
            name, high, low = fields[position]
            parts.append(f"{name}[{high}:{low}]")
            position += high - low + 1
        else:
            end = position
            while end < 32 and end not in fields:
                end += 1
            value = encoding.match >> position & ((1 << end - position) - 1)
            parts.append(f"{end - position}'b{value:0{end - position}b}")
            position = end
    return " :: ".join(reversed(parts))


def _cast(width: int, text: str) -> str:
    return f"(unsigned<{width}>)({text})"


def _signed(n: Bits, text: str) -> str:
    return f"(signed<{n.width}>){text}"


def _text(n: Bits, xs: list[str]) -> str:
    w = n.width
    if n.op == "arg":
        return f"{n.attr}_" if n.attr in REGISTER_SOURCES else str(n.attr)
    if isinstance(n.attr, Table):
        return f"{n.attr.name}({xs[0]})"
    k = n.attr if isinstance(n.attr, int) else 0
    if n.op in _INFIX:
        return _cast(w, f"{xs[0]} {_INFIX[n.op]} {xs[1]}")
    match n.op:
        case "const":
            return _cast(w, str(k))
        case "not":
            return _cast(w, f"~{xs[0]}")
        case "clmul":
            return _cast(w, f"clmul({xs[0]}, {xs[1]})")
        case "shl" | "shr":
            return _cast(w, f"{xs[0]} {'<<' if n.op == 'shl' else '>>'} {k}")
        case "sar":
            return _cast(w, f"{_signed(n, xs[0])} >> {k}")
        case "rotr":
            return f"({xs[0]}[{k - 1}:0] :: {xs[0]}[{w - 1}:{k}])" if k else xs[0]
        case "shl_var" | "shr_var":
            return _cast(w, f"{xs[0]} {_VARIABLE[n.op]} {xs[1]}")
        case "sar_var":
            return _cast(w, f"{_signed(n, xs[0])} >> {xs[1]}")
        case "rotr_var":
            return _cast(w, f"({xs[0]} :: {xs[0]}) >> {xs[1]}")
        case "concat":
            return f"({' :: '.join(xs)})"
        case "slice":
            return f"{xs[0]}[{k + w - 1}:{k}]"
        case "zext":
            return _cast(w, xs[0])
        case "sext":
            return _cast(w, f"(signed<{w}>){_signed(n.args[0], xs[0])}")
        case "mux":
            return f"({xs[0]} != 0 ? {xs[1]} : {xs[2]})"
        case "eq" | "ult":
            return _cast(1, f"{xs[0]} {_COMPARISONS[n.op]} {xs[1]}")
        case "slt":
            left, right = (_signed(a, x) for a, x in zip(n.args, xs, strict=True))
            return _cast(1, f"{left} < {right}")
    raise AssertionError(n.op)


def _table(table: Table) -> str:
    chosen = _choice(table, table.index_width - 1, 0)
    rows = textwrap.wrap(chosen, 84, break_long_words=False, break_on_hyphens=False)
    head = f"unsigned<{table.width}> {table.name}(unsigned<{table.index_width}> i) {{"
    body = [
        head,
        "    return",
        *(f"        {row}" for row in rows[:-1]),
        f"        {rows[-1]};",
        "}",
    ]
    return textwrap.indent("\n".join(body), "        ")


def _choice(table: Table, bit: int, low: int) -> str:
    """The entries from `low` on that differ in index bits `bit` to 0, chosen by these."""
    if bit < 0:
        return f"{table.entries[low]}"
    ones = _choice(table, bit - 1, low + (1 << bit))
    return f"(i[{bit}:{bit}] != 0 ? {ones} : {_choice(table, bit - 1, low)})"


_CLMUL = """        unsigned<128> clmul(unsigned<64> a, unsigned<64> b) {
            unsigned<128> product = 0;
            for (int i = 0; i < 64; i = i + 1) {
                if (((b >> i) & 1) != 0) product = product ^ ((unsigned<128>)a << i);
            }
            return product;
        }"""

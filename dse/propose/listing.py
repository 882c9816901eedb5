"""Listing: an instruction as the Python file a person would have written."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from isa.bits import Bits, topological
from isa.instruction import Instruction
from isa.table import Table

_INFIX = {"and": "&", "or": "|", "xor": "^", "add": "+", "sub": "-", "mul": "*"}
_STATIC = {"shl": "<<", "shr": ">>"}
_METHODS = ("shl_var", "shr_var", "sar_var", "rotr_var", "eq", "ult", "slt", "mul_wide", "clmul")
_WIDTH = 100


def listing(
    instruction: Instruction,
    xlen: int,
    fields: Mapping[str, tuple[int, int]],
    summary: str,
) -> str:
    """Python source of an extension of one instruction, in the style of `isa/extensions/`.

    Args:
        instruction: The instruction.
        xlen: Register width for which it is meant.
        fields: (high, low) of immediates that riscv-opcodes has no name for.
        summary: What it does, one line.
    """
    root = instruction.effects(xlen).rd
    assert root is not None
    order = topological([root])
    tables = list(dict.fromkeys(n.attr for n in order if isinstance(n.attr, Table)))
    body, imports = _body(root, order)
    if tables:
        imports.add("lookup")
    name = instruction.name
    lines = [
        f'"""{name}: an instruction proposed by dse propose."""',
        "",
        "from __future__ import annotations",
        "",
        f"from isa.bits import {', '.join(['Bits', *sorted(imports)])}",
        "from isa.instruction import Extension",
    ]
    if tables:
        lines += ["from isa.table import Table", ""]
    for table in tables:
        lines += _table(table)
    lines += [
        "",
        "EXTENSION = Extension(",
        f'    "{name}",',
        *_source(instruction.source),
        f"    xlens=({xlen},),",
        ")",
        "",
        "",
        "@EXTENSION.instruction(",
        f'    "{instruction.line}",',
    ]
    if fields:
        shown = ", ".join(f'"{n}": ({high}, {low})' for n, (high, low) in fields.items())
        lines.append(f"    fields={{{shown}}},")
    parameters = ", ".join(f"{p}: Bits" for p in instruction.parameters)
    lines += [")", f"def {name}({parameters}) -> Bits:"]
    wrapped = textwrap.wrap(summary, _WIDTH - 12)
    if len(wrapped) == 1:
        lines.append(f'    """{summary}."""')
    else:
        lines += [
            f'    """{wrapped[0]}',
            *(f"    {row}" for row in wrapped[1:]),
            '    """  # noqa: D205',
        ]
    lines += body
    return "\n".join(lines) + "\n"


def _source(text: str) -> list[str]:
    """The argument `source`, on as many lines as it needs."""
    pieces = textwrap.wrap(text, _WIDTH - 20, drop_whitespace=False) or [""]
    if len(pieces) == 1:
        return [f'    source="{text}",']
    return ["    source=(", *(f'        "{piece}"' for piece in pieces), "    ),"]


def _table(table: Table) -> list[str]:
    digits = (table.width + 3) // 4
    text = "".join(f"{e:0{digits}x}" for e in table.entries)
    rows = [text[i : i + 80] for i in range(0, len(text), 80)]
    quoted = [f'    "{row}"' for row in rows]
    name = f"_{table.name.upper()}"
    return [
        f"{name}_DIGITS = (",
        *quoted,
        ")",
        f"{name} = Table(",
        f'    "{table.name}",',
        f"    {table.width},",
        f"    tuple(int({name}_DIGITS[i : i + {digits}], 16) "
        f"for i in range(0, {len(text)}, {digits})),",
        ")",
    ]


def _body(root: Bits, order: list[Bits]) -> tuple[list[str], set[str]]:
    """Statements, and the functions of `isa.bits` they call."""
    uses: dict[Bits, int] = {}
    for n in order:
        for a in n.args:
            uses[a] = uses.get(a, 0) + 1
    texts: dict[Bits, str] = {}
    statements: list[str] = []
    imports: set[str] = set()
    names = 0
    for n in order:
        text = _text(n, [texts[a] for a in n.args], imports)
        if n is root:
            statements += _statement("return ", text)
        elif n.args and (uses[n] > 1 or len(text) > _WIDTH - 40):
            statements += _statement(f"t{names} = ", text)
            text = f"t{names}"
            names += 1
        texts[n] = text
    return statements, imports


def _statement(head: str, text: str) -> list[str]:
    """One statement of the body, in parentheses where it needs several lines."""
    if len(head) + len(text) + 4 <= _WIDTH:
        return [f"    {head}{text}"]
    rows = textwrap.wrap(text, _WIDTH - 8, break_long_words=False, break_on_hyphens=False)
    return [f"    {head}(", *(f"        {row}" for row in rows), "    )"]


def _text(n: Bits, xs: list[str], imports: set[str]) -> str:
    def call(function: str, *arguments: object) -> str:
        imports.add(function)
        return f"{function}({', '.join(map(str, arguments))})"

    atoms = [x if x.isidentifier() or (x.endswith(")") and _is_call(x)) else f"({x})" for x in xs]
    if n.op == "arg":
        return str(n.attr)
    if n.op == "const":
        assert isinstance(n.attr, int)
        return call("const", hex(n.attr) if n.attr > 9 else n.attr, n.width)
    if n.op == "not":
        return f"~{atoms[0]}"
    if n.op in _INFIX:
        return f"{atoms[0]} {_INFIX[n.op]} {atoms[1]}"
    if n.op in _STATIC:
        return f"{atoms[0]} {_STATIC[n.op]} {n.attr}"
    if n.op in ("rotr", "sar"):
        return f"{atoms[0]}.{n.op}({n.attr})"
    if n.op in _METHODS:
        return f"{atoms[0]}.{n.op}({xs[1]})"
    if n.op in ("zext", "sext"):
        return f"{atoms[0]}.{n.op}({n.width})"
    if n.op == "slice":
        return f"{atoms[0]}.slice({n.attr}, {n.width})"
    if n.op == "lookup":
        assert isinstance(n.attr, Table)
        return f"lookup(_{n.attr.name.upper()}, {xs[0]})"
    return call(n.op, *xs)


def _is_call(text: str) -> bool:
    """Whether the text is one call or method chain, so that it needs no parentheses."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0 and c in " ~" and i < len(text) - 1:
            return False
    return True

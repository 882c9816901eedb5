"""Formula: a meaning as lines that people read.

`x[15:8]` are bits 15 to 8, `{a, b}` joins with a on top, `>>>` rotates right, `>>s` shifts with the
sign, `<s` compares signed, `(*)` multiplies without carries, `c ? a : b` chooses. Widths are left
out where the operands show them; `zext64(x)` and `sext64(x)` extend. What is used more than once
has a name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from isa.bits import Bits, fold, topological
from isa.instruction import Effects
from isa.table import Table

LONGEST = 36
"""Characters beyond which an inner value gets a line of its own."""

_INFIX = {
    **{"and": "&", "or": "|", "xor": "^", "add": "+", "sub": "-", "mul": "*"},
    **{"mul_wide": "×", "clmul": "(*)", "shl": "<<", "shr": ">>", "sar": ">>s", "rotr": ">>>"},
    **{"shl_var": "<<", "shr_var": ">>", "sar_var": ">>s", "rotr_var": ">>>"},
    **{"eq": "==", "ult": "<", "slt": "<s"},
}


def formula(effects: Effects) -> list[str]:
    """Lines that say what an instruction does, the definitions of shared values first."""
    roots = effects.values()
    lines, texts = _texts(roots)
    written = iter(texts)
    if effects.rd is not None:
        lines.append(f"rd = {next(written)}")
    if effects.load is not None:
        sign = "signed" if effects.load.signed else "unsigned"
        lines.append(f"rd = memory[{next(written)}], {effects.load.width} bits {sign}")
    if effects.store is not None:
        address, value = next(written), next(written)
        lines.append(f"memory[{address}] = {value}")
    if effects.next_pc is not None:
        target = next(written)
        condition = f"if {next(written)}: " if effects.next_pc.condition is not None else ""
        lines.append(f"{condition}pc = {target}")
    if effects.command is not None:
        command = effects.command
        given = [next(written) for x in (command.a, command.b) if x is not None]
        result = "rd = " if command.has_result else ""
        lines.append(f"{result}co-processor: {' '.join([command.name, *given])}")
    lines += [f"{name} = {next(written)}" for name, _ in effects.state]
    if effects.host is not None:
        lines.append(f"calls the host: {effects.host}")
    return lines or ["does nothing"]


def _texts(roots: Sequence[Bits]) -> tuple[list[str], list[str]]:
    """Definitions, and the text of each root."""
    uses: Counter[Bits] = Counter(a for n in topological(roots) for a in n.args)
    lines: list[str] = []
    names = 0
    inner = {n for n in topological(roots) if n.args} - set(roots)

    def visit(n: Bits, xs: list[str]) -> str:
        nonlocal names
        text = _text(n, xs)
        is_short = n.op in ("slice", "zext") and n.args[0].op == "arg"
        if n in inner and ((uses[n] > 1 and not is_short) or len(text) > LONGEST):
            name = f"t{names}"
            names += 1
            lines.append(f"{name} = {text}")
            return name
        return text

    return lines, fold(roots, visit)


def _text(n: Bits, xs: list[str]) -> str:
    match n.op:
        case "arg":
            return str(n.attr)
        case "const":
            value = n.attr
            assert isinstance(value, int)
            return str(value) if value < 10 else f"{value:#x}"
        case "not":
            return f"~{_atom(xs[0])}"
        case "concat":
            zeros = (
                f"{a.width}'0" if a.op == "const" and a.attr == 0 else x
                for a, x in zip(n.args, xs, strict=True)
            )
            return f"{{{', '.join(zeros)}}}"
        case "slice":
            low = n.attr
            assert isinstance(low, int)
            place = f"{low}" if n.width == 1 else f"{low + n.width - 1}:{low}"
            return f"{_atom(xs[0])}[{place}]"
        case "zext" | "sext":
            return f"{n.op}{n.width}({xs[0]})"
        case "mux":
            return f"{_atom(xs[0])} ? {_atom(xs[1])} : {_atom(xs[2])}"
        case "lookup":
            assert isinstance(n.attr, Table)
            return f"{n.attr.name}[{xs[0]}]"
    right = _atom(xs[1]) if len(xs) > 1 else str(n.attr)
    left = xs[0] if n.op in ("and", "or", "xor") and n.args[0].op == n.op else _atom(xs[0])
    return f"{left} {_INFIX[n.op]} {right}"


def _atom(text: str) -> str:
    """The text, in parentheses where an operator would tear it apart."""
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == " " and not depth:
            return f"({text})"
    return text

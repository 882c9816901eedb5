"""Formula: an expression as one line for people."""

from __future__ import annotations

from isa.bits import Bits, fold
from isa.substitution import BYTE_VALUES, factor, named_boxes
from isa.table import Table

_INFIX = {"and": "&", "or": "|", "xor": "^", "add": "+", "sub": "-", "mul": "*"}
_FUNCTIONS = {
    "rotr": "rotr",
    "rotr_var": "rotr",
    "sar": "sar",
    "sar_var": "sar",
    "mul_wide": "mul_wide",
    "clmul": "clmul",
    "eq": "eq",
    "ult": "ult",
    "slt": "slt",
    "mux": "mux",
}
LONGEST = 120


def formula(root: Bits) -> str:
    """Write an expression; longer than `LONGEST` characters it is cut in the middle."""
    text, _ = fold([root], _visit)[0]
    return shortened(text, LONGEST)


def shortened(text: str, length: int) -> str:
    """The text with its middle left out where it is longer."""
    if len(text) <= length:
        return text
    half = (length - 3) // 2
    return f"{text[:half]}...{text[-half:]}"


def _lookup(n: Bits, index: str) -> tuple[str, bool]:
    """A table by its name, or as a linear map of a named S-box."""
    table = n.attr
    assert isinstance(table, Table)
    found = None
    if len(table.entries) == BYTE_VALUES and table not in named_boxes():
        found = factor(table.entries, table.width)
    if found is None:
        return f"{table.name}[{index}]", True
    return found.formula(index), False


def _visit(n: Bits, xs: list[tuple[str, bool]]) -> tuple[str, bool]:
    """Text, and whether it stands without parentheses in any place."""
    xs = [(shortened(text, 4 * LONGEST), single) for text, single in xs]
    atoms = [text if single else f"({text})" for text, single in xs]
    texts = [text for text, _ in xs]
    match n.op:
        case "arg":
            return str(n.attr), True
        case "const":
            value = n.attr
            assert isinstance(value, int)
            return (str(value) if value < 10 else f"{value:#x}"), True
        case "not":
            return f"~{atoms[0]}", True
        case "shl" | "shr":
            return f"{atoms[0]} {'<<' if n.op == 'shl' else '>>'} {n.attr}", False
        case "shl_var" | "shr_var":
            return f"{atoms[0]} {'<<' if n.op == 'shl_var' else '>>'} {atoms[1]}", False
        case "slice" if n.width == 8 and isinstance(n.attr, int) and n.attr % 8 == 0:
            return f"{atoms[0]}.byte({n.attr // 8})", True
        case "slice":
            low = n.attr if isinstance(n.attr, int) else 0
            span = f"{low + n.width - 1}:{low}" if n.width > 1 else str(low)
            return f"{atoms[0]}[{span}]", True
        case "zext":
            return xs[0]
        case "sext":
            return f"sext({texts[0]})", True
        case "concat":
            return f"{{{', '.join(texts)}}}", True
        case "lookup":
            return _lookup(n, texts[0])
        case "rotr" | "sar":
            return f"{_FUNCTIONS[n.op]}({texts[0]}, {n.attr})", True
    if n.op in _INFIX:
        sign = _INFIX[n.op]
        parts = [
            text
            if single or (n.op in ("xor", "add", "and", "or") and a.op == n.op)
            else f"({text})"
            for a, (text, single) in zip(n.args, xs, strict=True)
        ]
        return f" {sign} ".join(parts), False
    return f"{_FUNCTIONS[n.op]}({', '.join(texts)})", True

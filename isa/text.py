"""Textual form of `Bits`: an s-expression that can be stored, read by people and loaded as data.

    (bits (table aes_sbox 8 637c77..)
          (t0 (slice 8 8 (arg rs2 32)))
          (xor (arg rs1 32) (zext 32 (lookup aes_sbox t0))))

Nodes used more than once get a name. Attributes stand before operands: `(shl 3 x)`,
`(slice low width x)`, `(zext width x)`, `(const value width)`, `(arg name width)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from isa.bits import Bits, arg, const, fold, node, topological
from isa.ops import OPS, Attribute, WidthError
from isa.table import Table

_WIDTH_STATED = ("zext", "sext")
_AMOUNT_STATED = ("shl", "shr", "sar", "rotr")
_TOKEN = re.compile(r"[()]|[^\s()]+")
Tree = "str | list[Tree]"


class TextError(ValueError):
    """A textual form is malformed."""


def to_text(roots: Iterable[Bits]) -> str:
    """Write one or several expressions; equal graphs give equal text."""
    roots = list(roots)
    order = topological(roots)
    uses: dict[Bits, int] = {}
    for n in order:
        for a in n.args:
            uses[a] = uses.get(a, 0) + 1
    tables: dict[str, Table] = {}
    bindings: list[str] = []

    def visit(n: Bits, xs: list[str]) -> str:
        if n.op == "const":
            return f"(const {n.attr:#x} {n.width})"
        if n.op == "arg":
            return f"(arg {n.attr} {n.width})"
        attributes: list[str] = []
        if isinstance(n.attr, Table):
            if tables.setdefault(n.attr.name, n.attr).entries != n.attr.entries:
                raise TextError(f"two tables must not share the name {n.attr.name}")
            attributes = [n.attr.name]
        elif n.op == "slice":
            attributes = [str(n.attr), str(n.width)]
        elif n.op in _WIDTH_STATED:
            attributes = [str(n.width)]
        elif n.op in _AMOUNT_STATED:
            attributes = [str(n.attr)]
        text = f"({' '.join([n.op, *attributes, *xs])})"
        if uses.get(n, 0) > 1:
            name = f"t{len(bindings)}"
            bindings.append(f"({name} {text})")
            return name
        return text

    bodies = fold(roots, visit)
    head = [_table_text(t) for t in tables.values()]
    return f"(bits {' '.join([*head, *bindings, *bodies])})"


def _table_text(table: Table) -> str:
    digits = (table.width + 3) // 4
    return f"(table {table.name} {table.width} {''.join(f'{e:0{digits}x}' for e in table.entries)})"


def from_text(text: str) -> list[Bits]:
    """Read expressions written by `to_text` or by hand.

    Raises:
        TextError: Malformed text, an unknown operator or name, or widths that do not fit.
    """
    tree = _parse(text)
    if not isinstance(tree, list) or not tree or tree[0] != "bits":
        raise TextError("text must start with (bits ...)")
    tables: dict[str, Table] = {}
    names: dict[str, Bits] = {}
    roots: list[Bits] = []
    for item in tree[1:]:
        match item:
            case ["table", str(name), str(width), str(digits)]:
                tables[name] = _read_table(name, _integer(width), digits)
            case [str(name), list(body)] if name not in OPS:
                names[name] = _read(body, names, tables)
            case _:
                roots.append(_read(item, names, tables))
    return roots


def _parse(text: str):  # type: ignore[no-untyped-def]
    stack: list[list] = [[]]  # type: ignore[type-arg]
    for token in _TOKEN.findall(text):
        if token == "(":
            stack.append([])
        elif token == ")":
            if len(stack) == 1:
                raise TextError("unbalanced ')'")
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    if len(stack) != 1 or len(stack[0]) != 1:
        raise TextError("text must be one balanced s-expression")
    return stack[0][0]


def _integer(token: object) -> int:
    try:
        return int(str(token), 0)
    except ValueError:
        raise TextError(f"a number must be an integer, not {token!r}") from None


def _read_table(name: str, width: int, digits: str) -> Table:
    step = (width + 3) // 4
    try:
        entries = [int(digits[i : i + step], 16) for i in range(0, len(digits), step)]
        return Table(name, width, tuple(entries))
    except ValueError as error:
        raise TextError(f"table {name}: {error}") from None


def _read(tree: object, names: Mapping[str, Bits], tables: Mapping[str, Table]) -> Bits:
    """Build one expression; iterative, so that depth is no limit."""
    results: list[Bits] = []
    stack: list[tuple[object, bool]] = [(tree, False)]
    while stack:
        item, operands_done = stack.pop()
        if isinstance(item, str):
            if item not in names:
                raise TextError(f"name must be bound before use, not {item!r}")
            results.append(names[item])
            continue
        if not isinstance(item, list) or not item or item[0] not in OPS:
            raise TextError(f"operator must be one of {sorted(OPS)}, not {item!r:.60}")
        op = item[0]
        if op in ("arg", "const"):
            if len(item) != 3:
                raise TextError(f"{op} takes two attributes, not {len(item) - 1}")
            width = _integer(item[2])
            results.append(arg(item[1], width) if op == "arg" else const(_integer(item[1]), width))
            continue
        count = 2 if op == "slice" else int(op in (*_WIDTH_STATED, *_AMOUNT_STATED, "lookup"))
        operands = item[1 + count :]
        if not operands_done:
            stack.append((item, True))
            stack += [(o, False) for o in reversed(operands)]
            continue
        args = results[len(results) - len(operands) :]
        del results[len(results) - len(operands) :]
        attr: Attribute = None
        width_stated: int | None = None
        if op == "lookup":
            if item[1] not in tables:
                raise TextError(f"table must be declared before use, not {item[1]!r}")
            attr = tables[item[1]]
        elif op == "slice":
            attr, width_stated = _integer(item[1]), _integer(item[2])
        elif op in _WIDTH_STATED:
            width_stated = _integer(item[1])
        elif op in _AMOUNT_STATED:
            attr = _integer(item[1])
        try:
            results.append(node(op, *args, attr=attr, width=width_stated))
        except WidthError as error:
            raise TextError(str(error)) from None
    return results[0]

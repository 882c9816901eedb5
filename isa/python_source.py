"""Python source: the text of a Python expression for each node of a `Bits` graph.

Values are non-negative ints below 2^width. The text of every operator comes from the same table
as its meaning (`isa.ops`), shortened where a mask cannot change anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from isa.bits import Bits
from isa.ops import OPS, carryless
from isa.table import Table

_COMPARISONS = {"eq": ("==", "!="), "ult": ("<", ">="), "slt": ("<", ">=")}
_DEEPEST = 40
"""Nesting beyond which a value gets a name; Python's parser refuses 200 parentheses."""
_ATOM = re.compile(r"\w+|r?\{[^{}]*\}")
"""Text that needs no parentheses: a name, a number or a placeholder of a template."""
_BITWISE = {"and": "&", "or": "|", "xor": "^"}


class Source:
    """Writes nodes as text, naming what is used twice.

    Attributes:
        statements: Assignments of the named values, to be executed first, in order.
        tables: Names of the tables that the text reads.
    """

    def __init__(
        self, leaves: Mapping[Bits, str], tables: dict[Table, str], prefix: str = "t"
    ) -> None:
        """Start a text.

        Args:
            leaves: Text of every `arg` node; any other node may be given too and is not entered.
            tables: Table names, extended as needed; share one between texts that run together.
            prefix: Start of the names given to shared values.
        """
        self.statements: list[str] = []
        self.tables = tables
        self._leaves = leaves
        self._text: dict[Bits, str] = dict(leaves)
        self._depth: dict[Bits, int] = dict.fromkeys(leaves, 0)
        self._prefix = prefix
        self._names = 0

    def write(self, roots: Sequence[Bits], conditions: Iterable[Bits] = ()) -> list[str]:
        """Text of each root; those also in `conditions` as a condition (true or false)."""
        order, uses = self._plan(roots)
        for n in order:
            text, depth = self._operator(n), 1 + max((self._depth[a] for a in _inner(n)), default=0)
            if (uses[n] > 1 and n.op not in ("const", "zext")) or depth > _DEEPEST:
                name = f"{self._prefix}{self._names}"
                self._names += 1
                self.statements.append(f"{name}={text}")
                text, depth = name, 0
            self._text[n], self._depth[n] = text, depth
        wanted = set(map(id, conditions))
        return [self._condition(r) if id(r) in wanted else self._text[r] for r in roots]

    def _plan(self, roots: Sequence[Bits]) -> tuple[list[Bits], dict[Bits, int]]:
        """Nodes to write, operands first, and how often each is used."""
        order: list[Bits] = []
        uses: dict[Bits, int] = {}
        for root in roots:
            uses[root] = uses.get(root, 0) + 1
        done = set(self._text)
        stack = [(r, False) for r in reversed(roots)]
        while stack:
            n, operands_done = stack.pop()
            if operands_done:
                order.append(n)
            elif n not in done:
                done.add(n)
                stack.append((n, True))
                for a in _inner(n):
                    uses[a] = uses.get(a, 0) + 1
                    stack.append((a, False))
        return order, uses

    def _atom(self, n: Bits) -> str:
        text = self._text[n]
        return text if _ATOM.fullmatch(text) else f"({text})"

    def _condition(self, n: Bits) -> str:
        """Text that is true exactly where the one-bit `n` is 1."""
        negated = False
        while n.op == "not" and n not in self._leaves and n.args[0].op in ("not", *_COMPARISONS):
            n, negated = n.args[0], not negated
        if n.op in _COMPARISONS and n not in self._leaves and not self._text[n].isidentifier():
            return self._comparison(n, negated)
        return f"not {self._atom(n)}" if negated else self._text[n]

    def _comparison(self, n: Bits, negated: bool) -> str:
        a, b = map(self._atom, n.args)
        if n.op == "slt":
            half = 1 << n.args[0].width - 1
            a, b = f"{a}^{half}", f"{b}^{half}"
        return f"{a}{_COMPARISONS[n.op][negated]}{b}"

    def _operator(self, n: Bits) -> str:
        if n.op == "const":
            return str(n.attr)
        parity = _parity(n)
        if parity is not None:
            return f"({self._text[parity]}).bit_count()&1"
        k = n.attr if isinstance(n.attr, int) else 0
        mask = (1 << n.width) - 1
        if n.op == "concat":
            return self._concat(n)
        x = self._atom(n.args[0])
        if n.op in _BITWISE:
            return f"{x}{_BITWISE[n.op]}{self._atom(n.args[1])}"
        if n.op == "slice":
            shifted = f"{x}>>{k}" if k else x
            return shifted if k + n.width == n.args[0].width else f"{shifted}&{mask}"
        if n.op == "zext":
            return self._text[n.args[0]]
        if n.op in _COMPARISONS:
            return f"1 if {self._comparison(n, False)} else 0"
        if n.op == "mux":
            a, b = map(self._atom, n.args[1:])
            return f"{a} if {self._condition(n.args[0])} else {b}"
        attribute: object = n.attr
        if isinstance(n.attr, Table):
            attribute = self.tables.setdefault(n.attr, f"T{len(self.tables)}")
        width = n.args[0].width
        return OPS[n.op].python.format(
            x,
            *map(self._atom, n.args[1:]),
            k=attribute,
            w=n.width,
            m=hex(mask) if mask >> 64 else mask,
            w0=width,
            m0=(1 << width) - 1,
            h0=1 << width - 1,
            r=n.width - k,
        )

    def _concat(self, n: Bits) -> str:
        parts = []
        low = n.width
        for a in n.args:
            low -= a.width
            if not (a.op == "const" and a.attr == 0):
                parts.append(f"{self._atom(a)}<<{low}" if low else self._atom(a))
        return "|".join(parts)


def _inner(n: Bits) -> tuple[Bits, ...]:
    """The nodes whose text the text of `n` contains."""
    parity = _parity(n)
    return n.args if parity is None else (parity,)


def _parity(n: Bits) -> Bits | None:
    """The value of which the one-bit `n` is the parity, written as a folding in halves."""
    if n.op != "xor" or n.width != 1:
        return None
    whole: Bits | None = None
    while n.op == "xor":
        a, b = n.args
        if not (a.op == b.op == "slice" and a.args[0] is b.args[0]):
            break
        y = a.args[0]
        if y.width != 2 * n.width or {a.attr, b.attr} != {0, n.width}:
            break
        whole = n = y
    return whole if whole is not None and whole.width > 2 else None


def compile_function(roots: Sequence[Bits], parameters: Sequence[Bits]) -> Callable[..., Any]:
    """Compile `roots` into one Python function of the argument nodes `parameters`.

    Returns:
        A function of non-negative ints, in the order of `parameters`, to the tuple of root values.
    """
    names = {p: f"a{i}" for i, p in enumerate(parameters)}
    tables: dict[Table, str] = {}
    source = Source(names, tables)
    results = source.write(roots)
    body = "\n ".join([*source.statements, f"return ({','.join(results)},)"])
    scope: dict[str, Any] = {name: table.entries for table, name in tables.items()}
    scope["carryless"] = carryless
    exec(f"def function({','.join(names.values())}):\n {body}", scope)  # our own text
    function: Callable[..., Any] = scope["function"]
    return function

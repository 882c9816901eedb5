"""Bits: the fixed-width expression graph in which every meaning and every kernel is written."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from isa.ops import OPS, Attribute, WidthError, carryless
from isa.table import Table

T = TypeVar("T")


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class Bits:
    """One node of the graph; equal expressions are the same object.

    Attributes:
        op: Operator name, a key of `isa.ops.OPS`.
        width: Width of the value in bits, at least 1.
        args: Operands; of `concat` the most significant first.
        attr: Static attribute: shift amount, low bit of a slice, value of a constant, name of an
            argument, table of a lookup.
    """

    op: str
    width: int
    args: tuple[Bits, ...] = ()
    attr: Attribute = None

    def _same_width(self, other: Bits | int) -> Bits:
        return const(other, self.width) if isinstance(other, int) else other

    def __and__(self, other: Bits | int) -> Bits:
        return node("and", self, self._same_width(other))

    def __or__(self, other: Bits | int) -> Bits:
        return node("or", self, self._same_width(other))

    def __xor__(self, other: Bits | int) -> Bits:
        return node("xor", self, self._same_width(other))

    def __add__(self, other: Bits | int) -> Bits:
        return node("add", self, self._same_width(other))

    def __sub__(self, other: Bits | int) -> Bits:
        return node("sub", self, self._same_width(other))

    def __mul__(self, other: Bits | int) -> Bits:
        return node("mul", self, self._same_width(other))

    def __invert__(self) -> Bits:
        return node("not", self)

    def __lshift__(self, amount: int) -> Bits:
        return node("shl", self, attr=amount)

    def __rshift__(self, amount: int) -> Bits:
        return node("shr", self, attr=amount)

    def sar(self, amount: int) -> Bits:
        """Arithmetic shift right by a static amount below the width."""
        return node("sar", self, attr=amount)

    def rotr(self, amount: int) -> Bits:
        """Rotation right by a static amount, taken modulo the width."""
        return node("rotr", self, attr=amount % self.width)

    def rotl(self, amount: int) -> Bits:
        """Rotation left by a static amount, taken modulo the width."""
        return node("rotr", self, attr=-amount % self.width)

    def shl_var(self, amount: Bits) -> Bits:
        """Shift left by an amount of exactly log2(width) bits."""
        return node("shl_var", self, amount)

    def shr_var(self, amount: Bits) -> Bits:
        """Logical shift right by an amount of exactly log2(width) bits."""
        return node("shr_var", self, amount)

    def sar_var(self, amount: Bits) -> Bits:
        """Arithmetic shift right by an amount of exactly log2(width) bits."""
        return node("sar_var", self, amount)

    def rotr_var(self, amount: Bits) -> Bits:
        """Rotation right by an amount of exactly log2(width) bits."""
        return node("rotr_var", self, amount)

    def slice(self, low: int, width: int) -> Bits:
        """Bits `low` to `low + width - 1`, bit 0 being the least significant."""
        return node("slice", self, attr=low, width=width)

    def bit(self, index: int) -> Bits:
        """One bit, bit 0 being the least significant."""
        return self.slice(index, 1)

    def byte(self, index: int) -> Bits:
        """Eight bits, byte 0 being the least significant."""
        return self.slice(8 * index, 8)

    def zext(self, width: int) -> Bits:
        """Extend with zeros to `width` bits."""
        return node("zext", self, width=width)

    def sext(self, width: int) -> Bits:
        """Extend with copies of the top bit to `width` bits."""
        return node("sext", self, width=width)

    def eq(self, other: Bits | int) -> Bits:
        """One bit: the operands are equal."""
        return node("eq", self, self._same_width(other))

    def ult(self, other: Bits | int) -> Bits:
        """One bit: less than, unsigned."""
        return node("ult", self, self._same_width(other))

    def slt(self, other: Bits | int) -> Bits:
        """One bit: less than, two's complement."""
        return node("slt", self, self._same_width(other))

    def mul_wide(self, other: Bits) -> Bits:
        """Full unsigned product, twice as wide."""
        return node("mul_wide", self, other)

    def clmul(self, other: Bits) -> Bits:
        """Full carry-less product, twice as wide (top bit 0)."""
        return node("clmul", self, other)

    def __bool__(self) -> bool:
        raise TypeError("a Bits has no truth value; choose with mux(condition, a, b)")

    def __eq__(self, other: object) -> bool:
        raise TypeError("compare two Bits with a.eq(b); for the same node use `is`")

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<Bits {self.op}:{self.width}>"


_interned: weakref.WeakValueDictionary[tuple[object, ...], Bits] = weakref.WeakValueDictionary()


def arg(name: str, width: int) -> Bits:
    """Return the free variable `name` of `width` bits."""
    return _intern("arg", width, (), name)


def const(value: int, width: int) -> Bits:
    """Return a constant; `value` is taken modulo 2^width, so -1 is all ones."""
    return _intern("const", width, (), value & ((1 << width) - 1))


def concat(*parts: Bits) -> Bits:
    """Join parts, the most significant first."""
    return node("concat", *parts)


def mux(condition: Bits, a: Bits, b: Bits) -> Bits:
    """Return `a` where the one-bit `condition` is 1, else `b`."""
    return node("mux", condition, a, b)


def lookup(table: Table, index: Bits) -> Bits:
    """Read entry `index` of a constant table."""
    return node("lookup", index, attr=table)


def node(op: str, *args: Bits, attr: Attribute = None, width: int | None = None) -> Bits:
    """Build the node `op(args)`, folding constants and trivial identities.

    Every identity applied is proven exhaustively at small widths in tests/isa/test_bits.py.

    Raises:
        WidthError: Operand widths do not fit `op`.
    """
    operator = OPS[op]
    widths = tuple(a.width for a in args)
    if operator.arity is not None and len(args) != operator.arity:
        raise WidthError(f"{op}: takes {operator.arity} operands, not {len(args)}")
    if operator.width is not None:
        try:
            width = operator.width(widths, attr)
        except WidthError as error:
            raise WidthError(f"{op}: {error}") from None
    elif width is None:
        raise WidthError(f"{op}: needs a width")
    elif op == "slice":
        if not isinstance(attr, int) or attr < 0 or width < 1 or attr + width > widths[0]:
            raise WidthError(
                f"slice: bits must lie in 0 to {widths[0] - 1}, not {width} bits from {attr!r}"
            )
    elif width < widths[0]:
        raise WidthError(f"{op}: width must be at least {widths[0]}, not {width}; slice instead")
    if args and all(a.op == "const" for a in args):
        return const(apply(op, width, attr, args, [a.attr for a in args]), width)  # type: ignore[misc]
    simpler = _simplify(op, width, args, attr)
    return _intern(op, width, args, attr) if simpler is None else simpler


def _intern(op: str, width: int, args: tuple[Bits, ...], attr: Attribute) -> Bits:
    key = (op, width, attr, *map(id, args))
    found = _interned.get(key)
    if found is None:
        found = _interned[key] = Bits(op, width, args, attr)
    return found


def _value(x: Bits) -> int | None:
    """Value of a constant; None of anything else."""
    return x.attr if x.op == "const" and isinstance(x.attr, int) else None


def _simplify(op: str, width: int, args: tuple[Bits, ...], attr: Attribute) -> Bits | None:
    """Return a simpler node equal to `op(args)`, or None where no identity applies."""
    if op in ("and", "or", "xor"):
        return _simplify_bitwise(op, width, *args)
    x = args[0]
    match op:
        case "not" if x.op == "not":  # ~~x = x
            return x.args[0]
        case "add":
            y = args[1]
            if x.op == "const":
                x, y = y, x
            if _value(y) == 0:  # x + 0 = x
                return x
            if y.op == "const" and x.op == "add" and x.args[1].op == "const":
                return node("add", x.args[0], x.args[1] + y)  # (x + c) + d = x + (c + d)
            return None if x is args[0] else _intern(op, width, (x, y), None)
        case "sub":
            if x is args[1]:  # x - x = 0
                return const(0, width)
            value = _value(args[1])
            if value is not None:  # x - c = x + (-c)
                return node("add", x, const(-value, width))
        case "mul":
            for a, b in ((x, args[1]), (args[1], x)):
                value = _value(a)
                if value == 0:  # x * 0 = 0
                    return a
                if value == 1:  # x * 1 = x
                    return b
        case "shl" | "shr" | "sar" | "rotr" if attr == 0:
            return x
        case "shl_var" | "shr_var" | "sar_var" | "rotr_var":
            value = _value(args[1])
            if value is not None:
                return node(op.removesuffix("_var"), x, attr=value)
        case "concat":
            return _simplify_concat(args)
        case "slice":
            return _simplify_slice(x, attr, width)
        case "zext" | "sext" if width == x.width:
            return x
        case "zext" if x.op == "zext":
            return node("zext", x.args[0], width=width)
        case "eq" if x is args[1]:
            return const(1, 1)
        case "ult" | "slt" if x is args[1]:
            return const(0, 1)
        case "mux":
            if args[1] is args[2]:  # mux(c, a, a) = a
                return args[1]
            if x.op == "const":
                return args[1] if x.attr else args[2]
    return None


def _simplify_bitwise(op: str, width: int, x: Bits, y: Bits) -> Bits | None:
    if x.op == "const":  # constants stand on the right
        x, y = y, x
        swapped = True
    else:
        swapped = False
    ones = (1 << width) - 1
    value = _value(y)
    if x is y:  # x ^ x = 0, x & x = x | x = x
        return const(0, width) if op == "xor" else x
    if value == 0:  # x ^ 0 = x | 0 = x, x & 0 = 0
        return y if op == "and" else x
    if value == ones:  # x & 1s = x, x | 1s = 1s, x ^ 1s = ~x
        return {"and": x, "or": y, "xor": node("not", x)}[op]
    return _intern(op, width, (x, y), None) if swapped else None


def _simplify_concat(args: tuple[Bits, ...]) -> Bits | None:
    if len(args) == 1:
        return args[0]
    if any(a.op == "concat" for a in args):  # nested parts are spliced in
        return concat(*(p for a in args for p in (a.args if a.op == "concat" else (a,))))
    if _value(args[0]) == 0:  # zeros on top are a zero extension
        return concat(*args[1:]).zext(sum(a.width for a in args))
    for i, (high, low) in enumerate(pairwise(args)):
        merged = _adjacent(high, low)
        if merged is not None:
            return concat(*args[:i], merged, *args[i + 2 :])
    return None


def _adjacent(high: Bits, low: Bits) -> Bits | None:
    """Return the one node equal to `high` above `low`, where they are neighbours of one value."""
    if high.op == "const" and low.op == "const":
        return const(_value(high) << low.width | _value(low), high.width + low.width)  # type: ignore[operator]
    if (
        high.op == "slice"
        and low.op == "slice"
        and high.args[0] is low.args[0]
        and high.attr == low.attr + low.width  # type: ignore[operator]
    ):
        return node("slice", low.args[0], attr=low.attr, width=low.width + high.width)
    return None


def _simplify_slice(x: Bits, low: Attribute, width: int) -> Bits | None:
    assert isinstance(low, int)
    if width == x.width:
        return x
    if x.op == "slice":
        return node("slice", x.args[0], attr=low + x.attr, width=width)  # type: ignore[operator]
    if x.op == "zext" and low + width <= x.args[0].width:
        return x.args[0].slice(low, width)
    if x.op == "zext" and low >= x.args[0].width:
        return const(0, width)
    if x.op == "concat":
        base = 0
        for part in reversed(x.args):
            if base <= low and low + width <= base + part.width:
                return part.slice(low - base, width)
            base += part.width
    return None


def apply(op: str, width: int, attr: Attribute, args: Sequence[Bits], values: Sequence[int]) -> int:
    """Value of one operator on non-negative ints; `args` give the operand widths."""
    if op == "concat":
        result = 0
        for a, v in zip(args, values, strict=True):
            result = result << a.width | v
        return result
    return _APPLY[op](width, args[0].width if args else width, attr, *values)


def _operator_function(python: str, arity: int) -> Callable[..., int]:
    """Compile a template into a function of (width, width of operand 0, attr, operands)."""
    names = [f"x{i}" for i in range(arity)]
    body = python.format(
        *names, k="k", w="w", m="((1 << w) - 1)", h0="(1 << w0 - 1)", r="(w - k)", w0="w0", m0=""
    )
    body = body.replace("k[", "k.entries[")
    code = f"lambda w, w0, k, {', '.join(names)}: {body}" if names else "lambda w, w0, k: k"
    scope: dict[str, object] = {"carryless": carryless}
    function: Callable[..., int] = eval(code, scope)  # our own template, never user data
    return function


_APPLY = {
    name: _operator_function(op.python, op.arity)
    for name, op in OPS.items()
    if op.arity is not None
}


def fold(roots: Iterable[Bits], visit: Callable[[Bits, list[T]], T]) -> list[T]:
    """Visit each distinct node once, operands first; return the results of the roots, in order.

    The only traversal. It is iterative, so depth is no limit.
    """
    done: dict[Bits, T] = {}
    roots = list(roots)
    stack = roots[::-1]
    while stack:
        n = stack[-1]
        if n in done:
            stack.pop()
            continue
        todo = [a for a in n.args if a not in done]
        if todo:
            stack += reversed(todo)
        else:
            stack.pop()
            done[n] = visit(n, [done[a] for a in n.args])
    return [done[r] for r in roots]


def topological(roots: Iterable[Bits]) -> list[Bits]:
    """Every distinct node reachable from `roots`, operands before users."""
    order: list[Bits] = []
    fold(roots, lambda n, _: order.append(n))
    return order


def evaluate(root: Bits, values: Mapping[str, int]) -> int:
    """Value of `root` with the arguments named in `values` (non-negative ints)."""

    def visit(n: Bits, xs: list[int]) -> int:
        if n.op == "arg":
            return values[str(n.attr)]
        return apply(n.op, n.width, n.attr, n.args, xs)

    return fold([root], visit)[0]


def substitute(root: Bits, replacement: Mapping[Bits, Bits]) -> Bits:
    """Replace nodes (usually arguments) throughout `root`, folding what becomes constant."""
    return substitute_all([root], replacement)[0]


def substitute_all(roots: Iterable[Bits], replacement: Mapping[Bits, Bits]) -> list[Bits]:
    """Replace nodes throughout several roots that share subgraphs."""

    def visit(n: Bits, xs: list[Bits]) -> Bits:
        if n in replacement:
            return replacement[n]
        if not n.args or all(x is a for x, a in zip(xs, n.args, strict=True)):
            return n
        return node(n.op, *xs, attr=n.attr, width=n.width)

    return fold(roots, visit)


def arguments(roots: Iterable[Bits]) -> list[Bits]:
    """The distinct `arg` nodes below `roots`, in order of first use."""
    return [n for n in topological(roots) if n.op == "arg"]

"""Normal form: a sum over GF(2) of functions of one register each, equal for equal functions.

It covers what ciphers do between their additions: XOR, shifts, rotates, byte permutations, S-boxes
on selected bytes and linear maps of what they give. Where it exists, comparing two is a proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from isa.bits import Bits, apply, fold
from isa.canonical import Label, Labels, labels


@dataclass(frozen=True)
class NormalForm:
    """The sum of `constant` and of one function for each register it reads.

    Attributes:
        constant: Value where all functions are 0.
        functions: (register, label with constant 0), sorted by register.
    """

    constant: int
    functions: tuple[tuple[str, Label], ...]

    @property
    def registers(self) -> tuple[str, ...]:
        """Registers that matter."""
        return tuple(name for name, _ in self.functions)

    def of(self, register: str) -> Label | None:
        """The function of one register; None if it does not matter."""
        return dict(self.functions).get(register)


def normal_form(root: Bits) -> NormalForm | None:
    """The normal form of an expression as wide as its arguments; None where it has none."""
    algebra = labels(root.width)
    terms = fold([root], lambda n, xs: _visit(algebra, n, xs))[0]
    if terms is None:
        return None
    constant, functions = terms
    kept = ((name, label) for name, label in functions.items() if label.support)
    return NormalForm(constant, tuple(sorted(kept, key=lambda f: f[0])))


Terms = tuple[int, dict[str, Label]]
"""Constant, and label of each argument; a value narrower than the algebra has zeros on top."""


def _visit(algebra: Labels, n: Bits, xs: list[Terms | None]) -> Terms | None:
    if n.op == "const":
        return (int(n.attr), {}) if n.width <= algebra.width else None  # type: ignore[arg-type]
    if n.op == "arg":
        return (0, {str(n.attr): algebra.identity}) if n.width == algebra.width else None
    if n.width > algebra.width or any(x is None for x in xs):
        return None
    known = [x for x in xs if x is not None]
    found = _linear(algebra, n, known)
    return found if found is not None else _tabulated(algebra, n, known)


def _linear(algebra: Labels, n: Bits, xs: list[Terms]) -> Terms | None:
    k = n.attr if isinstance(n.attr, int) else 0
    w = n.width

    def moved(x: Terms, low: int, length: int, position: int) -> Terms:
        return _map(algebra, x, lambda a: algebra.move(a, low, length, position))

    match n.op:
        case "xor":
            return _sum(algebra, xs)
        case "not":
            return xs[0][0] ^ ((1 << w) - 1), xs[0][1]
        case "zext":
            return xs[0]
        case "slice":
            return moved(xs[0], k, w, 0)
        case "shl":
            return moved(xs[0], 0, w - k, k)
        case "shr":
            return moved(xs[0], k, w - k, 0)
        case "rotr":
            return _sum(algebra, [moved(xs[0], k, w - k, 0), moved(xs[0], 0, k, w - k)])
        case "sar" if w == algebra.width:
            return _map(algebra, xs[0], lambda a: algebra.sar(a, k))
        case "concat":
            parts, low = [], w
            for a, x in zip(n.args, xs, strict=True):
                low -= a.width
                parts.append(moved(x, 0, a.width, low))
            return _sum(algebra, parts)
        case "and" if n.args[1].op == "const":
            return _map(algebra, xs[0], lambda a: algebra.masked(a, xs[1][0]))
        case "or" | "add" if not _ones(algebra, xs[0]) & _ones(algebra, xs[1]):
            return _sum(algebra, xs)
    return None


def _map(algebra: Labels, x: Terms, function: Callable[[Label], Label]) -> Terms:
    return (
        function(algebra.constant(x[0])).constant,
        {name: function(label) for name, label in x[1].items()},
    )


def _sum(algebra: Labels, xs: list[Terms]) -> Terms:
    constant = 0
    total: dict[str, Label] = {}
    for c, functions in xs:
        constant ^= c
        for name, label in functions.items():
            total[name] = algebra.xor(total[name], label) if name in total else label
    return constant, total


def _ones(algebra: Labels, x: Terms) -> int:
    """Bits that can be 1."""
    found = x[0]
    for label in x[1].values():
        found |= label.constant
        for i in range(algebra.width):
            found |= label.linear >> algebra.width * i & algebra.mask
        for cone in label.cones:
            for value in cone.table:
                found |= value
    return found


def _tabulated(algebra: Labels, n: Bits, xs: list[Terms]) -> Terms | None:
    """A function of at most 8 bits of one register, by its truth table."""
    names = {name for _, functions in xs for name, label in functions.items() if label.support}
    if len(names) > 1 or n.width > algebra.width:
        return None
    if not names:
        value = apply(n.op, n.width, n.attr, n.args, [x[0] for x in xs])
        return value, {}
    (name,) = names
    whole = [
        algebra.xor(functions.get(name, algebra.constant(0)), algebra.constant(c))
        for c, functions in xs
    ]
    label = algebra.tabulate(
        (n.op, n.width, n.attr, tuple(a.width for a in n.args)),
        whole,
        lambda *values: apply(n.op, n.width, n.attr, n.args, values),
    )
    if label is None:
        return None
    return label.constant, {name: algebra.xor(label, algebra.constant(label.constant))}


def single_register(label: Label, constant: int, width: int, byte: int) -> tuple[int, ...] | None:
    """Values for each value of one byte of the register, if nothing else matters; else None."""
    if not label.support or label.support & ~(0xFF << 8 * byte):
        return None
    algebra = labels(width)
    return tuple(constant ^ algebra.apply(label, x << 8 * byte) for x in range(256))

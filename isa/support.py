"""Support: on which operand bits each node of a `Bits` graph depends, and cones as tables."""

from __future__ import annotations

from collections.abc import Iterable

from isa.bits import Bits, arguments, fold, lookup, substitute_all, topological
from isa.python_source import compile_function
from isa.table import Table

LARGEST_INDEX = 8
"""Index bits up to which a cone becomes a table: 256 entries, built once per template."""
SMALLEST_CONE = 4
"""Operators from which a table read is quicker than the operators."""


def supports(roots: Iterable[Bits]) -> dict[Bits, tuple[int, ...]]:
    """For each node, for each of its bits, the set of argument bits it may depend on.

    Sets are ints: bit `offset + i` stands for bit i of an argument, the arguments being laid out
    one after the other in the order of `arguments(roots)`. Arithmetic is taken to depend on all
    lower bits, variable shifts and table reads on every bit.
    """
    roots = list(roots)
    offsets: dict[Bits, int] = {}
    position = 0
    for a in arguments(roots):
        offsets[a] = position
        position += a.width
    found: dict[Bits, tuple[int, ...]] = {}

    def visit(n: Bits, xs: list[tuple[int, ...]]) -> tuple[int, ...]:
        found[n] = _bits(n, xs, offsets)
        return found[n]

    fold(roots, visit)
    return found


def _union(bits: Iterable[int]) -> int:
    total = 0
    for b in bits:
        total |= b
    return total


def _bits(n: Bits, xs: list[tuple[int, ...]], offsets: dict[Bits, int]) -> tuple[int, ...]:
    width = n.width
    k = n.attr if isinstance(n.attr, int) else 0
    match n.op:
        case "arg":
            return tuple(1 << offsets[n] + i for i in range(width))
        case "const":
            return (0,) * width
        case "and" | "or" | "xor":
            return tuple(a | b for a, b in zip(*xs, strict=True))
        case "not":
            return xs[0]
        case "slice":
            return xs[0][k : k + width]
        case "concat":
            return tuple(b for part in reversed(xs) for b in part)
        case "zext":
            return xs[0] + (0,) * (width - len(xs[0]))
        case "sext":
            return xs[0] + xs[0][-1:] * (width - len(xs[0]))
        case "shl":
            return (0,) * k + xs[0][: width - k]
        case "shr":
            return xs[0][k:] + (0,) * k
        case "sar":
            return xs[0][k:] + xs[0][-1:] * k
        case "rotr":
            return xs[0][k:] + xs[0][:k]
        case "mux":
            return tuple(xs[0][0] | a | b for a, b in zip(xs[1], xs[2], strict=True))
        case "add" | "sub" | "mul":
            total, result = 0, []
            for a, b in zip(*xs, strict=True):
                total |= a | b
                result.append(total)
            return tuple(result)
    return (_union(b for x in xs for b in x),) * width


def collapse(roots: list[Bits]) -> list[Bits]:
    """Replace each largest cone over at most 8 neighbouring bits of one argument by a table read.

    Only for executing: a table read is one step in Python. Nothing else may see the result, as
    arithmetic and tables stay apart everywhere else.
    """
    order = topological(roots)
    if sum(bool(n.args) for n in order) < SMALLEST_CONE:
        return roots
    support = supports(roots)
    places: list[tuple[Bits, int]] = []  # (argument, offset), in layout order
    position = 0
    for a in arguments(roots):
        places.append((a, position))
        position += a.width
    replacement: dict[Bits, Bits] = {}
    cones: dict[Bits, int] = {}
    stack = list(roots)
    seen: set[Bits] = set()
    while stack:
        n = stack.pop()
        if n in seen or not n.args:
            continue
        seen.add(n)
        used = _union(support[n])
        read = _extract(used, places) if used else None
        if read is not None and _size(n, cones) >= SMALLEST_CONE:
            argument, low, span = read
            replacement[n] = lookup(_table(n, argument, low, span), argument.slice(low, span))
        else:
            stack += n.args
    return substitute_all(roots, replacement)


def _extract(used: int, places: list[tuple[Bits, int]]) -> tuple[Bits, int, int] | None:
    """The (argument, low, width) that holds all `used` bits, if they fit one table index."""
    lowest = (used & -used).bit_length() - 1
    span = used.bit_length() - lowest
    if span > LARGEST_INDEX:
        return None
    for argument, offset in places:
        low = lowest - offset
        if low >= 0 and low + span <= argument.width:
            return argument, low, span
    return None


def _size(n: Bits, cones: dict[Bits, int]) -> int:
    """Distinct operators in the cone of `n` that cost something in Python."""
    if n not in cones:
        free = ("arg", "const", "zext")
        cones[n] = sum(m.op not in free for m in topological([n]))
    return cones[n]


def _table(n: Bits, argument: Bits, low: int, span: int) -> Table:
    function = compile_function([n], (argument,))
    return Table("cone", n.width, tuple(function(v << low)[0] for v in range(1 << span)))

"""Graph: the data flow of one block as numbered vertices and bit masks, ready for enumeration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from isa.bits import Bits, const, topological
from isa.ops import Attribute

ASSOCIATIVE = ("xor", "and", "or", "add")
"""Operators whose nested uses are one set of operands, which an instruction may split."""


@dataclass(frozen=True)
class Vertex:
    """One operation, input or constant of a block.

    Attributes:
        op: Operator of `isa.ops`; "arg" for whatever enters from outside.
        width: Width of the value in bits.
        operands: Vertex numbers; more than two for a flattened `ASSOCIATIVE` operator.
        attr: Static attribute, as in `Bits`.
        origin: The expression it stands for.
    """

    op: str
    width: int
    operands: tuple[int, ...]
    attr: Attribute
    origin: Bits


@dataclass(frozen=True)
class Graph:
    """A block's data flow; vertices are numbered operands first.

    Masks are ints, bit v standing for vertex v.

    Attributes:
        vertices: All vertices.
        live_out: Mask of the values needed after the block.
        weight: How often the block runs for one execution of its workload.
        name: Where it comes from, for reports.
    """

    vertices: tuple[Vertex, ...]
    live_out: int
    weight: float = 1.0
    name: str = ""

    @classmethod
    def of(
        cls,
        roots: Iterable[Bits],
        *,
        flatten: bool = True,
        leaves: Iterable[Bits] = (),
        weight: float = 1.0,
        name: str = "",
    ) -> Graph:
        """Build the graph below `roots`.

        Args:
            roots: Values that the block computes for others.
            flatten: Join nested `ASSOCIATIVE` operators whose inner value has no other use.
            leaves: Nodes that enter from outside, as arguments do.
            weight: Executions of the block.
            name: Where it comes from.
        """
        roots = list(roots)
        results, outside = set(roots), set(leaves)
        order = _reachable(roots, outside)
        uses: dict[Bits, int] = dict.fromkeys(roots, 1)
        for n in order:
            if n not in outside:
                for a in n.args:
                    uses[a] = uses.get(a, 0) + 1
        vertices: list[Vertex] = []
        number: dict[Bits, int] = {}
        operands: dict[Bits, list[Bits]] = {}
        absorbed: set[Bits] = set()
        for n in order:
            operands[n] = [] if n in outside else list(n.args)
            if flatten and n.op in ASSOCIATIVE and n not in outside:
                flat = _flattened(n, operands, uses, outside)
                if flat is not None:
                    operands[n], inner = flat
                    absorbed |= inner
        for n in order:
            if n in absorbed or (n.op == "const" and n not in results):
                continue
            op = "arg" if n in outside else n.op
            inputs = []
            for a in operands[n]:
                if a not in number:  # constants are numbered where they are used
                    number[a] = len(vertices)
                    vertices.append(Vertex(a.op, a.width, (), a.attr, a))
                inputs.append(number[a])
            if n in number:
                continue
            number[n] = len(vertices)
            vertices.append(Vertex(op, n.width, tuple(inputs), n.attr, n))
        live = 0
        for r in roots:
            live |= 1 << number[r]
        return cls(tuple(vertices), live, weight, name)

    @cached_property
    def leaves(self) -> int:
        """Vertices that no instruction can contain: what enters from outside."""
        return mask_of(i for i, v in enumerate(self.vertices) if v.op == "arg")

    @cached_property
    def constants(self) -> int:
        """Constants, which are inside an instruction and never its inputs."""
        return mask_of(i for i, v in enumerate(self.vertices) if v.op == "const")

    @cached_property
    def operations(self) -> int:
        """Vertices that an instruction may contain."""
        return ((1 << len(self.vertices)) - 1) & ~self.leaves & ~self.constants

    @cached_property
    def operand_masks(self) -> tuple[int, ...]:
        """Operands of each vertex, constants left out."""
        return tuple(mask_of(v.operands) & ~self.constants for v in self.vertices)

    @cached_property
    def user_masks(self) -> tuple[int, ...]:
        """Users of each vertex."""
        users = [0] * len(self.vertices)
        for i, v in enumerate(self.vertices):
            for o in v.operands:
                users[o] |= 1 << i
        return tuple(users)

    @cached_property
    def descendants(self) -> tuple[int, ...]:
        """All vertices that depend on each vertex."""
        below = [0] * len(self.vertices)
        for i in reversed(range(len(self.vertices))):
            for u in members(self.user_masks[i]):
                below[i] |= below[u] | 1 << u
        return tuple(below)

    @cached_property
    def ancestors(self) -> tuple[int, ...]:
        """All vertices on which each vertex depends."""
        above = [0] * len(self.vertices)
        for i, v in enumerate(self.vertices):
            for o in v.operands:
                above[i] |= above[o] | 1 << o
        return tuple(above)

    @property
    def size(self) -> int:
        """Number of operations."""
        return self.operations.bit_count()

    def can_split(self, vertex: int) -> bool:
        """Whether the vertex is a set of three or more operands."""
        v = self.vertices[vertex]
        return v.op in ASSOCIATIVE and len(v.operands) > 2


def members(mask: int) -> list[int]:
    """The vertex numbers in a mask, ascending."""
    found: list[int] = []
    if not mask:
        return found
    first = (mask & -mask).bit_length() - 1
    mask >>= first  # what is far from 0 is near to each other: short numbers from here on
    while mask:
        low = mask & -mask
        found.append(first + low.bit_length() - 1)
        mask ^= low
    return found


def mask_of(numbers: Iterable[int]) -> int:
    """The mask of vertex numbers."""
    mask = 0
    for i in numbers:
        mask |= 1 << i
    return mask


def _reachable(roots: Sequence[Bits], outside: set[Bits]) -> list[Bits]:
    if not outside:
        return topological(roots)
    order: list[Bits] = []
    seen: set[Bits] = set()
    stack = [(r, False) for r in reversed(roots)]
    while stack:
        n, done = stack.pop()
        if done:
            order.append(n)
        elif n not in seen:
            seen.add(n)
            stack.append((n, True))
            if n not in outside:
                stack += [(a, False) for a in reversed(n.args)]
    return order


def _flattened(
    n: Bits, operands: dict[Bits, list[Bits]], uses: dict[Bits, int], outside: set[Bits]
) -> tuple[list[Bits], set[Bits]] | None:
    """Operands of `n` with those of single-use inner sets spliced in, and the inner nodes.

    None where an operand would occur twice. Constants are folded into one, put last.
    """
    flat: list[Bits] = []
    inner: set[Bits] = set()
    for a in n.args:
        if a.op == n.op and uses[a] == 1 and a not in outside:
            inner.add(a)
            flat += operands[a]
        else:
            flat.append(a)
    if not inner:
        return None
    constants = [a for a in flat if a.op == "const"]
    others = [a for a in flat if a.op != "const"]
    if len({id(a) for a in others}) < len(others):
        return None
    if constants:
        folded = constants[0]
        for c in constants[1:]:
            folded = _fold(n.op, folded, c)
        others.append(folded)
    return others, inner


def _fold(op: str, a: Bits, b: Bits) -> Bits:
    x, y = a.attr, b.attr
    assert isinstance(x, int)
    assert isinstance(y, int)
    return const({"xor": x ^ y, "and": x & y, "or": x | y, "add": x + y}[op], a.width)

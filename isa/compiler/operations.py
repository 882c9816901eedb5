"""Operation: one machine instruction over virtual values, and the regions that hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from isa.compiler.patterns import AffineImmediate
from isa.instruction import Instruction

ZERO = 0
"""The value that is always 0, in x0."""
STACK = 1
"""The stack pointer after the frame is made."""
FIRST_VALUE = 2


@dataclass(frozen=True)
class Address:
    """A constant known after layout.

    Attributes:
        kind: "anchor": address of a base; "table": address of a table minus that of its base;
            "absolute": address of a table; "frame": place of a stack buffer relative to sp.
        name: Of the anchor, table or buffer.
        addend: What is added.
    """

    kind: str
    name: str
    addend: int = 0


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """What a load or store touches: bytes `low` to `high` - 1 at pointer + counters' terms."""

    pointer: str
    terms: tuple[tuple[str, int], ...]
    low: int
    high: int
    is_store: bool


@dataclass(eq=False, slots=True)
class Operation:
    """One instruction, or a constant that takes one or two.

    Attributes:
        instruction: None for a constant.
        fixed: Specialised immediates.
        sources: (register operand, value); operands not listed are x0.
        result: Value it defines, if any.
        solver: Turns `immediate` into the field of the wide immediate.
        immediate: Value of the operand the wide immediate stands for, maybe known after layout;
            of a constant, its value.
        memory: Access to a buffer; None for tables, which nobody writes.
        state: (name, is_write) of architectural state touched.
        latency: Cycles in execute.
        order: Place in the kernel's order of effects; later effects have larger numbers.
        text: What it computes, for people.
        after: Operations whose reads must come first.
    """

    instruction: Instruction | None
    fixed: Mapping[str, int]
    sources: tuple[tuple[str, int], ...]
    result: int | None
    solver: AffineImmediate | None = None
    immediate: int | Address | None = None
    memory: MemoryAccess | None = None
    state: tuple[tuple[str, bool], ...] = ()
    latency: int = 1
    order: int = 0
    text: str = ""
    is_effect: bool = False

    @property
    def is_constant(self) -> bool:
        """Whether it can be repeated anywhere."""
        return self.instruction is None

    @property
    def is_load(self) -> bool:
        """Whether it reads data memory."""
        return self.instruction is not None and self.instruction.kind == "load"


@dataclass(eq=False)
class Carried:
    """A value carried around a loop.

    Attributes:
        parameter: The value inside an iteration.
        initial: Value before the first.
        result: Value for the next.
        output: Value after the last.
    """

    parameter: int
    initial: int
    result: int
    output: int


@dataclass(eq=False)
class Region:
    """Straight code with loops in it.

    Attributes:
        depth: Loops around it.
        frequency: How often it runs.
        items: Operations and loops; the scheduler brings them into their final order.
        parent: The region around it.
        loop: The loop whose body it is.
    """

    depth: int
    frequency: float
    parent: Region | None = None
    loop: Loop | None = None
    items: list[Operation | Loop] = field(default_factory=list)


@dataclass(eq=False)
class Loop:
    """A counted loop; its body runs at least once, and ends with a branch back.

    Attributes:
        name: For the label.
        count: Iterations.
        body: The code.
        carried: Values carried around.
        branch: The operation that closes it; its sources are values of the end of the body.
        order: As of `Operation`.
    """

    name: str
    count: int
    body: Region
    order: int
    carried: list[Carried] = field(default_factory=list)
    branch: Operation | None = None

    def inner_operations(self) -> list[Operation]:
        """All operations inside, those of inner loops included."""
        found: list[Operation] = []
        stack: list[Region] = [self.body]
        while stack:
            for item in stack.pop().items:
                if isinstance(item, Loop):
                    stack.append(item.body)
                else:
                    found.append(item)
        return found

    def values_read(self) -> set[int]:
        """Values of outside that it reads."""
        defined: set[int] = set()
        read: set[int] = set()
        stack: list[Loop] = [self]
        while stack:
            loop = stack.pop()
            for c in loop.carried:
                read |= {c.initial, c.result}
                defined |= {c.parameter}
                if loop is not self:
                    defined |= {c.output}
            if loop.branch:
                read |= {v for _, v in loop.branch.sources}
            for item in loop.body.items:
                if isinstance(item, Loop):
                    stack.append(item)
                else:
                    read |= {v for _, v in item.sources}
                    if item.result is not None:
                        defined.add(item.result)
        return {v for v in read - defined if v >= FIRST_VALUE}

"""Native search: the search below fixed outputs as machine code.

The same walk as `dse.propose.enumeration` takes, in the same order, where no set may be split. The
vertices of one search, what the outputs close over and the operands of these, are renumbered as
bits of one number; its highest bit stands for every vertex outside. Of a closure of many vertices
only the nearest are; a walk that goes further is left to Python.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Iterator, Set
from functools import cache
from typing import Any

from dse.propose.graph import Graph, mask_of, members
from isa.native import is_available, machine_code

WIDTHS = (64, 128, 256)
"""Bits of the masks that there is machine code for; a search has fewer vertices."""
NEAREST = 160
"""Vertices of a closure that are searched, last ones first; few subgraphs reach further."""
_ROOM = 4096
"""Subgraphs after which the machine code hands over what it found."""

_TEXT = """
declare MASK @llvm.ctpop.MASK(MASK)
declare MASK @llvm.ctlz.MASK(MASK, i1)

; fixed: closed, barred, limit, too far; stack: inside, undecided, inputs, links each
; found: inside, inputs each
; io: entries on the stack, subgraphs found, states visited, states allowed, went too far
define void @run(ptr %operands, ptr %users, ptr %before, ptr %fixed, ptr %stack, ptr %found,
                 ptr %io) {
entry:
  %closed = load MASK, ptr %fixed, align 8
  %barred.p = getelementptr MASK, ptr %fixed, i64 1
  %limit.p = getelementptr MASK, ptr %fixed, i64 2
  %barred = load MASK, ptr %barred.p, align 8
  %limit = load MASK, ptr %limit.p, align 8
  %far.p = getelementptr MASK, ptr %fixed, i64 3
  %far = load MASK, ptr %far.p, align 8
  %depth = alloca i64
  %count = alloca i64
  %states = alloca i64
  %count.io = getelementptr i64, ptr %io, i64 1
  %states.io = getelementptr i64, ptr %io, i64 2
  %budget.io = getelementptr i64, ptr %io, i64 3
  %budget = load i64, ptr %budget.io
  %depth.0 = load i64, ptr %io
  store i64 %depth.0, ptr %depth
  store i64 0, ptr %count
  %states.0 = load i64, ptr %states.io
  store i64 %states.0, ptr %states
  br label %next

next:
  %d = load i64, ptr %depth
  %is.empty = icmp eq i64 %d, 0
  br i1 %is.empty, label %done, label %room
room:
  %c = load i64, ptr %count
  %is.full = icmp uge i64 %c, ROOM
  br i1 %is.full, label %done, label %budgeted
budgeted:
  %s = load i64, ptr %states
  %s.1 = add i64 %s, 1
  store i64 %s.1, ptr %states
  %is.spent = icmp ugt i64 %s.1, %budget
  br i1 %is.spent, label %done, label %pop

pop:
  %d.1 = sub i64 %d, 1
  store i64 %d.1, ptr %depth
  %at = shl i64 %d.1, 2
  %inside.p = getelementptr MASK, ptr %stack, i64 %at
  %undecided.p = getelementptr MASK, ptr %inside.p, i64 1
  %inputs.p = getelementptr MASK, ptr %inside.p, i64 2
  %links.p = getelementptr MASK, ptr %inside.p, i64 3
  %inside = load MASK, ptr %inside.p, align 8
  %undecided = load MASK, ptr %undecided.p, align 8
  %inputs = load MASK, ptr %inputs.p, align 8
  %links = load MASK, ptr %links.p, align 8
  %beyond = and MASK %inputs, %far
  %is.beyond = icmp ne MASK %beyond, 0
  br i1 %is.beyond, label %too.far, label %near
too.far:
  %far.io = getelementptr i64, ptr %io, i64 4
  store i64 1, ptr %far.io
  br label %done
near:
  %ports = call MASK @llvm.ctpop.MASK(MASK %inputs)
  %is.many = icmp ugt MASK %ports, %limit
  br i1 %is.many, label %next, label %allowed
allowed:
  %bad = and MASK %inputs, %barred
  %is.bad = icmp ne MASK %bad, 0
  br i1 %is.bad, label %next, label %open
open:
  %any = icmp eq MASK %links, -1
  %is.decided = icmp eq MASK %undecided, 0
  br i1 %is.decided, label %leaf, label %branch

leaf:
  br i1 %any, label %emit, label %next
emit:
  %place = shl i64 %c, 1
  %found.inside = getelementptr MASK, ptr %found, i64 %place
  %found.inputs = getelementptr MASK, ptr %found.inside, i64 1
  store MASK %inside, ptr %found.inside, align 8
  store MASK %inputs, ptr %found.inputs, align 8
  %c.1 = add i64 %c, 1
  store i64 %c.1, ptr %count
  br label %next

branch:
  %zeros = call MASK @llvm.ctlz.MASK(MASK %undecided, i1 true)
  %v = sub MASK LAST, %zeros
  %bit = shl MASK 1, %v
  %rest = xor MASK %undecided, %bit
  %before.p = getelementptr MASK, ptr %before, MASK %v
  %above = load MASK, ptr %before.p, align 8
  %gone = or MASK %above, %bit
  %kept = xor MASK %gone, -1
  %fewer = and MASK %links, %kept
  %left = select i1 %any, MASK -1, MASK %fewer
  %is.cut = icmp eq MASK %left, 0
  br i1 %is.cut, label %take, label %leave
leave:
  store MASK %inside, ptr %inside.p, align 8
  store MASK %rest, ptr %undecided.p, align 8
  %more = or MASK %inputs, %bit
  store MASK %more, ptr %inputs.p, align 8
  store MASK %left, ptr %links.p, align 8
  store i64 %d, ptr %depth
  br label %take

take:
  %users.p = getelementptr MASK, ptr %users, MASK %v
  %uses = load MASK, ptr %users.p, align 8
  %not.inside = xor MASK %inside, -1
  %open.uses = and MASK %uses, %not.inside
  %is.used = icmp ne MASK %open.uses, 0
  br i1 %is.used, label %next, label %grow
grow:
  %linked = and MASK %links, %bit
  %is.linked = icmp ne MASK %linked, 0
  %links.1 = select i1 %is.linked, MASK -1, MASK %links
  %grown = or MASK %inside, %bit
  %operands.p = getelementptr MASK, ptr %operands, MASK %v
  %reads = load MASK, ptr %operands.p, align 8
  %known = or MASK %grown, %inputs
  %unknown = xor MASK %known, -1
  %new = and MASK %reads, %unknown
  %new.open = and MASK %new, %closed
  %not.closed = xor MASK %closed, -1
  %new.inputs = and MASK %new, %not.closed
  %undecided.1 = or MASK %rest, %new.open
  %inputs.1 = or MASK %inputs, %new.inputs
  %top = load i64, ptr %depth
  %top.at = shl i64 %top, 2
  %top.inside = getelementptr MASK, ptr %stack, i64 %top.at
  %top.undecided = getelementptr MASK, ptr %top.inside, i64 1
  %top.inputs = getelementptr MASK, ptr %top.inside, i64 2
  %top.links = getelementptr MASK, ptr %top.inside, i64 3
  store MASK %grown, ptr %top.inside, align 8
  store MASK %undecided.1, ptr %top.undecided, align 8
  store MASK %inputs.1, ptr %top.inputs, align 8
  store MASK %links.1, ptr %top.links, align 8
  %top.1 = add i64 %top, 1
  store i64 %top.1, ptr %depth
  br label %next

done:
  %d.end = load i64, ptr %depth
  %c.end = load i64, ptr %count
  %s.end = load i64, ptr %states
  store i64 %d.end, ptr %io
  store i64 %c.end, ptr %count.io
  store i64 %s.end, ptr %states.io
  ret void
}
""".replace("ROOM", str(_ROOM))


@cache
def _machine_code(width: int) -> tuple[Any, Any]:
    """What keeps the code alive, and the function for masks of `width` bits."""
    engine, address = machine_code(
        _TEXT.replace("MASK", f"i{width}").replace("LAST", f"{width - 1}")
    )
    return engine, ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 7)(address)


class _TooFar(Exception):
    """A walk left the part of the block that was renumbered."""


class _Walker:
    """The machine code for masks of one width, with its memory."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._bytes = width // 8
        self._run = _machine_code(width)[1]
        self._stack = ctypes.create_string_buffer(4 * (width + 2) * self._bytes)
        self._found = ctypes.create_string_buffer(2 * _ROOM * self._bytes)
        self._io = (ctypes.c_uint64 * 5)()

    def run(self, size: int, masks: list[int], states: int, budget: int) -> Iterator[list[int]]:
        """Masks inside and inputs in turn, each time there is no room for more.

        Args:
            size: Vertices.
            masks: Operands of each vertex, users of each, what lies before each; the closure, what
                may not be an input, most inputs, what is too far away; then the first entry of the
                stack.
            states: Visited so far; `states` afterwards.
            budget: Most states.

        Raises:
            _TooFar: The walk came to what is too far away.
        """
        step = self._bytes
        tables = array("B", self._packed(masks))
        at = tables.buffer_info()[0]
        ctypes.memmove(self._stack, at + (3 * size + 4) * step, 4 * step)
        self._io[0:5] = [1, 0, states, budget, 0]
        places = [at, at + size * step, at + 2 * size * step, at + 3 * size * step]
        while self._io[0]:
            self._run(*places, self._stack, self._found, self._io)
            if self._io[4]:
                raise _TooFar
            yield self._unpacked(ctypes.string_at(self._found, 2 * self._io[1] * step))
            if self._io[2] > budget:
                return

    @property
    def states(self) -> int:
        """Visited so far."""
        return self._io[2]

    def _packed(self, masks: list[int]) -> bytes:
        if self.width == 64:
            return array("Q", masks).tobytes()
        return b"".join([m.to_bytes(self._bytes, "little") for m in masks])

    def _unpacked(self, raw: bytes) -> list[int]:
        if self.width == 64:
            return array("Q", raw).tolist()
        step = self._bytes
        return [int.from_bytes(raw[k : k + step], "little") for k in range(0, len(raw), step)]


class NativeSearch:
    """Searches in one block."""

    def __init__(self, graph: Graph) -> None:
        """List the neighbours of each vertex."""
        self._operands = [members(mask) for mask in graph.operand_masks]
        self._users = [members(mask) for mask in graph.user_masks]
        self._ancestors = graph.ancestors
        self._walkers: dict[int, _Walker] = {}
        self.states = 0
        self.is_spent = False

    @staticmethod
    def is_available() -> bool:
        """Whether there is a compiler."""
        return is_available()

    def search(
        self,
        inner: list[int],
        outputs: tuple[int, ...],
        barred: int,
        links: Set[int],
        limit: int,
        budget: int,
    ) -> list[tuple[int, int]] | None:
        """(inside, inputs) of each subgraph, as masks of the block; None where it is too wide.

        Args:
            inner: What may be inside, ascending.
            outputs: The outputs.
            barred: Mask of what may not be an input.
            links: Of which one must be inside; empty for none.
            limit: Most inputs.
            budget: States to visit at most, over all searches; `is_spent` tells that they were.
        """
        near = inner[-NEAREST:]
        window = sorted({*near, *[o for v in near for o in self._operands[v]]})
        width = next((w for w in WIDTHS if len(window) < w), None)
        if width is None or min(outputs) < near[0]:
            return None
        if width not in self._walkers:
            self._walkers[width] = _Walker(width)
        walker, states = self._walkers[width], self.states
        far = inner[: -len(near)]
        try:
            return list(
                self._walk(walker, window, near, far, outputs, barred, links, limit, budget)
            )
        except _TooFar:
            self.states = states
            return None

    def _walk(
        self,
        walker: _Walker,
        window: list[int],
        inner: list[int],
        far: list[int],
        outputs: tuple[int, ...],
        barred: int,
        links: Set[int],
        limit: int,
        budget: int,
    ) -> Iterator[tuple[int, int]]:
        outside = 1 << walker.width - 1
        index = {v: 1 << i for i, v in enumerate(window)}
        size = len(window)
        operands, users, before = [0] * size, [0] * size, [0] * size
        inside = sum([index[o] for o in outputs])
        closed = first_inputs = 0
        for v in inner:
            bit = index[v]
            i = bit.bit_length() - 1
            closed |= bit
            reads = uses = 0
            for o in self._operands[v]:
                reads |= index[o]
            for u in self._users[v]:
                uses |= index.get(u, outside)
            operands[i], users[i] = reads, uses
            if bit & inside:
                first_inputs |= reads
        first_inputs &= ~inside
        no_inputs = sum([index[v] for v in window if barred >> v & 1]) if barred else 0
        too_far = sum([index[v] for v in far if v in index]) if far else 0
        alive = (outside << 1) - 1
        if links and links.isdisjoint(outputs):
            alive = sum({index.get(v, outside) for v in links})
            self._look_back(index, inner, operands, before)
            if alive & outside:  # stands for all that are too far, as long as any is left
                distant = mask_of(v for v in links if v not in index)
                for i, v in enumerate(window):
                    if not distant & ~self._ancestors[v]:
                        before[i] |= outside
        masks = [*operands, *users, *before, closed, no_inputs, limit, too_far]
        masks += [inside, first_inputs & closed, first_inputs & ~closed, alive]
        first = window[0]
        runs: list[tuple[int, int]] = []
        for found in walker.run(size, masks, self.states, budget):
            runs = runs or _runs(window)
            pairs = iter(found)
            for within, inputs in zip(pairs, pairs, strict=True):
                yield _mask(within, runs) << first, _mask(inputs, runs) << first
        self.states = walker.states
        self.is_spent = self.states > budget

    def _look_back(
        self, index: dict[int, int], inner: list[int], operands: list[int], before: list[int]
    ) -> None:
        """Fill in what lies before each vertex."""
        above: dict[int, int] = {}
        for v in inner:
            i = index[v].bit_length() - 1
            over = operands[i]
            for o in self._operands[v]:
                over |= above.get(o, 0)
            above[v] = before[i] = over


def _runs(window: list[int]) -> list[tuple[int, int]]:
    """Stretches of consecutive vertices: their bits in the machine word, and how far they move.

    Moved, they are bits of the block counted from the window's first vertex.
    """
    runs: dict[int, int] = {}
    for i, v in enumerate(window):
        shift = v - window[0] - i
        runs[shift] = runs.get(shift, 0) | 1 << i
    return list(zip(runs.values(), runs, strict=True))


def _mask(local: int, runs: list[tuple[int, int]]) -> int:
    mask = 0
    for bits, shift in runs:
        part = local & bits
        if part:
            mask |= part << shift
    return mask

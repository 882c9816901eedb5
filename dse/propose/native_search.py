"""Native search: the search below fixed outputs as machine code, for windows of 63 vertices.

The same walk as `dse.propose.enumeration` takes, in the same order, where no set may be split. The
vertices of one search, what the outputs close over and the operands of these, are renumbered as
bits of one machine word; bit 63 stands for every user outside. Wider searches are left to Python.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from functools import cache
from typing import Any

from dse.propose.graph import Graph, members
from isa.native import is_available, machine_code

WIDEST = 63
"""Most vertices of a search."""
_ROOM = 4096
"""Subgraphs after which the machine code hands over what it found."""
_OUTSIDE = 1 << WIDEST

_TEXT = """
declare i64 @llvm.ctpop.i64(i64)
declare i64 @llvm.ctlz.i64(i64, i1)

; stack: inside, undecided, inputs, links each; found: inside, inputs each
; io: entries on the stack, subgraphs found, states visited, states allowed
define void @run(ptr %operands, ptr %users, ptr %before, i64 %closed, i64 %barred, i64 %limit,
                 ptr %stack, ptr %found, ptr %io) {
entry:
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
  %inside.p = getelementptr i64, ptr %stack, i64 %at
  %undecided.p = getelementptr i64, ptr %inside.p, i64 1
  %inputs.p = getelementptr i64, ptr %inside.p, i64 2
  %links.p = getelementptr i64, ptr %inside.p, i64 3
  %inside = load i64, ptr %inside.p
  %undecided = load i64, ptr %undecided.p
  %inputs = load i64, ptr %inputs.p
  %links = load i64, ptr %links.p
  %ports = call i64 @llvm.ctpop.i64(i64 %inputs)
  %is.many = icmp ugt i64 %ports, %limit
  br i1 %is.many, label %next, label %allowed
allowed:
  %bad = and i64 %inputs, %barred
  %is.bad = icmp ne i64 %bad, 0
  br i1 %is.bad, label %next, label %open
open:
  %any = icmp eq i64 %links, -1
  %is.decided = icmp eq i64 %undecided, 0
  br i1 %is.decided, label %leaf, label %branch

leaf:
  br i1 %any, label %emit, label %next
emit:
  %place = shl i64 %c, 1
  %found.inside = getelementptr i64, ptr %found, i64 %place
  %found.inputs = getelementptr i64, ptr %found.inside, i64 1
  store i64 %inside, ptr %found.inside
  store i64 %inputs, ptr %found.inputs
  %c.1 = add i64 %c, 1
  store i64 %c.1, ptr %count
  br label %next

branch:
  %zeros = call i64 @llvm.ctlz.i64(i64 %undecided, i1 true)
  %v = sub i64 63, %zeros
  %bit = shl i64 1, %v
  %rest = xor i64 %undecided, %bit
  %before.p = getelementptr i64, ptr %before, i64 %v
  %above = load i64, ptr %before.p
  %gone = or i64 %above, %bit
  %kept = xor i64 %gone, -1
  %fewer = and i64 %links, %kept
  %left = select i1 %any, i64 -1, i64 %fewer
  %is.cut = icmp eq i64 %left, 0
  br i1 %is.cut, label %take, label %leave
leave:
  store i64 %inside, ptr %inside.p
  store i64 %rest, ptr %undecided.p
  %more = or i64 %inputs, %bit
  store i64 %more, ptr %inputs.p
  store i64 %left, ptr %links.p
  store i64 %d, ptr %depth
  br label %take

take:
  %users.p = getelementptr i64, ptr %users, i64 %v
  %uses = load i64, ptr %users.p
  %not.inside = xor i64 %inside, -1
  %open.uses = and i64 %uses, %not.inside
  %is.used = icmp ne i64 %open.uses, 0
  br i1 %is.used, label %next, label %grow
grow:
  %linked = and i64 %links, %bit
  %is.linked = icmp ne i64 %linked, 0
  %links.1 = select i1 %is.linked, i64 -1, i64 %links
  %grown = or i64 %inside, %bit
  %operands.p = getelementptr i64, ptr %operands, i64 %v
  %reads = load i64, ptr %operands.p
  %known = or i64 %grown, %inputs
  %unknown = xor i64 %known, -1
  %new = and i64 %reads, %unknown
  %new.open = and i64 %new, %closed
  %not.closed = xor i64 %closed, -1
  %new.inputs = and i64 %new, %not.closed
  %undecided.1 = or i64 %rest, %new.open
  %inputs.1 = or i64 %inputs, %new.inputs
  %top = load i64, ptr %depth
  %top.at = shl i64 %top, 2
  %top.inside = getelementptr i64, ptr %stack, i64 %top.at
  %top.undecided = getelementptr i64, ptr %top.inside, i64 1
  %top.inputs = getelementptr i64, ptr %top.inside, i64 2
  %top.links = getelementptr i64, ptr %top.inside, i64 3
  store i64 %grown, ptr %top.inside
  store i64 %undecided.1, ptr %top.undecided
  store i64 %inputs.1, ptr %top.inputs
  store i64 %links.1, ptr %top.links
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
def _machine_code() -> tuple[Any, Any]:
    """What keeps the code alive, and the function."""
    engine, address = machine_code(_TEXT)
    words = ctypes.POINTER(ctypes.c_uint64)
    number = ctypes.c_uint64
    signature = ctypes.CFUNCTYPE(
        None, words, words, words, number, number, number, words, words, words
    )
    return engine, signature(address)


class NativeSearch:
    """Searches in one block."""

    def __init__(self, graph: Graph) -> None:
        """Compile, at the first block, and list the neighbours of each vertex."""
        self._run = _machine_code()[1]
        self._operands = [members(mask) for mask in graph.operand_masks]
        self._users = [members(mask) for mask in graph.user_masks]
        vector, stack = ctypes.c_uint64 * 64, ctypes.c_uint64 * (4 * 66)
        self._local = (vector(), vector(), vector())
        self._stack = stack()
        self._found = (ctypes.c_uint64 * (2 * _ROOM))()
        self._io = (ctypes.c_uint64 * 4)()
        self.states = 0
        self.is_spent = False

    @staticmethod
    def is_available() -> bool:
        """Whether there is a compiler."""
        return is_available()

    def search(
        self, outputs: int, closed: int, barred: int, links: int, limit: int, budget: int
    ) -> Iterator[tuple[int, int]] | None:
        """(inside, inputs) of each subgraph, as masks of the block; None where it is too wide.

        Args:
            outputs: Mask of the outputs.
            closed: Mask of what may be inside.
            barred: Mask of what may not be an input.
            links: Mask of which one must be inside; 0 for none.
            limit: Most inputs.
            budget: States to visit at most, over all searches; `is_spent` tells that they were.
        """
        inner = members(closed)
        window = sorted({*inner, *(o for v in inner for o in self._operands[v])})
        if len(window) > WIDEST:
            return None
        return self._walk(window, inner, outputs, barred, links, limit, budget)

    def _walk(
        self,
        window: list[int],
        inner: list[int],
        outputs: int,
        barred: int,
        links: int,
        limit: int,
        budget: int,
    ) -> Iterator[tuple[int, int]]:
        index = {v: 1 << i for i, v in enumerate(window)}
        closed, first_inputs, undecided = 0, 0, 0
        for v in inner:
            closed |= index[v]
        operands, users, before = self._local
        above: dict[int, int] = {}
        inside = sum(index[o] for o in members(outputs))
        for v in inner:
            i = index[v].bit_length() - 1
            reads = over = 0
            for o in self._operands[v]:
                reads |= index[o]
                over |= above.get(o, 0) | index[o]
            above[v] = before[i] = over
            operands[i] = reads
            uses = 0
            for u in self._users[v]:
                uses |= index.get(u, _OUTSIDE)
            users[i] = uses
            if index[v] & inside:
                new = reads & ~inside
                undecided |= new & closed
                first_inputs |= new & ~closed
        no_inputs, joints = _within(barred, window), _within(links, window)
        alive = joints if joints and not joints & inside else (1 << 64) - 1
        self._stack[0:4] = [inside, undecided & ~inside, first_inputs & ~inside, alive]
        self._io[0:4] = [1, 0, self.states, budget]
        first, runs = window[0], _runs(window)
        while self._io[0]:
            self._run(
                operands, users, before, closed, no_inputs, limit,
                self._stack, self._found, self._io,
            )  # fmt: skip
            self.states = self._io[2]
            for k in range(self._io[1]):
                inside, inputs = self._found[2 * k], self._found[2 * k + 1]
                yield _mask(inside, runs) << first, _mask(inputs, runs) << first
            if self.states > budget:
                self.is_spent = True
                return


def _within(mask: int, window: list[int]) -> int:
    """Which of the window's vertices a mask of the block holds."""
    if not mask:
        return 0
    first = window[0]
    near = mask >> first & (1 << window[-1] - first + 1) - 1
    return sum(1 << i for i, v in enumerate(window) if near >> v - first & 1) if near else 0


def _runs(window: list[int]) -> list[tuple[int, int]]:
    """Stretches of consecutive vertices: their bits in the machine word, and how far they move.

    Moved, they are bits of the block counted from the window's first vertex.
    """
    runs: dict[int, int] = {}
    for i, v in enumerate(window):
        shift = v - window[0] - i
        runs[shift] = runs.get(shift, 0) | 1 << i
    return [(bits, shift) for shift, bits in runs.items()]


def _mask(local: int, runs: list[tuple[int, int]]) -> int:
    mask = 0
    for bits, shift in runs:
        mask |= (local & bits) << shift
    return mask

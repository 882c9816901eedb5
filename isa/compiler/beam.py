"""Beam: orders that keep few values alive, by a search that pursues several beginnings at once.

What frees at least as many values as it makes is done at once, as that never raises the pressure
later; there is a choice only where all that is ready would raise it. Beginnings that have done the
same are one, and of the others those of least pressure are pursued.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, eq=False, slots=True)
class Block:
    """Things to be ordered, by number; sets of them are masks.

    Attributes:
        before: What must come first.
        after: The same from the other side.
        reads: Values that it reads.
        makes: How many values it brings to life.
        readers: Who reads a value; one number beyond all stands for the end of the block.
        live: Values alive at the start.
    """

    before: Sequence[int]
    after: Sequence[Sequence[int]]
    reads: Sequence[Sequence[int]]
    makes: Sequence[int]
    readers: Mapping[int, int]
    live: int

    def growth(self, number: int, done: int) -> int:
        """By how many values more are alive behind it."""
        growth, others = self.makes[number], ~(done | 1 << number)
        for v in self.reads[number]:
            if not self.readers[v] & others:
                growth -= 1
        return growth

    def near(self, number: int) -> int:
        """Those that it may make ready, or whose growth it may change: readers of what it reads."""
        mask = 0
        for i in self.after[number]:
            mask |= 1 << i
        for v in self.reads[number]:
            mask |= self.readers[v]
        return mask


@dataclass(frozen=True, eq=False, slots=True)
class _Beginning:
    """The beginning of an order; `path` is a list linked from its end."""

    done: int
    ready: tuple[int, ...]
    live: int
    peak: int
    path: tuple[object, ...]

    def order(self) -> list[int]:
        found: list[int] = []
        path = self.path
        while path:
            path, number = path  # type: ignore[assignment]
            found.append(number)  # type: ignore[arg-type]
        return found[::-1]


def greedy(block: Block) -> list[int]:
    """What raises the pressure least comes first; of equals what has the smaller number."""
    waiting = [before.bit_count() for before in block.before]
    remaining = {v: readers.bit_count() for v, readers in block.readers.items()}
    readers: dict[int, list[int]] = {}
    for number, values in enumerate(block.reads):
        for v in values:
            readers.setdefault(v, []).append(number)

    def grow(number: int) -> int:
        return block.makes[number] - sum(remaining[v] == 1 for v in block.reads[number])

    growth = {number: grow(number) for number, count in enumerate(waiting) if not count}
    heap = sorted((g, number) for number, g in growth.items())
    order: list[int] = []
    while heap:
        g, number = heapq.heappop(heap)
        if growth.get(number) != g:
            continue
        del growth[number]
        order.append(number)
        changed: dict[int, None] = {}
        for v in block.reads[number]:
            remaining[v] -= 1
            if remaining[v] == 1:
                changed |= dict.fromkeys(r for r in readers[v] if r in growth)
        for following in block.after[number]:
            waiting[following] -= 1
            if not waiting[following]:
                changed[following] = None
        for following in changed:
            growth[following] = grow(following)
            heapq.heappush(heap, (growth[following], following))
    return order


def beam(
    block: Block, width: int, enough: int, below: float = math.inf
) -> tuple[list[int] | None, bool]:
    """An order of a block, and whether it is proven that none has less pressure.

    Of equals what has the smaller number comes first. The proof is that no beginning was left out.

    Args:
        block: What is to be ordered.
        width: Beginnings pursued at once.
        enough: Most values alive at once that cost nothing.
        below: Only orders of less pressure are looked for.

    Returns:
        The order, None if none was found; whether none has less pressure than it, or than `below`.
    """
    ready = tuple(i for i, before in enumerate(block.before) if not before)
    near = [block.near(number) for number in range(len(block.before))]
    everything = (1 << len(near)) - 1
    start = _rushed(block, _Beginning(0, ready, block.live, block.live, ()), everything, near)
    states = [start] if start.peak < below else []
    complete: list[_Beginning] = []
    is_proven = True
    while states:
        found: dict[int, tuple[tuple[int, int, int], _Beginning]] = {}
        for state in states:
            if not state.ready:
                complete.append(state)
            for number in state.ready:
                following = _rushed(block, _with(block, state, number), near[number], near)
                key = (max(following.peak, enough), following.live, number)
                known = found.get(following.done)
                if key[0] < below and (known is None or key < known[0]):
                    found[following.done] = key, following
        is_proven &= len(found) <= width
        states = [s for _, s in sorted(found.values(), key=lambda f: f[0])[:width]]
    best = min(complete, key=lambda s: s.peak, default=None)
    return best.order() if best else None, is_proven


def _with(block: Block, state: _Beginning, number: int) -> _Beginning:
    done = state.done | 1 << number
    ready = [i for i in state.ready if i != number]
    ready += [i for i in block.after[number] if not block.before[i] & ~done]
    live = state.live + block.growth(number, state.done)
    return _Beginning(done, tuple(ready), live, max(state.peak, live), (state.path, number))


def _rushed(block: Block, state: _Beginning, changed: int, near: Sequence[int]) -> _Beginning:
    """Do all that does not raise the pressure; what has not `changed` is known to raise it."""
    while True:
        for number in state.ready:
            if changed >> number & 1:
                if block.growth(number, state.done) <= 0:
                    state = _with(block, state, number)
                    changed |= near[number]
                    break
                changed ^= 1 << number
        else:
            return state

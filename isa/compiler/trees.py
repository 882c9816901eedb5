"""Trees: a region ordered tree by tree, which leaves a search few things to order.

A tree is an item with all that only it needs. Inside, the given order stays; the trees are put into
an order of little pressure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from isa.compiler.beam import Block, beam, greedy
from isa.compiler.exact_order import exact_order
from isa.compiler.operations import FIRST_VALUE, Loop, Operation

Item = Operation | Loop


class Trees:
    """The trees of a region.

    Attributes:
        members: Items of each tree, by their place in the given order.
        block: The trees as things to be ordered.
    """

    def __init__(
        self,
        order: Sequence[Item],
        before: Mapping[Item, Iterable[Item]],
        reads: Mapping[Item, Iterable[int]],
        results: Iterable[int],
        *,
        single: bool = False,
    ) -> None:
        """Find the trees.

        Args:
            order: Items of the region; other orders are compared with it.
            before: What must come before an item.
            reads: Values that an item reads.
            results: Values that the end of the region needs.
            single: Every item is a tree of its own.
        """
        self._order = order
        self._place = {item: i for i, item in enumerate(order)}
        self._before = [
            {self._place[b] for b in before[item] if b in self._place} for item in order
        ]
        self._constants = {i.result for i in order if isinstance(i, Operation) and i.is_constant}
        self._reads = [{v for v in reads[i] if v not in self._constants} for i in order]
        self._results = {v for v in results if v >= FIRST_VALUE and v not in self._constants}
        roots = list(range(len(order))) if single else self._roots()
        self._number = {root: n for n, root in enumerate(sorted(set(roots)))}
        self._tree = [self._number[root] for root in roots]
        self.members: list[list[int]] = [[] for _ in self._number]
        for i, tree in enumerate(self._tree):
            self.members[tree].append(i)
        self.block = self._block()

    def greedy(self) -> list[Item]:
        """The items with what frees values first."""
        return self._items(greedy(self.block))

    def beam(
        self, width: int, enough: int, below: float = math.inf
    ) -> tuple[list[Item] | None, bool]:
        """The items in the order that a beam finds, and whether it is proven, see there."""
        order, is_proven = beam(self.block, width, enough, below)
        return None if order is None else self._items(order), is_proven

    def exact(self, enough: int) -> tuple[list[Item], bool]:
        """The items in an order of least pressure, and whether it is proven, see `exact_order`."""
        makers = {v: n for n, root in enumerate(self._number) for v in _made(self._order[root])}
        known = range(len(self._number))  # each tree where its root stands in the given order
        order, is_proven = exact_order(self.block, makers, known, enough)
        return self._items(order), is_proven

    def _items(self, trees: Iterable[int]) -> list[Item]:
        return [self._order[i] for tree in trees for i in self.members[tree]]

    def _roots(self) -> list[int]:
        """The root of the tree of each item."""
        after: list[list[int]] = [[] for _ in self._order]
        for i, before in enumerate(self._before):
            for b in before:
                after[b].append(i)
        roots = list(range(len(self._order)))
        for i in reversed(roots):
            item = self._order[i]
            if isinstance(item, Loop) or item.is_effect or item.is_constant or len(after[i]) != 1:
                continue
            user = after[i][0]
            if item.result not in self._results and not isinstance(self._order[user], Loop):
                roots[i] = roots[user]
        return roots

    def _block(self) -> Block:
        count = len(self._number)
        before = [0] * count
        after: list[set[int]] = [set() for _ in range(count)]
        readers = dict.fromkeys(self._results, 1 << count)
        reads: list[set[int]] = [set() for _ in range(count)]
        inner = {self._result(i) for i in range(len(self._order)) if i not in self._number}
        for i, tree in enumerate(self._tree):
            for b in {self._tree[b] for b in self._before[i]} - {tree}:
                before[tree] |= 1 << b
                after[b].add(tree)
            for v in self._reads[i] - inner:
                readers[v] = readers.get(v, 0) | 1 << tree
                reads[tree].add(v)
        defined = {v for item in self._order for v in _made(item)}
        return Block(
            before,
            [sorted(a) for a in after],
            [sorted(r) for r in reads],
            [sum(v in readers for v in _made(self._order[root])) for root in self._number],
            readers,
            sum(v not in defined for v in readers),
        )

    def _result(self, place: int) -> int | None:
        item = self._order[place]
        return item.result if isinstance(item, Operation) else None


def _made(item: Item) -> list[int]:
    """Values that an item brings to life."""
    if isinstance(item, Loop):
        return [c.output for c in item.carried]
    return [] if item.result is None else [item.result]

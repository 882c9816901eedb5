"""Schedule: bring the items of each region into order, register pressure first.

The order is depth first from the effects in the kernel's order, operands that need more registers
first; what nothing needs is dropped. Where registers run short it is the best of several orders,
among them those of `isa.compiler.trees`. Then latency: where an operand would not be ready in time,
a later operation that is ready is drawn forward, as far as a window and the registers allow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from isa.compiler.memory_order import MemoryOrder, touched
from isa.compiler.operations import FIRST_VALUE, Loop, Operation, Region
from isa.compiler.pools import SAVED, TEMPORARY
from isa.compiler.trees import Trees
from isa.compiler.waits import Waits

Item = Operation | Loop


@dataclass(frozen=True)
class Effort:
    """How hard an order of little pressure is looked for.

    Attributes:
        width: Beginnings that a search among trees pursues at once.
        most_trees: Trees of a region up to which it is made.
        beginnings: Of a search among the single items of a region, over all its steps; 0 for none.
        most_solved: Items of a region up to which a constraint solver orders it.
    """

    width: int
    most_trees: int
    beginnings: int
    most_solved: int = 0


_SEARCH = (Effort(4, 400, 0), Effort(16, 1000, 0), Effort(16, 1000, 15_000))
EFFORTS = {
    "default": _SEARCH[:1],
    "search": _SEARCH,
    "exact": (*_SEARCH, Effort(16, 1000, 15_000, 120)),
}
"""By name; of several the program that takes the fewest instructions and waits is taken."""
WINDOW = 12
"""Items ahead among which one is looked for that fills a wait."""


def schedule(
    region: Region, waits: Waits, effort: Effort = EFFORTS["default"][0]
) -> tuple[int, int]:
    """Order a region and the loops in it; their items are replaced.

    Returns:
        How many regions there are, and for how many it is proven that before waits were filled no
        order needed fewer registers, beyond those that cost nothing.
    """
    regions = proven = 0
    for item in region.items:
        if isinstance(item, Loop):
            inner, known = schedule(item.body, waits, effort)
            regions, proven = regions + inner, proven + known
    scheduler = _Scheduler(region)
    region.items, is_proven = scheduler.order(effort)
    if waits.load or waits.own:
        pressure = scheduler.pressure(region.items)
        registers = min(max(pressure, len(TEMPORARY)), len(TEMPORARY) + len(SAVED) - 1)
        region.items = _fill_waits(region, waits, registers)
    return regions + 1, proven + is_proven


def _results(region: Region) -> list[int]:
    """Values that the end of a region needs."""
    if region.loop is None:
        return []
    results = [c.result for c in region.loop.carried]
    if region.loop.branch:
        results += [v for _, v in region.loop.branch.sources]
    return results


class _Scheduler:
    def __init__(self, region: Region) -> None:
        self.region = region
        self.defined: dict[int, Item] = {}
        self.reads: dict[Item, list[int]] = {}
        for item in region.items:
            if isinstance(item, Loop):
                for c in item.carried:
                    self.defined[c.output] = item
                self.reads[item] = sorted(item.values_read())
            else:
                if item.result is not None:
                    self.defined[item.result] = item
                self.reads[item] = [v for _, v in item.sources if v >= FIRST_VALUE]
        self.uses: dict[int, int] = {}
        for values in self.reads.values():
            for v in values:
                self.uses[v] = self.uses.get(v, 0) + 1
        self.before: dict[Item, list[Item]] = {}
        for item, values in self.reads.items():
            found = [self.defined[v] for v in values if v in self.defined]
            self.before[item] = list(dict.fromkeys(found))
        self._order_effects()
        self._order_increments()

    def _order_effects(self) -> None:
        """Conflicting accesses, and operations on the same state, keep the kernel's order."""
        effects = [(item, *touched(item)) for item in self.region.items]
        effects.sort(key=lambda e: e[0].order)
        memory = MemoryOrder()
        written: dict[str, Item] = {}  # state: the last that wrote it
        readers: dict[str, list[Item]] = {}  # and who read it since
        for item, accesses, state in effects:
            before = self.before[item]
            for access in accesses:
                before += [o for o in memory.add(item, access) if o is not item]
            for name, writes in state:
                if name in written and written[name] is not item:
                    before.append(written[name])
                if writes:
                    before += [r for r in readers.pop(name, []) if r is not item]
                    written[name] = item
                else:
                    readers.setdefault(name, []).append(item)

    def _order_increments(self) -> None:
        """What replaces a carried value comes after the reads of it, if it reads it itself."""
        if self.region.loop is None:
            return
        readers: dict[int, list[Item]] = {}
        for item, values in self.reads.items():
            for v in values:
                readers.setdefault(v, []).append(item)
        for c in self.region.loop.carried:
            update = self.defined.get(c.result)
            if not isinstance(update, Operation) or len(update.sources) != 1:
                continue
            if c.parameter != update.sources[0][1] or update.memory is not None:
                continue
            others = [r for r in readers.get(c.parameter, []) if r is not update]
            below = self._reachable_from(others)
            if update not in below:
                self.before[update] += others

    def _reachable_from(self, items: Iterable[Item]) -> set[Item]:
        """Items that must come before any of these."""
        seen: set[Item] = set()
        stack = list(items)
        while stack:
            for item in self.before[stack.pop()]:
                if item not in seen:
                    seen.add(item)
                    stack.append(item)
        return seen

    def _sinks(self) -> list[Item]:
        effects = [i for i in self.region.items if isinstance(i, Loop) or i.is_effect]
        effects.sort(key=lambda i: i.order)
        last = [self.defined[v] for v in _results(self.region) if v in self.defined]
        return list(dict.fromkeys([*effects, *last]))

    def order(self, effort: Effort) -> tuple[list[Item], bool]:
        """The best of several orders, and whether it is proven to have the least pressure.

        The best puts the fewest values aside, and of those has the least pressure.
        """
        need = self._needs()
        first = self._depth_first(lambda b: need[b])
        pressure = self.pressure(first)
        if pressure <= len(TEMPORARY):
            return first, True
        orders = [
            first,
            self._depth_first(lambda b: need[b][:1]),
            self._depth_first(lambda b: need[b][1:]),
            self._depth_first(lambda _: ()),
        ]
        orders.append(self._latest(first))
        trees = self._trees(first)
        orders += [trees.greedy(), self._trees(first, single=True).greedy()]
        if len(trees.members) <= effort.most_trees:
            orders.append(trees.beam(effort.width, len(TEMPORARY))[0] or first)
        best = min(orders, key=self._cost)
        best = min(best, self._trees(best, single=True).greedy(), key=self._cost)
        return self._proven(best, effort) if effort.beginnings else (best, False)

    def _proven(self, best: list[Item], effort: Effort) -> tuple[list[Item], bool]:
        """An order at least as good, and whether it is proven to have the least pressure.

        A beam among the single items comes first, then a constraint solver.
        """
        enough, is_proven = len(TEMPORARY), False
        for find in (self._by_beam, self._by_solver):
            if is_proven or self.pressure(best) <= enough:
                return best, True
            found, is_proven = find(best, effort)
            best = min(best, found or best, key=self._cost)
        return best, is_proven

    def _by_beam(self, best: list[Item], effort: Effort) -> tuple[list[Item] | None, bool]:
        width = max(2, effort.beginnings // len(best))
        trees = self._trees(best, single=True)
        return trees.beam(width, len(TEMPORARY), self.pressure(best))

    def _by_solver(self, best: list[Item], effort: Effort) -> tuple[list[Item] | None, bool]:
        if len(best) > effort.most_solved:
            return None, False
        return self._trees(best, single=True).exact(len(TEMPORARY))

    def _cost(self, order: list[Item]) -> tuple[int, int]:
        """Values put aside, then pressure."""
        pressure = self.pressure(order)
        return self._spilled(order, pressure), pressure

    def _latest(self, order: list[Item]) -> list[Item]:
        """Each item as late as its users allow: long sums that share terms grow side by side."""
        height = dict.fromkeys(order, 0)
        for item in reversed(order):
            for b in self.before[item]:
                if b in height:
                    height[b] = max(height[b], height[item] + 1)
        return sorted(order, key=lambda item: -height[item])

    def _trees(self, order: list[Item], *, single: bool = False) -> Trees:
        return Trees(order, self.before, self.reads, _results(self.region), single=single)

    def _depth_first(self, key: Callable[[Item], tuple[int, ...]]) -> list[Item]:
        """From the effects in the kernel's order; operands with the largest key first."""
        result: list[Item] = []
        state: dict[Item, int] = {}
        for sink in self._sinks():
            stack = [sink]
            while stack:
                item = stack[-1]
                if state.get(item) == 2:
                    stack.pop()
                    continue
                if state.get(item) == 1:
                    state[item] = 2
                    result.append(item)
                    stack.pop()
                    continue
                state[item] = 1
                todo = [b for b in self.before[item] if b not in state]
                todo.reverse()
                todo.sort(key=key)  # stable: of equals the first is on top of the stack
                stack += todo
        return result

    def pressure(self, order: list[Item]) -> int:
        """Most values live at once, constants left out, as they can be made again."""
        remaining = read_counts(self, order)
        constant = {i.result for i in order if isinstance(i, Operation) and i.is_constant}
        live = {v for v in remaining if v not in self.defined}
        most = len(live)
        for item in order:
            advance(self, item, remaining, live)
            if isinstance(item, Operation) and item.result in constant:
                live.discard(item.result or 0)
            most = max(most, len(live))
        return most

    def _spilled(self, order: list[Item], pressure: int) -> int:
        """Loads and stores of values put aside, estimated by furthest next use."""
        registers = len(TEMPORARY) + len(SAVED)
        if pressure <= registers:
            return 0
        uses: dict[int, list[int]] = {}
        for i, item in enumerate(order):
            for v in self.reads[item]:
                uses.setdefault(v, []).append(i)
        for v in _results(self.region):
            uses.setdefault(v, []).append(len(order))
        for places in uses.values():
            places.reverse()  # the next one is at the end
        held = {v for v in uses if v not in self.defined}
        stored: set[int] = set()
        cost = 0

        def shrink(keep: list[int]) -> None:
            nonlocal cost
            while len(held) > registers:
                far = max((v for v in held if v not in keep), key=lambda v: (uses[v][-1], v))
                held.discard(far)
                if far not in stored:
                    stored.add(far)
                    cost += 1

        shrink([])
        for item in order:
            for v in self.reads[item]:
                if v not in held:
                    held.add(v)
                    cost += 1
            shrink(self.reads[item] if isinstance(item, Operation) else [])
            for v in self.reads[item]:
                uses[v].pop()
                if not uses[v]:
                    held.discard(v)
            if isinstance(item, Loop):
                held |= {c.output for c in item.carried if uses.get(c.output)}
            elif item.result is not None and uses.get(item.result):
                held.add(item.result)
            shrink([])
        return cost

    def _needs(self) -> dict[Item, tuple[int, int]]:
        """Registers that evaluating an item takes, operands that others use too left out; depth."""
        need: dict[Item, tuple[int, int]] = {}
        for item in self._topological():
            depth = 1 + max((need[b][1] for b in self.before[item]), default=0)
            if isinstance(item, Loop):
                need[item] = (1, depth)
                continue
            single = [
                need[b][0]
                for b in self.before[item]
                if isinstance(b, Operation)
                and b.result is not None
                and self.uses.get(b.result, 0) == 1
            ]
            single.sort(reverse=True)
            need[item] = (max([1, *(n + i for i, n in enumerate(single))]), depth)
        return need

    def _topological(self) -> list[Item]:
        result: list[Item] = []
        done: dict[Item, int] = {}
        for start in self.region.items:
            stack = [start]
            while stack:
                item = stack[-1]
                if item in done:
                    stack.pop()
                    if done[item] == 0:
                        done[item] = 1
                        result.append(item)
                    continue
                done[item] = 0
                stack += [b for b in self.before[item] if b not in done]
        return result


def _fill_waits(region: Region, waits: Waits, registers: int) -> list[Item]:
    """Draw ready operations forward to where the core would wait, while registers are free."""
    scheduler = _Scheduler(region)
    pending = list(region.items)
    present = set(pending)
    before = {item: [b for b in scheduler.before[item] if b in present] for item in pending}
    remaining = read_counts(scheduler, pending)
    live = {v for v in remaining if v not in scheduler.defined}
    done: set[Item] = set()
    result: list[Item] = []
    ready_at: dict[int, int] = {}  # value: place from which it can be used without waiting

    def wait(item: Item) -> int:
        if isinstance(item, Loop):
            return 0
        place = len(result)
        return max((ready_at.get(v, 0) - place for _, v in item.sources), default=0)

    def fits(item: Operation) -> bool:
        freed = sum(1 for v in set(scheduler.reads[item]) if remaining[v] == 1 and v in live)
        return int(item.result is not None) <= freed or len(live) + 1 < registers

    while pending:
        chosen, shortest = 0, wait(pending[0])
        if shortest > 0:
            for i, item in enumerate(pending[1:WINDOW], 1):
                if isinstance(item, Loop):
                    break
                if any(b not in done for b in before[item]) or wait(item) >= shortest:
                    continue
                if fits(item):
                    chosen, shortest = i, wait(item)
                    if shortest <= 0:
                        break
        item = pending.pop(chosen)
        done.add(item)
        result.append(item)
        advance(scheduler, item, remaining, live)
        if isinstance(item, Operation) and item.result is not None:
            between = waits.after(item.instruction, is_load=item.is_load)
            ready_at[item.result] = len(result) + between
    return result


def read_counts(
    scheduler: _Scheduler, order: Iterable[Item], through: Sequence[int] = ()
) -> dict[int, int]:
    """How often each value is read, the end of the region included."""
    remaining: dict[int, int] = {}
    for item in order:
        for v in scheduler.reads[item]:
            remaining[v] = remaining.get(v, 0) + 1
    for v in [*_results(scheduler.region), *through]:
        if v >= FIRST_VALUE:
            remaining[v] = remaining.get(v, 0) + 1
    return remaining


def advance(scheduler: _Scheduler, item: Item, remaining: dict[int, int], live: set[int]) -> None:
    """Update what is live behind an item."""
    for v in scheduler.reads[item]:
        remaining[v] -= 1
        if not remaining[v]:
            live.discard(v)
    if isinstance(item, Loop):
        live |= {c.output for c in item.carried if remaining.get(c.output)}
    elif item.result is not None and remaining.get(item.result):
        live.add(item.result)


def max_pressure(region: Region, through: Sequence[int] = ()) -> int:
    """Most values live at once in a region's straight code and its loops."""
    scheduler = _Scheduler(region)
    remaining = read_counts(scheduler, region.items, through)
    live = {v for v in remaining if v not in scheduler.defined}
    most = len(live)
    for item in region.items:
        if isinstance(item, Loop):
            most = max(most, max_pressure(item.body, sorted(live)))
        advance(scheduler, item, remaining, live)
        most = max(most, len(live))
    return most

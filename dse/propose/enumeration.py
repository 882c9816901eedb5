"""Enumeration: all connected convex subgraphs of a block that fit given register ports.

The idea: fix the outputs first. Whatever a subgraph with given outputs contains beside them has
all its users inside, so it lies in their closure D, the vertices from which every path leads to an
output. Going through D from the last vertex to the first, all users of a vertex are decided before
it, so a vertex left out is an input for good and a branch with too many inputs ends at once.
Pairs of outputs are enumerated only where they can be connected: the second feeds the first's own
closure, or some vertex has all its users in the two closures. This is exact, and every subgraph
is met once. (Fixing the outputs first: Chen, Maskell, Sun, TCAD 2007; dominators: Bonzini, Pozzi,
DATE 2007.)
"""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterator, Set
from dataclasses import dataclass
from typing import NamedTuple

from dse.propose.graph import Graph, mask_of, members
from dse.propose.native_search import NativeSearch

DEFAULT_BUDGET = 5_000_000
"""Search states after which an enumeration gives up and says so."""


class PortError(ValueError):
    """Port limits that no instruction can have."""


class Subgraph(NamedTuple):
    """A set of operations that one instruction could execute.

    Attributes:
        inside: Mask of its operations.
        inputs: Mask of the values it reads, each through a port of its own.
        outputs: Mask of the values it produces.
        split: A set operator of which it takes only some operands; -1 if none.
        rest: Mask of the operands of `split` it does not take; they arrive combined through one
            more port, unless `is_partial`.
        is_partial: The result is that of the operands taken, to be combined with the rest later.
    """

    inside: int
    inputs: int
    outputs: int
    split: int = -1
    rest: int = 0
    is_partial: bool = False

    @property
    def ports(self) -> int:
        """Input ports it needs."""
        return self.inputs.bit_count() + (self.split >= 0 and not self.is_partial)


@dataclass(frozen=True)
class Enumeration:
    """Result of `enumerate_subgraphs`.

    Attributes:
        subgraphs: In a fixed order.
        truncated: The budget ran out, so that some are missing.
        states: Search states visited.
    """

    subgraphs: tuple[Subgraph, ...]
    truncated: bool
    states: int


def enumerate_subgraphs(
    graph: Graph,
    inputs: int = 2,
    outputs: int = 1,
    *,
    split: bool = True,
    budget: int = DEFAULT_BUDGET,
    is_native: bool = True,
) -> Enumeration:
    """Enumerate the connected convex subgraphs with at most these ports.

    Args:
        graph: The block.
        inputs: Register operands read, 1 to 8; constants are free.
        outputs: Results written, 1 or 2.
        split: Also take some operands of one set operator: the others come through one more port,
            or are left for later where the set is the result.
        budget: Search states to visit at most.
        is_native: Search as machine code where no set is split and llvmlite is installed.

    Raises:
        PortError: Limits out of range.
    """
    if not 1 <= inputs <= 8:
        raise PortError(f"inputs must be 1 to 8, not {inputs}")
    if outputs not in (1, 2):
        raise PortError(f"outputs must be 1 or 2, not {outputs}")
    search = _Search(graph, inputs, split, budget, is_native=is_native)
    is_collecting = gc.isenabled()
    gc.disable()  # hundreds of thousands of tuples without a cycle are found, and all are kept
    try:
        search.run(outputs)
    except _BudgetSpent:
        return Enumeration(tuple(search.found), True, search.states)
    finally:
        if is_collecting:
            gc.enable()
    return Enumeration(tuple(search.found), False, search.states)


def closure(graph: Graph, outputs: int) -> int:
    """Vertices from which every path leads to one of `outputs`, with the outputs themselves."""
    users, operands = graph.user_masks, graph.operand_masks
    closed = outputs
    barred = graph.leaves | graph.live_out
    pending = 0
    for o in members(outputs):
        pending |= operands[o]
    pending &= ~barred & ~closed
    while pending:
        v = pending.bit_length() - 1
        pending ^= 1 << v
        if users[v] & ~closed == 0:
            closed |= 1 << v
            pending |= operands[v] & ~barred & ~closed
    return closed


def max_miso(graph: Graph) -> tuple[Subgraph, ...]:
    """The maximal single-output subgraphs, which partition the block; linear time.

    For blocks too large to enumerate; port limits are not considered.
    """
    found = []
    todo = graph.operations
    while todo:
        root = todo.bit_length() - 1
        inside = closure(graph, 1 << root)
        inputs = 0
        for v in members(inside):
            inputs |= graph.operand_masks[v]
        found.append(Subgraph(inside, inputs & ~inside, 1 << root))
        todo &= ~inside
    return tuple(found)


def _pairs(graph: Graph, closures: dict[int, int]) -> Iterator[tuple[int, int, bool]]:
    """Pairs (later, earlier) of outputs that a connected convex subgraph can have.

    The last item says that the earlier feeds the later's closure.
    """
    operands, users = graph.operand_masks, graph.user_masks
    nested: set[tuple[int, int]] = set()
    for first, closed in closures.items():
        fed = 0
        for v in members(closed):
            fed |= operands[v]
        nested.update((first, second) for second in members(fed & ~closed & graph.operations))
    apart: set[tuple[int, int]] = set()
    owners: dict[int, list[int]] = {}
    for first, closed in closures.items():
        for v in members(closed):
            owners.setdefault(v, []).append(first)
    for v in members(graph.operations & ~graph.live_out):
        over = members(users[v])
        if len(over) < 2:
            continue
        for first in owners[over[0]]:
            left = users[v] & ~closures[first]
            if not left:
                continue
            for second in owners[left.bit_length() - 1]:
                if not left & ~closures[second]:
                    apart.add((max(first, second), min(first, second)))
    for first, second in sorted(nested, reverse=True):
        yield first, second, True
    for first, second in sorted(apart - nested, reverse=True):
        if not graph.descendants[second] >> first & 1:
            yield first, second, False


class _BudgetSpent(Exception):
    """The budget ran out."""


class _Search:
    """Depth-first search below fixed outputs."""

    def __init__(
        self, graph: Graph, limit: int, split: bool, budget: int, *, is_native: bool = True
    ) -> None:
        self.graph = graph
        self.limit = limit
        self.split = split
        self.budget = budget
        self.states = 0
        self.found: list[Subgraph] = []
        self.closures = {o: closure(graph, 1 << o) for o in members(graph.operations)}
        use_native = is_native and not split and NativeSearch.is_available()
        self._native = NativeSearch(graph) if use_native else None
        self.operands = [members(mask) for mask in graph.operand_masks]
        self.users = [members(mask) for mask in graph.user_masks]
        self.barred = frozenset(members(graph.leaves | graph.live_out))
        self._insides: dict[int, frozenset[int]] = {}
        self._fringes: dict[int, frozenset[int]] = {}

    def run(self, outputs: int) -> None:
        """All subgraphs with at most so many outputs, 1 or 2."""
        for first in reversed(members(self.graph.operations)):
            self.single(first)
        if outputs == 2:
            for first, second, is_nested in _pairs(self.graph, self.closures):
                self.pair(first, second, is_nested)

    def single(self, output: int) -> None:
        """All subgraphs with this one output."""
        closed = self.closures[output]
        if self._native is None or not self._searched((output,), members(closed), 0, frozenset()):
            self._search(1 << output, closed, 0, 0)
        if self.split and self.graph.can_split(output):
            self._search(1 << output, closed, 0, 0, is_partial=True)

    def pair(self, first: int, second: int, is_nested: bool) -> None:
        """All connected convex subgraphs with exactly these two outputs.

        They are connected if they hold one of `links`: a vertex that feeds both outputs, or, where
        the second feeds the first, a user of it.
        """
        graph = self.graph
        one, other = self.inside(first), self.inside(second)
        links: Set[int]
        closed = self._joint({*one, *other}, self.fringe(first) | self.fringe(second))
        if is_nested:  # whatever the second feeds outside must not come back as an input
            barred = graph.descendants[second]
            links = one.intersection(self.users[second])
        else:
            barred = 0
            links = closed - one - other
        outputs = (first, second)
        if self._native is None or not self._searched(outputs, sorted(closed), barred, links):
            self._search(mask_of(outputs), mask_of(closed), barred, mask_of(links))

    def inside(self, output: int) -> frozenset[int]:
        """The closure of one output as a set."""
        if output not in self._insides:
            self._insides[output] = frozenset(members(self.closures[output]))
        return self._insides[output]

    def fringe(self, output: int) -> frozenset[int]:
        """Operations that feed the closure of an output and are not in it."""
        if output not in self._fringes:
            inside = self.inside(output)
            near = {o for v in inside for o in self.operands[v]}
            self._fringes[output] = frozenset(near - inside - self.barred)
        return self._fringes[output]

    def _joint(self, whole: set[int], fringe: Collection[int]) -> set[int]:
        """The closure of two outputs, grown from the closures of each."""
        pending = list(fringe)
        while pending:
            v = pending.pop()
            if v not in whole and whole.issuperset(self.users[v]):
                whole.add(v)
                pending += [o for o in self.operands[v] if o not in self.barred]
        return whole

    def _search(
        self, outputs: int, closed: int, barred: int, links: int, *, is_partial: bool = False
    ) -> None:
        """Visit every choice among `closed`; `barred` vertices may not be inputs.

        One of `links` must be inside, unless there are none. A vertex can be inside only with all
        that lies between it and the outputs, so leaving one out rules out all before it. With
        `is_partial` only part of the output's operands is taken, and the rest uses no port.
        """
        graph, limit = self.graph, self.limit
        operands, users, before = graph.operand_masks, graph.user_masks, graph.ancestors
        constants = graph.constants
        starts = [] if is_partial else [(outputs, -1, 0)]
        if self.split:
            for o in members(outputs):
                starts += self._splits(outputs, o)
        rest_ports = 0 if is_partial else 1
        any_link = -1
        stack: list[tuple[int, int, int, int, int, int]] = []
        alive = links if links and not links & outputs else any_link
        for inside, split, rest in starts:
            hard = soft = undecided = 0
            for o in members(inside):
                new = operands[o] & ~inside
                undecided |= new & closed
                if o == split:
                    soft |= new & ~closed
                else:
                    hard |= new & ~closed
            stack.append((inside, undecided, hard, split, rest | soft & ~hard, alive))
        while stack:
            self.states += 1
            if self.states > self.budget:
                raise _BudgetSpent
            inside, undecided, hard, split, rest, alive = stack.pop()
            if hard.bit_count() + (rest_ports if rest else 0) > limit or (hard | rest) & barred:
                continue
            if not undecided:
                if alive == any_link:
                    self._emit(Subgraph(inside, hard, outputs, split, rest, is_partial))
                continue
            v = undecided.bit_length() - 1
            bit = 1 << v
            undecided ^= bit
            left = alive if alive == any_link else alive & ~bit & ~before[v]
            if left:
                if split >= 0 and users[v] & inside == 1 << split:
                    stack.append((inside, undecided, hard, split, rest | bit, left))
                else:
                    stack.append((inside, undecided, hard | bit, split, rest, left))
            if users[v] & ~inside:
                continue
            if alive != any_link and alive & bit:
                alive = any_link
            grown = inside | bit
            new = operands[v] & ~grown & ~hard
            outside = new & ~closed
            undecided |= new & closed
            stack.append((grown, undecided, hard | outside, split, rest & ~outside, alive))
            if split < 0 and self.split and graph.can_split(v):
                fixed = _operand_constants(graph, v, constants)
                for choice in sorted({0, fixed}):
                    stack.append((grown, undecided, hard, v, outside | choice, alive))

    def _searched(
        self, outputs: tuple[int, ...], closed: list[int], barred: int, links: Set[int]
    ) -> bool:
        """Search as machine code; False where there are too many vertices for it."""
        native = self._native
        assert native is not None
        native.states = self.states
        found = native.search(closed, outputs, barred, links, self.limit, self.budget)
        if found is None:
            return False
        mask = mask_of(outputs)
        self.found += [Subgraph(inside, inputs, mask) for inside, inputs in found]
        self.states = native.states
        if native.is_spent:
            raise _BudgetSpent
        return True

    def _splits(self, inside: int, output: int) -> list[tuple[int, int, int]]:
        graph = self.graph
        if not graph.can_split(output):
            return []
        fixed = _operand_constants(graph, output, graph.constants)
        return [(inside, output, choice) for choice in sorted({0, fixed})]

    def _emit(self, subgraph: Subgraph) -> None:
        """Keep a subgraph; a split set must have some operands inside and some left."""
        if subgraph.split >= 0:
            operands = 0
            for o in self.graph.vertices[subgraph.split].operands:
                operands |= 1 << o
            taken, left = (operands & ~subgraph.rest).bit_count(), subgraph.rest.bit_count()
            enough = (2, 1) if subgraph.is_partial else (1, 2)
            if taken < enough[0] or left < enough[1]:
                return
        self.found.append(subgraph)


def _operand_constants(graph: Graph, vertex: int, constants: int) -> int:
    mask = 0
    for o in graph.vertices[vertex].operands:
        mask |= 1 << o & constants
    return mask

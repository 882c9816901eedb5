"""Arithmetic on words of graph literals: adders, multipliers, comparisons and tables."""

from __future__ import annotations

from collections.abc import Sequence

from hw.graph import FALSE, TRUE, Adder, Graph

__all__ = ["add", "equal", "less_than", "multiply", "subtract", "table", "total"]

SHORTEST_CHAIN = 6
"""Bits from which an adder is a carry chain; shorter ones are LUTs. Of 1, 4, 6, 8 and 12 the best
agreement with yosys."""

Word = list[int]
"""Literals of a word, least significant bit first."""


def add(graph: Graph, a: Sequence[int], b: Sequence[int], carry: int = FALSE) -> Word:
    """Return a + b + carry, one bit longer than the operands (Brent-Kung prefix adder).

    R. P. Brent and H. T. Kung, "A regular layout for parallel adders", IEEE Trans. Computers
    C-31 (1982): depth 2 log2(n) - 1, which is about what a synthesiser makes of `+`.
    """
    n = len(a)
    propagate = [graph.xor(x, y) for x, y in zip(a, b, strict=True)]
    group_generate = [graph.and_(x, y) for x, y in zip(a, b, strict=True)]
    group_propagate = list(propagate)
    group_generate[0] = graph.or_(group_generate[0], graph.and_(propagate[0], carry))

    def combine(high: int, low: int) -> None:
        passed = graph.and_(group_propagate[high], group_generate[low])
        group_generate[high] = graph.or_(group_generate[high], passed)
        group_propagate[high] = graph.and_(group_propagate[high], group_propagate[low])

    distance = 1
    while distance < n:
        for high in range(2 * distance - 1, n, 2 * distance):
            combine(high, high - distance)
        distance *= 2
    distance //= 2
    while distance >= 1:
        for high in range(3 * distance - 1, n, 2 * distance):
            combine(high, high - distance)
        distance //= 2
    carries = [carry, *group_generate]
    sums = [*(graph.xor(propagate[i], carries[i]) for i in range(n)), carries[n]]
    own = {literal >> 1 for literal in propagate}
    results = tuple(x if graph.is_gate(x) and x >> 1 not in own else FALSE for x in sums)
    if n >= SHORTEST_CHAIN:
        taken = tuple(y if graph.is_gate(x) else x for x, y in zip(a, b, strict=True))
        graph.adders.append(Adder(tuple(propagate), taken, results))
    return sums


def subtract(graph: Graph, a: Sequence[int], b: Sequence[int]) -> Word:
    """Return a - b modulo 2^(n + 1): the top bit is 1 if a < b unsigned."""
    result = add(graph, a, [x ^ 1 for x in b], 1)
    result[-1] ^= 1
    return result


def less_than(graph: Graph, a: Sequence[int], b: Sequence[int]) -> int:
    """Return the literal of a < b, unsigned."""
    return subtract(graph, a, b)[-1]


def equal(graph: Graph, a: Sequence[int], b: Sequence[int]) -> int:
    """Return the literal of a == b, as a balanced tree."""
    level = [graph.xor(x, y) ^ 1 for x, y in zip(a, b, strict=True)]
    while len(level) > 1:
        pairs = [graph.and_(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = [*pairs, *(level[-1:] if len(level) % 2 else [])]
    return level[0]


def multiply(graph: Graph, a: Sequence[int], b: Sequence[int]) -> Word:
    """Return a * b, as long as both operands together (Dadda tree, then a prefix adder).

    L. Dadda, "Some schemes for parallel multipliers", Alta Frequenza 34 (1965): the columns of
    partial products are cut to heights ..., 9, 6, 4, 3, 2, each with as few adders as possible.
    """
    n = len(a) + len(b)
    columns: list[Word] = [[] for _ in range(n)]
    _add_product(graph, columns, a, b)
    return _added(graph, columns)


def total(
    graph: Graph,
    words: Sequence[tuple[Sequence[int], bool]],
    products: Sequence[tuple[Sequence[int], Sequence[int]]],
    width: int,
) -> Word:
    """Return the sum of words and products modulo 2^`width`; a word with True is taken away.

    One carry-save tree for all and one prefix adder at its end.
    """
    columns: list[Word] = [[] for _ in range(width)]
    constant = 0
    for word, negative in words:
        # -x is ~x + 1; bits that are constant are added up here.
        constant += negative
        for i in range(width):
            x = (word[i] if i < len(word) else FALSE) ^ negative
            if x in (FALSE, TRUE):
                constant += x << i
            else:
                columns[i].append(x)
    for a, b in products:
        _add_product(graph, columns, a, b)
    for i, column in enumerate(columns):
        if constant >> i & 1:
            column.append(TRUE)
    return _added(graph, columns)


def _add_product(graph: Graph, columns: list[Word], a: Sequence[int], b: Sequence[int]) -> None:
    """Add the partial products of a * b to the columns that there are."""
    for i, x in enumerate(a):
        for column, y in zip(columns[i:], b, strict=False):
            product = graph.and_(x, y)
            if product != FALSE:
                column.append(product)


def _added(graph: Graph, columns: list[Word]) -> Word:
    """Return the sum of the columns, modulo 2^len(columns)."""
    heights = [2]
    while heights[-1] * 3 // 2 < max(map(len, columns)):
        heights.append(heights[-1] * 3 // 2)
    for height in reversed(heights):
        _compress(graph, columns, height)
    low = [column[0] if column else FALSE for column in columns]
    high = [column[1] if len(column) > 1 else FALSE for column in columns]
    return add(graph, low, high)[: len(columns)]


def _compress(graph: Graph, columns: list[Word], height: int) -> None:
    """Cut every column to `height` bits or fewer; a carry out of the last is lost.

    Adders take only bits that were there before, so this is one adder deep.
    """
    carries: Word = []
    for i, column in enumerate(columns):
        sums: Word = []
        arrived, carries = carries, []
        while len(column) + len(sums) + len(arrived) > height:
            excess = len(column) + len(sums) + len(arrived) - height
            x, y, *rest = column
            half = graph.xor(x, y)
            carry = graph.and_(x, y)
            if excess > 1:
                carry = graph.or_(carry, graph.and_(half, rest[0]))
                half = graph.xor(half, rest[0])
                rest = rest[1:]
            column = rest
            sums.append(half)
            carries.append(carry)
        columns[i] = [*column, *sums, *arrived]


def table(graph: Graph, address: Sequence[int], values: Sequence[int], width: int) -> Word:
    """Return the `width`-bit word `values[address]`, a tree of MUX nodes with equal parts shared.

    `values` must have 2^len(address) entries. Splitting on the top address bit first, each pair
    of equal halves disappears, so the nodes are those of a reduced ordered decision diagram.
    """
    results = []
    for bit in range(width):
        level: tuple[int, ...] = tuple(value >> bit & 1 for value in values)
        for select in address:
            pairs = zip(level[::2], level[1::2], strict=True)
            level = tuple(graph.mux(select, one, zero) for zero, one in pairs)
        results.append(level[0])
    return results

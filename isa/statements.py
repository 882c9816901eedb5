"""Statements: a `Bits` graph as assignments and one result, in whatever language `text` writes."""

from __future__ import annotations

from collections.abc import Callable, Collection

from isa.bits import Bits, topological

Write = Callable[[Bits, list[str]], str]
"""Text of a node, given the texts of its operands."""


def statements(
    root: Bits, write: Write, longest: int, named: Collection[str] = ()
) -> tuple[list[tuple[str, Bits, str]], str]:
    """Write a graph, with names for what is used twice or is long.

    Args:
        root: What is computed.
        write: Writes one node.
        longest: Characters beyond which an inner value gets a name.
        named: Operators whose operands must be names or numbers.

    Returns:
        (name, node, text) of each named value in an order in which they can be computed, and the
        text of the root.
    """
    order = topological([root])
    uses: dict[Bits, int] = {}
    needed: set[Bits] = set()
    for n in order:
        for a in n.args:
            uses[a] = uses.get(a, 0) + 1
        if n.op in named:
            needed.update(n.args)
    texts: dict[Bits, str] = {}
    found: list[tuple[str, Bits, str]] = []
    for n in order:
        text = write(n, [texts[a] for a in n.args])
        if n is not root and n.args and (uses[n] > 1 or n in needed or len(text) > longest):
            name = f"t{len(found)}"
            found.append((name, n, text))
            text = name
        texts[n] = text
    return found, texts[root]

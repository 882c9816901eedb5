"""Group: all the places of one or several workloads that have one meaning."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from dse.propose.enumeration import Enumeration
from dse.propose.graph import Graph
from dse.propose.meaning import Meaning, cost, expression, is_deliverable, meaning_of
from dse.propose.work import Occurrence, Work
from isa.bits import Bits


@dataclass(eq=False)
class Group:
    """One meaning and where it occurs.

    Attributes:
        meaning: In its simplest spelling.
        occurrences: In the order they were found.
        spellings: Every distinct expression among them.
    """

    meaning: Meaning
    occurrences: list[Occurrence] = field(default_factory=list)
    spellings: list[Meaning] = field(default_factory=list)


def group(found: Iterable[tuple[Graph, Enumeration]], work: Work, xlen: int) -> dict[bytes, Group]:
    """Gather the subgraphs that save an instruction by meaning, keyed by fingerprint."""
    groups: dict[bytes, Group] = {}
    meanings: dict[Bits, Meaning] = {}
    for graph, enumeration in found:
        for subgraph in enumeration.subgraphs:
            replaced = work.subgraph(graph, subgraph, xlen)
            if replaced < 2 or not is_deliverable(graph, subgraph, xlen):
                continue
            root = expression(graph, subgraph, xlen)
            meaning = meanings.get(root)
            is_new = meaning is None
            if meaning is None:
                meaning = meanings[root] = meaning_of(root, subgraph.ports)
            held = groups.get(meaning.fingerprint)
            if held is None:
                held = groups[meaning.fingerprint] = Group(meaning)
            elif is_new and cost(root) < cost(held.meaning.root):
                held.meaning = meaning
            if is_new:
                held.spellings.append(meaning)
            held.occurrences.append(Occurrence(graph, subgraph, replaced))
    return groups

"""Group: all the places of one or several workloads that have one meaning."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from dse.propose.enumeration import Enumeration
from dse.propose.graph import Graph
from dse.propose.meaning import Meaning, cost, expressions, is_deliverable, meaning_of
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
    """Gather the subgraphs that save an instruction by meaning, keyed by fingerprint.

    One instruction computes one result, so a subgraph with two takes two.
    """
    groups: dict[bytes, Group] = {}
    meanings: dict[tuple[Bits, ...], Meaning] = {}
    for graph, enumeration in found:
        for subgraph in enumeration.subgraphs:
            replaced = work.subgraph(graph, subgraph, xlen)
            if replaced <= subgraph.outputs.bit_count() or not is_deliverable(
                graph, subgraph, xlen
            ):
                continue
            roots = expressions(graph, subgraph, xlen)
            meaning = meanings.get(roots)
            is_new = meaning is None
            if meaning is None:
                meaning = meaning_of(roots[0], subgraph.ports, *roots[1:])
                meanings[roots] = meaning
            held = groups.get(meaning.fingerprint)
            if held is None:
                held = groups[meaning.fingerprint] = Group(meaning)
            elif is_new and cost(*roots) < cost(*held.meaning.roots):
                held.meaning = meaning
            if is_new:
                held.spellings.append(meaning)
            held.occurrences.append(Occurrence(graph, subgraph, replaced))
    return groups

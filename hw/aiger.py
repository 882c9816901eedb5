"""AIGER: a `Graph` as a binary and-inverter file, the format that ABC reads fastest."""

from __future__ import annotations

from hw.graph import FALSE, Graph, Kind

__all__ = ["aiger_bytes", "input_nodes", "output_literals"]


def input_nodes(graph: Graph, *, carry_chains: bool = False) -> list[int]:
    """Return the nodes that are inputs of the AIGER file, in its order."""
    nodes = [n for n, kind in enumerate(graph.kind) if kind in (Kind.INPUT, Kind.MEMORY)]
    return [*nodes, *sorted(_chained(graph))] if carry_chains else nodes


def output_literals(graph: Graph, *, carry_chains: bool = False) -> list[int]:
    """Return the literals that are outputs of the AIGER file, each once, in its order.

    A constant and a source bit passed on unchanged are wires and need no gate, so they are left
    out; a mapper would drive them with buffers.
    """
    literals = dict.fromkeys(literal for port in graph.sinks for literal in port.literals)
    wires = (Kind.CONSTANT, Kind.INPUT, Kind.MEMORY)
    kept = [x for x in literals if graph.kind[x >> 1] not in wires or (x & 1 and x > 1)]
    if not carry_chains:
        return kept
    cut = _chained(graph)
    read = (
        x for adder in graph.adders for x in (*adder.propagate, *adder.taken) if graph.is_gate(x)
    )
    return list(dict.fromkeys([*(x for x in kept if x >> 1 not in cut), *read]))


def _chained(graph: Graph) -> set[int]:
    """Return the nodes whose bits carry chains give."""
    return {x >> 1 for adder in graph.adders for x in adder.results if x}


def aiger_bytes(graph: Graph, *, carry_chains: bool = False) -> bytes:
    """Return `graph` in binary AIGER 1.9 (A. Biere, FMV report 07/1, 2007), flip-flops cut.

    Inputs are those of `input_nodes`, outputs those of `output_literals`. XOR and MUX become three
    AND nodes each. With `carry_chains` the results of adders come from outside and what their
    chains read goes there, after the other outputs: what is left is what LUTs have to do.
    """
    literal_of = [FALSE] * len(graph.kind)
    sources = input_nodes(graph, carry_chains=carry_chains)
    cut = _chained(graph) if carry_chains else set()
    for variable, node in enumerate(sources, start=1):
        literal_of[node] = 2 * variable
    ands: list[tuple[int, int]] = []
    hashed: dict[tuple[int, int], int] = {}

    def conjunction(a: int, b: int) -> int:
        if a < b:
            a, b = b, a
        if b < 2 or a - b < 2:
            if b == 0 or a ^ 1 == b:
                return 0
            if b == 1 or a == b:
                return a
        found = hashed.get((a, b))
        if found is None:
            ands.append((a, b))
            found = hashed[a, b] = 2 * (len(sources) + len(ands))
        return found

    for node, (kind, fanin) in enumerate(zip(graph.kind, graph.fanin, strict=True)):
        if not fanin or kind is Kind.MEMORY or node in cut:
            continue
        f, g = fanin[0], fanin[1]
        a, b = literal_of[f >> 1] ^ f & 1, literal_of[g >> 1] ^ g & 1
        if kind is Kind.AND:
            literal_of[node] = conjunction(a, b)
        elif kind is Kind.XOR:
            left, right = conjunction(a, b ^ 1), conjunction(a ^ 1, b)
            literal_of[node] = conjunction(left ^ 1, right ^ 1) ^ 1
        else:
            h = fanin[2]
            left, right = conjunction(a, b), conjunction(a ^ 1, literal_of[h >> 1] ^ h & 1)
            literal_of[node] = conjunction(left ^ 1, right ^ 1) ^ 1
    literals = output_literals(graph, carry_chains=carry_chains)
    outputs = [literal_of[x >> 1] ^ x & 1 for x in literals]
    variables = len(sources) + len(ands)
    header = f"aig {variables} {len(sources)} 0 {len(outputs)} {len(ands)}\n"
    data = bytearray(header.encode())
    for literal in outputs:
        data += b"%d\n" % literal
    own = 2 * len(sources)
    for a, b in ands:
        own += 2
        for delta in (own - a, a - b):
            while delta >= 128:
                data.append(delta & 127 | 128)
                delta >>= 7
            data.append(delta)
    return bytes(data)

"""AIGER: a `Graph` as a binary and-inverter file, the format that ABC reads fastest."""

from __future__ import annotations

from hw.graph import FALSE, Graph, Kind

__all__ = ["aiger_bytes", "input_nodes", "output_literals"]


def input_nodes(graph: Graph) -> list[int]:
    """Return the nodes that are inputs of the AIGER file, in its order."""
    return [n for n, kind in enumerate(graph.kind) if kind in (Kind.INPUT, Kind.MEMORY)]


def output_literals(graph: Graph) -> list[int]:
    """Return the literals that are outputs of the AIGER file, each once, in its order.

    A constant and a source bit passed on unchanged are wires and need no gate, so they are left
    out; a mapper would drive them with buffers.
    """
    literals = dict.fromkeys(literal for port in graph.sinks for literal in port.literals)
    wires = (Kind.CONSTANT, Kind.INPUT, Kind.MEMORY)
    return [x for x in literals if graph.kind[x >> 1] not in wires or (x & 1 and x > 1)]


def aiger_bytes(graph: Graph, *, carry_chains: bool = False) -> bytes:
    """Return `graph` in binary AIGER 1.9 (A. Biere, FMV report 07/1, 2007), flip-flops cut.

    Inputs are those of `input_nodes`, outputs those of `output_literals`. XOR and MUX become three
    AND nodes each. With `carry_chains` the results of adders come from outside and what their
    chains read goes there, after the other outputs: what is left is what LUTs have to do.
    """
    literal_of = {0: FALSE}
    variables = 0
    outputs_of = output_literals(graph)
    cut: dict[int, None] = {}
    if carry_chains:
        cut = dict.fromkeys(x >> 1 for adder in graph.adders for x in adder.results)
        read = (x for adder in graph.adders for x in adder.propagate if graph.is_gate(x))
        outputs_of = list(dict.fromkeys([x for x in outputs_of if x >> 1 not in cut] + [*read]))
    for node in (*input_nodes(graph), *sorted(cut)):
        variables += 1
        literal_of[node] = 2 * variables
    inputs = variables
    ands: list[tuple[int, int, int]] = []
    hashed: dict[tuple[int, int], int] = {}

    def conjunction(a: int, b: int) -> int:
        nonlocal variables
        if a < b:
            a, b = b, a
        if b == 0 or a ^ 1 == b:
            return 0
        if b == 1 or a == b:
            return a
        found = hashed.get((a, b))
        if found is None:
            variables += 1
            found = hashed[a, b] = 2 * variables
            ands.append((found, a, b))
        return found

    for node, kind in enumerate(graph.kind):
        if kind not in (Kind.AND, Kind.XOR, Kind.MUX) or node in cut:
            continue
        a, b, *rest = (literal_of[f >> 1] ^ (f & 1) for f in graph.fanin[node])
        if kind is Kind.AND:
            literal_of[node] = conjunction(a, b)
        elif kind is Kind.XOR:
            left, right = conjunction(a, b ^ 1), conjunction(a ^ 1, b)
            literal_of[node] = conjunction(left ^ 1, right ^ 1) ^ 1
        else:
            left, right = conjunction(a, b), conjunction(a ^ 1, rest[0])
            literal_of[node] = conjunction(left ^ 1, right ^ 1) ^ 1
    outputs = [literal_of[x >> 1] ^ (x & 1) for x in outputs_of]
    header = f"aig {variables} {inputs} 0 {len(outputs)} {len(ands)}\n"
    data = bytearray(header.encode())
    for literal in outputs:
        data += f"{literal}\n".encode()
    for literal, a, b in ands:
        for delta in (literal - a, a - b):
            while delta >= 128:
                data.append(delta & 127 | 128)
                delta >>= 7
            data.append(delta)
    return bytes(data)

"""Xors: sums over GF(2) of which one is selected at a time, what they have in common built once."""

from __future__ import annotations

from collections.abc import Sequence
from operator import xor

from hw.linear import apply_network, xor_network
from hw.merge import Choice
from isa.bits import Bits, const

__all__ = ["share_xors"]


def share_xors(choices: Sequence[Choice]) -> list[Choice]:
    """Return choices whose XORs of several operands build each pair that two of them add once.

    However their meanings are bracketed: a ^ (b ^ c) and (a ^ d) ^ b share a ^ b. None is more
    than one XOR deeper than the longest of them must be. Choices that have no two operands in
    common with another stay as they are.
    """
    sums = [_operands(value) for value, _ in choices]
    alike = _with_a_common_pair(sums)
    if not alike:
        return list(choices)
    operands = list(dict.fromkeys(x for i in alike for x in sums[i]))
    number = {x: j for j, x in enumerate(operands)}
    matrix = tuple(sum(1 << number[x] for x in sums[i]) for i in alike)
    longest = max(len(sums[i]) for i in alike)
    network = xor_network(matrix, len(operands), depth=(longest - 1).bit_length() + 1)
    found = apply_network(network, operands, xor, const(0, operands[0].width))
    shared = list(choices)
    for i, value in zip(alike, found, strict=True):
        shared[i] = (value, choices[i][1])
    return shared


def _operands(root: Bits) -> list[Bits]:
    """Return what the XORs at the root add, in order of first use; twice the same is nothing."""
    found: dict[Bits, None] = {}
    stack = [root]
    while stack:
        n = stack.pop()
        if n.op == "xor":
            stack += reversed(n.args)
        elif n in found:
            del found[n]
        else:
            found[n] = None
    return list(found)


def _with_a_common_pair(sums: Sequence[Sequence[Bits]]) -> list[int]:
    """Return the numbers of the sums that have two operands in common with another."""
    sets = [set(s) for s in sums]
    return [
        i
        for i, mine in enumerate(sets)
        if any(len(mine & other) > 1 for k, other in enumerate(sets) if k != i)
    ]

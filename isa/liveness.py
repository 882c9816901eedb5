"""Liveness: how many registers of an executed program hold a value that is still read.

Only blocks that were executed count. A jump to a register may return to behind every call, so in
programs with several functions the figures are upper bounds.
"""

from __future__ import annotations

from collections.abc import Mapping

from isa.bits import arguments, evaluate
from isa.outcome import Outcome
from isa.translate import Block, Placed

HOST_CALL = (10, 11, 12, 17)
"""Registers that a host call reads: its three arguments and its number."""


def live_registers(outcome: Outcome, xlen: int) -> Mapping[int, int]:
    """Most registers live at once in each executed block, by the block's address; x0 is none."""
    blocks = {outcome.blocks[i].pc: outcome.blocks[i] for i, n in outcome.times.items() if n}
    blocks = {pc: block for pc, block in blocks.items() if block.instructions}
    following = _successors(blocks, xlen)
    entering: dict[int, frozenset[int]] = dict.fromkeys(blocks, frozenset())
    changed = True
    while changed:
        changed = False
        for pc, block in sorted(blocks.items(), reverse=True):
            live, _ = _backwards(block, _leaving(pc, following, entering), xlen)
            if live != entering[pc]:
                entering[pc], changed = live, True
    return {
        pc: _backwards(block, _leaving(pc, following, entering), xlen)[1]
        for pc, block in blocks.items()
    }


def _leaving(
    pc: int, following: Mapping[int, set[int]], entering: Mapping[int, frozenset[int]]
) -> frozenset[int]:
    return frozenset().union(*(entering[after] for after in following[pc]))


def _backwards(block: Block, live: frozenset[int], xlen: int) -> tuple[frozenset[int], int]:
    """What is live where the block begins, and the most that is anywhere in it."""
    most = len(live)
    for placed in reversed(block.instructions):
        reads = HOST_CALL if placed.instruction.effects(xlen).host == "ecall" else placed.reads
        live = (live - {placed.rd}) | {r for r in reads if r}
        most = max(most, len(live))
    return live, most


def _successors(blocks: Mapping[int, Block], xlen: int) -> dict[int, set[int]]:
    """Addresses of the executed blocks that may follow each."""
    ends = {pc: block.instructions[-1] for pc, block in blocks.items()}
    returns = {e.next_pc for e in ends.values() if e.instruction.kind == "jump" and e.rd}
    found = {}
    for pc, end in ends.items():
        leaves = end.instruction.kind == "jump" or end.instruction.effects(xlen).host == "ebreak"
        after = set() if leaves else {end.next_pc}
        target = _target(end, xlen)
        if target is not None:
            after.add(target)
        elif end.instruction.kind == "jump":
            after |= returns
        found[pc] = after & set(blocks)
    return found


def _target(end: Placed, xlen: int) -> int | None:
    """Where a branch or jump leads; None for a computed one, or for neither."""
    next_pc = end.instruction.effects(xlen).next_pc
    if next_pc is None:
        return None
    names = {str(a.attr) for a in arguments([next_pc.target])}
    if names & {"rs1", "rs2", "rs3"}:
        return None
    return evaluate(next_pc.target, {**end.fields, "pc": end.pc})

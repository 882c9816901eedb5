"""Configured: what the configurable unit NLU-V would have to hold to compute a given function.

`nmu` multiplies with a matrix in its state, `nnlanf` substitutes nibbles by an S-box in its state.
A function of one word is a setting of one of them if some content of the state makes them equal.
"""

from __future__ import annotations

from functools import cache

from dse.propose.normal_form import normal_form
from isa.bits import Bits, arg, const, evaluate, substitute
from isa.canonical import labels
from isa.instruction import Instruction
from isa.instruction_set import load_extension

WIDTH = 32
NIBBLE = 4


@cache
def _unit() -> dict[str, Instruction]:
    return {i.name: i for i in load_extension("nluv", banks=1).instructions}


def setting(root: Bits) -> tuple[Instruction, Bits] | None:
    """The instruction and what it computes with the state that should make it equal `root`.

    Args:
        root: A function of `rs1` of 32 bits.

    Returns:
        None where no state does; else the equality is still to be proven.
    """
    if root.width != WIDTH:
        return None
    return _product(root) or _substitution(root)


def _product(root: Bits) -> tuple[Instruction, Bits] | None:
    """`nmu` with the matrix of a linear function."""
    form = normal_form(root)
    if form is None or form.constant or len(form.functions) != 1:
        return None
    label = form.functions[0][1]
    if label.cones:
        return None
    columns = [labels(WIDTH).apply(label, 1 << j) for j in range(WIDTH)]
    matrix = 0
    for i in range(WIDTH):
        for j, column in enumerate(columns):
            matrix |= (column >> i & 1) << (WIDTH * i + j)
    return _with_state("nmu", "lrg0", matrix, 1024)


def _substitution(root: Bits) -> tuple[Instruction, Bits] | None:
    """`nnlanf` with the algebraic normal forms of the S-box on each nibble, if there is one."""
    ones = 0x1111_1111
    box = []
    for value in range(1 << NIBBLE):
        everywhere = evaluate(root, {"rs1": value * ones})
        if everywhere != (everywhere & 15) * ones:
            return None
        box.append(everywhere & 15)
    mask = 0
    for j in range(NIBBLE):
        monomials = [value >> j & 1 for value in box]
        for bit in range(NIBBLE):  # Moebius transform
            for k in range(1 << NIBBLE):
                if k >> bit & 1:
                    monomials[k] ^= monomials[k ^ 1 << bit]
        for k, coefficient in enumerate(monomials):
            mask |= coefficient << (16 * j + 15 - k)
    return _with_state("nnlanf", "nlrg", mask, 64)


def _with_state(name: str, state: str, value: int, width: int) -> tuple[Instruction, Bits]:
    instruction = _unit()[name]
    root = instruction.effects(WIDTH).rd
    assert root is not None
    return instruction, substitute(root, {arg(state, width): const(value, width)})

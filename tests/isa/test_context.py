"""Contexts: state is saved and put back by instructions that are found by what they do."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from isa.context import Context, context_of, cycles_of, routine
from isa.core import Core
from isa.instruction_set import InstructionSet, load_extension
from isa.machine import Machine
from isa.program import DATA_BASE
from isa.timing import PRESETS

ICICLE = PRESETS["icicle"]


def with_nluv(banks: int, push: int, readback: int) -> InstructionSet:
    nluv = load_extension("nluv", banks=banks, push=push, readback=readback)
    return InstructionSet.of(32, "rv32i", nluv)


def executed(context: Context, body: str) -> Counter[str]:
    """Instructions of a routine, without its return."""
    program = routine(body, context.instructions)
    run = Machine(context.instructions, program).run([DATA_BASE])
    return Counter(run.counts) - Counter(jal=1, ebreak=1, jalr=1)


@pytest.mark.parametrize(("banks", "push"), [(1, 32), (2, 16), (4, 32)])
def test_what_is_saved_is_put_back_whatever_was_done_between(banks: int, push: int) -> None:
    instructions = with_nluv(banks, push, 1)
    context = context_of(instructions)
    assert (context.lost, context.lost_bits, context.reload) == ((), 0, "")
    draw = random.Random(push + banks)
    state = {name: draw.getrandbits(width) for name, width in instructions.state}
    other = {name: draw.getrandbits(width) for name, width in instructions.state}
    saved = Machine(instructions, routine(context.save, instructions)).run([DATA_BASE], state=state)
    memory = saved.read(DATA_BASE, context.bits // 8)
    assert memory == b"".join(
        state[name].to_bytes(width // 8, "little") for name, width in instructions.state
    )
    back = Machine(instructions, routine(context.restore, instructions))
    assert back.run([DATA_BASE], {DATA_BASE: memory}, state=other).state == state


def test_the_length_of_the_routines_is_that_of_the_state() -> None:
    """64 bits of mask, 1,024 of matrix, four words of products; a move and a step for each."""
    context = context_of(with_nluv(1, 32, 1))
    assert executed(context, context.save) == Counter(nxnl=2, nxl=32, nma0=4, sw=38)
    assert executed(context, context.restore) == Counter(nldnl=2, nldl=32, nxa=4, lw=38)
    context = context_of(with_nluv(1, 16, 1))
    assert executed(context, context.save) == Counter(nxnl=4, nxl=64, nma0=4, sh=68, sw=4)


def test_the_published_unit_loses_its_state_and_is_loaded_by_its_program() -> None:
    """github.com/UzunerH/MasterThesisCode, 2cc3fdf: no instruction reads mask or matrix."""
    context = context_of(with_nluv(1, 16, 0))
    assert (context.save, context.restore) == ("", "")
    assert context.lost_bits == context.bits == 64 + 1024 + 4 * 32
    assert executed(context, context.reload) == Counter(nldnl=4, nldl=64)
    # 2 cycles a push on the published RTL, and 6 for the return.
    assert cycles_of(context.reload, context.instructions, ICICLE) == 2 * 68 + 6


def test_what_can_be_written_but_not_read_is_loaded_from_memory() -> None:
    context = context_of(with_nluv(2, 32, 0))
    assert context.lost_bits == context.bits
    assert executed(context, context.reload) == Counter(nldnl=2, nldl=64, lw=66)


def test_a_set_without_state_has_nothing_to_save() -> None:
    context = context_of(InstructionSet.of(32, "rv32i", "zkn"))
    assert (context.bits, context.lost, context.save, context.reload) == (0, (), "", "")
    assert cycles_of(context.save, context.instructions, Core()) == 0

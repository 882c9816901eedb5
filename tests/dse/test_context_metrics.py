"""What a design says of the state that its extensions add."""

from __future__ import annotations

from pathlib import Path

import pytest

from dse.cache import Cache
from dse.measure.context_metrics import context_metrics
from dse.measure.target import Target, without_unused
from dse.show.state_text import state_text
from dse.space import parse_space
from dse.vocabulary import Registries
from hw.technology import technology
from isa.instruction_set import InstructionSet, load_extension
from isa.timing import PRESETS


def values(*parts: object, **parameters: int) -> dict[str, float]:
    nluv = [load_extension("nluv", **parameters)] if parameters else []
    instructions = InstructionSet.of(32, "rv32i", *parts, *nluv)  # type: ignore[arg-type]
    target = Target(instructions, PRESETS["icicle"], (), (), 1, technology("ge"))
    return {name: q.value for name, q in context_metrics(target, {}, Cache(None)).items()}


def test_the_published_unit_has_state_that_a_switch_loses() -> None:
    """2 cycles a push on the published RTL, and the 6 of the return."""
    assert values(banks=1) == {
        "state_bits": 1216,
        "state_lost_bits": 1216,
        "switch_cycles": 0,
        "reload_cycles": 68 * 2 + 6,
    }


def test_read_back_keeps_it_at_a_price_in_cycles() -> None:
    """Loads take 6, an exchange that writes a register 4 and one that writes none 2, a store 4."""
    found = values(banks=1, push=32, readback=1)
    assert (found["state_lost_bits"], found["reload_cycles"]) == (0, 0)
    assert found["switch_cycles"] == pytest.approx(38 * (4 + 2) + 38 * (6 + 2) + 2 * 6, abs=4)


def test_a_design_without_state_pays_nothing() -> None:
    assert set(values("zkne").values()) == {0}


def test_read_back_stays_though_no_program_uses_it_and_idle_banks_go() -> None:
    text = (
        "name: x\nworkloads: [aes128-encrypt]\n"
        "instructions: {choose: [{nluv: {banks: [1, 4], readback: [0, 1]}}]}\n"
    )
    space = parse_space(text, Path("x.yaml"), Registries())
    design = space.neutral.replace({"nluv": True, "nluv.banks": 4, "nluv.readback": 1})
    reduced = without_unused(space, design, frozenset({"nnlaese"}))
    assert (reduced["nluv.banks"], reduced["nluv.readback"]) == (1, 1)
    assert without_unused(space, design, frozenset({"nldl"})) == design


def test_the_cost_is_said_in_words() -> None:
    assert state_text("zkne") == ()
    state, lost, kept = state_text("nluv")
    assert state.startswith("State: 1,216 bits (`nlrg` 64, `lrg0` 1,024, ")
    assert lost.startswith("Lost in a switch of contexts")
    assert kept.startswith("With `readback` = 1: a switch of contexts takes 144 instructions")

"""The `core:` keys of a space: which parameters they make, and what core a design then has."""

from __future__ import annotations

from pathlib import Path

import pytest

from dse.cache import Cache
from dse.design import Value
from dse.measure.evaluate import evaluate
from dse.measure.target import target_of, without_unused
from dse.space import Space, SpaceError, parse_space
from dse.vocabulary import Registries
from isa.core import Core

EVERY = (
    "core: {xlen: 64, pipeline: [5, 3], branch: [execute, decode], prediction: [none, not-taken, "
    "backward-taken], memory: [separate, shared], memory_latency: [1, 4], read_ports: 3, "
    "multiplier: [0, 8], carryless: 2, divider: [0, 1]}\n"
)


def parse(text: str) -> Space:
    head = "name: x\nworkloads: [aes128-encrypt]\n"
    return parse_space(head + text, Path("x.yaml"), Registries())


def test_keys_become_parameters_where_they_are_written() -> None:
    plain, every = parse(""), parse(EVERY)
    usual = ["core.xlen", "core.pipeline", "core.forwarding"]
    assert [n for n in plain.by_name if n.startswith("core.")] == usual
    others = "branch prediction memory memory_latency read_ports multiplier carryless divider"
    assert [n for n in every.by_name if n.startswith("core.")] == [
        *usual,
        *(f"core.{name}" for name in others.split()),
    ]
    short = every.reduce(every.neutral.replace({"core.pipeline": 3, "core.branch": "decode"}))
    assert short["core.branch"] == "execute"


def test_a_design_has_the_core_it_says() -> None:
    space = parse(EVERY + "instructions: {choose: [m]}\n")
    chosen: dict[str, Value] = {
        "core.branch": "decode", "core.prediction": "backward-taken", "core.memory": "shared",
        "core.memory_latency": 4, "core.multiplier": 8, "core.divider": 1, "m": True,
    }  # fmt: skip
    target = target_of(space, space.neutral.replace(chosen))
    assert target.core == Core(
        xlen=64, branch="decode", prediction="backward-taken", memory="shared", memory_latency=4,
        read_ports=3, multiplier=8, carryless=2, divider=1,
    )  # fmt: skip
    assert "addw" in target.instructions
    assert target_of(parse(""), parse("").neutral).core == Core()


def test_an_iterative_unit_without_use_is_none() -> None:
    space = parse(EVERY + "instructions: {choose: [m]}\n")
    design = space.neutral.replace({"core.multiplier": 8, "core.divider": 1, "m": True})
    assert without_unused(space, design, frozenset({"mul"})) == design
    reduced = without_unused(space, design, frozenset({"xor"}))
    assert (reduced["core.multiplier"], reduced["core.divider"], reduced["m"]) == (0, 0, False)


def test_the_way_to_build_a_unit_is_a_choice_where_an_instruction_needs_it() -> None:
    space = parse("instructions: {choose: [zbkx]}\nunits: {crossbar: [auto, one_hot]}\n")
    design = space.neutral.replace({"zbkx": True, "units.crossbar": "one_hot"})
    assert ("crossbar", "one_hot") in target_of(space, design).circuits
    assert target_of(space, space.neutral.replace({"zbkx": True})).circuits == ()
    assert without_unused(space, design, frozenset({"xperm4"})) == design
    assert without_unused(space, design, frozenset({"xor"})) == space.neutral


def test_a_unit_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(SpaceError, match=r"circuit must be auto, merged or one_hot, not 'onehot'"):
        parse("units: {crossbar: [onehot]}\n")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("core: {read_ports: 2}\ninstructions: {choose: [xzbt]}\n", "read_ports must be 3 for an"),
        ("core: {memory: shared}\ninstructions: {choose: [zca]}\n", "memory of a core with compre"),
        ("core: {memory_latency: 2}\ninstructions: {choose: [zca]}\n", "memory of a core with com"),
    ],
)
def test_what_a_core_cannot_execute_is_infeasible(text: str, reason: str) -> None:
    space = parse(text)
    extension = space.entries[0].name
    design = space.neutral.replace({extension: True})
    found = evaluate(space=space, design=design, cache=Cache(None))
    assert not found.feasible
    assert reason in found.reason


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("core: {xlen: [32, 64]}", "xlen must be one width a space, as the base set is, not "),
        (
            "core: {xlen: 64}\ninstructions: {base: rv32i}",
            "instructions.base: must be rv64i, as xl",
        ),
        ("instructions: {base: rv64i}", "instructions.base: must be rv32i, as xlen of the core is"),
        ("core: {memory_latency: 17}", "core.memory_latency: must be from 1 to 16, not 17"),
        ("core: {divider: 3}", "core.divider: must be 0, 1, 2 or 4, not 3"),
        ("core: {branch: fetch}", "core.branch: must be execute or decode, not 'fetch'"),
    ],
)
def test_bad_keys_are_refused(text: str, error: str) -> None:
    with pytest.raises(SpaceError, match=error):
        parse(text)

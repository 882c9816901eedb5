from __future__ import annotations

import random
from itertools import product

import pytest

from hw.area import estimate
from hw.cmos import nand2_cmos
from hw.extension import build_datapath, unit_arrivals
from hw.joint import Joint, Wanted, joined, joints
from hw.technology import technology
from hw.units import circuits_for, table_names, unit_names, units_of
from hw.verilog import verilog
from isa.bits import Bits, arg, arguments, evaluate
from isa.instruction import Instruction
from isa.instruction_set import find_instruction

BY_NAME = {joint.name: joint for joint in joints()}
SETS = {
    "funnel": (
        ("sll", "srl", "sra", "rol", "ror", "fsl", "fsr", "bset", "bclr", "binv", "bext", "bfp"),
        ("rol", "ror", "rori", "bset", "bseti", "bclri", "bext", "bexti"),
        ("sll", "slli", "fsri", "fsl", "binvi"),
        ("bfp",),
    ),
    "butterfly": (
        ("bcompress", "bdecompress", "grev", "gorc", "grevi", "gorci"),
        ("bdecompress",),
        ("bcompress", "gorci"),
    ),
    "one_hot": (("xperm4", "xperm8"), ("xperm4",), ("xperm8",)),
    "karatsuba": (("clmul", "clmulr", "clmulh"), ("clmulr",), ("clmul",)),
}
CASES = [(n, names, xlen) for n, sets in SETS.items() for names, xlen in product(sets, (32, 64))]


def built(joint: Joint, names: tuple[str, ...], xlen: int) -> tuple[list[Instruction], Bits]:
    """Return the instructions and the circuit for them, whatever its size."""
    instructions = [find_instruction(name, xlen) for name in names]
    wanted = {}
    for i in instructions:
        value = i.effects(xlen).rd
        assert value is not None
        read = [a for a in arguments([value]) if not str(a.attr).startswith("rs")]
        wanted[i.name] = Wanted(arg(f"select {i.name}", 1), read[0] if read else None)
    return instructions, joint.build(wanted, xlen)


@pytest.mark.parametrize(("name", "names", "xlen"), CASES)
def test_a_joint_circuit_equals_every_meaning(name: str, names: tuple[str, ...], xlen: int) -> None:
    rng = random.Random(f"{names}{xlen}")
    instructions, circuit = built(BY_NAME[name], names, xlen)
    read = {str(a.attr): a.width for a in arguments([circuit])}
    for number in range(24 * len(instructions)):
        chosen = instructions[number % len(instructions)]
        meaning = chosen.effects(xlen).rd
        assert meaning is not None
        widths = read | {str(a.attr): a.width for a in arguments([meaning])}
        values = {n: rng.choice((rng.getrandbits(w), 0, (1 << w) - 1, 1 << rng.randrange(w)))
                  for n, w in widths.items()}  # fmt: skip
        values |= {f"select {i.name}": int(i is chosen) for i in instructions}
        assert evaluate(circuit, values) == evaluate(meaning, values), (chosen.name, values)


@pytest.mark.parametrize("xlen", [32, pytest.param(64, marks=pytest.mark.slow)])
def test_every_amount_and_length_of_the_funnel(xlen: int) -> None:
    names = ("sll", "srl", "sra", "rol", "ror", "fsl", "fsr", "bset", "bext", "bfp")
    instructions, circuit = built(BY_NAME["funnel"], names, xlen)
    rng = random.Random(xlen)
    words = {n: rng.getrandbits(xlen) | 1 << (xlen - 1) for n in ("rs1", "rs3")}
    for chosen in instructions:
        select = {f"select {i.name}": int(i is chosen) for i in instructions}
        meaning = chosen.effects(xlen).rd
        assert meaning is not None
        for amount in range(2 * xlen):
            high = amount % xlen << xlen // 2 | rng.randrange(16) << (xlen // 2 + 8)
            values = {**words, **select, "rs2": amount | (high if chosen.name == "bfp" else 0)}
            assert evaluate(circuit, values) == evaluate(meaning, values), (chosen.name, amount)


def test_one_is_used_where_it_is_smaller_only() -> None:
    def count(*names: str) -> int:
        instructions = [find_instruction(name, 32) for name in names]
        choices = []
        for i in instructions:
            value = i.effects(32).rd
            assert value is not None
            choices.append((value, arg(f"select {i.name}", 1)))
        return len(joined(instructions, choices, 32))

    assert count("rol", "ror", "rori") == 3
    assert count("fsl", "fsr") == 1
    assert count("grev", "gorc") == 2
    assert count("grev", "andn", "bcompress", "bdecompress") == 2


@pytest.mark.parametrize(
    ("unit", "names"),
    [("crossbar", ("xperm4", "xperm8")), ("clmul", ("clmul", "clmulh")), ("shifter", ("rol",))],
)
def test_a_design_may_name_the_way_to_build_a_unit(unit: str, names: tuple[str, ...]) -> None:
    assert unit in unit_names()
    assert unit not in table_names()
    assert units_of(names) == (unit,)
    instructions = [find_instruction(name, 32) for name in names]
    joint = next(j for j in joints() if j.unit == unit)
    assert set(circuits_for(unit)) == {"auto", "merged", joint.name}
    costs, alone = {}, {}
    for name, build in circuits_for(unit).items():
        costs[name] = estimate(build_datapath(instructions, 32, {unit: build}), technology("ge"))
        alone[name] = unit_arrivals(instructions, 32, {unit: build}, technology("ge"))
    areas = {name: cost.area_ge for name, cost in costs.items()}
    assert areas["auto"] == areas["merged"] != areas[joint.name]
    assert alone["auto"] == alone["merged"] != alone[joint.name]
    if joint.is_slower:  # and smaller, or it would be there for nothing
        assert areas[joint.name] < 0.8 * areas["merged"]
        assert costs[joint.name].delay_fo4 > costs["merged"].delay_fo4


@pytest.mark.parametrize(
    ("names", "xlen", "published"),
    # The reference units of the Bitmanip draft, see baselines/riscvbitmanip.yaml.
    [
        (SETS["funnel"][0], 32, 1764),
        (("bcompress", "bdecompress", "grev", "gorc", "shfl", "unshfl"), 32, 2089),
    ],
)
def test_units_are_about_as_small_as_published_ones(
    names: tuple[str, ...], xlen: int, published: int
) -> None:
    instructions = [find_instruction(name, xlen) for name in names]
    module = verilog(build_datapath(instructions, xlen, {}))
    assert 0.5 * published < nand2_cmos(module.text, module.module) < 1.1 * published

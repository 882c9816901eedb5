"""Only figures of one definition are divided by each other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dse.compare.definition import Definition, Figure, UnlikeFiguresError, ratio, unlike

CYCLES = Definition("cycles", "cycles", per="block", key_schedule="included", core="icicle")
AREA = Definition("area", "GE", scope="extension", technology="ge")


def test_like_figures_are_divided() -> None:
    assert ratio(Figure(300, CYCLES), Figure(400, CYCLES)) == 0.75


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        (CYCLES, replace(CYCLES, core="scarv"), "unlike host core: icicle and scarv"),
        (CYCLES, replace(CYCLES, core=""), "unlike host core: icicle and not stated"),
        (CYCLES, replace(CYCLES, per="byte"), "unlike per: block and byte"),
        (
            CYCLES,
            replace(CYCLES, key_schedule="excluded"),
            "unlike key schedule: included and excluded",
        ),
        (AREA, replace(AREA, technology="nand2_cmos"), "unlike technology: ge and nand2_cmos"),
        (AREA, replace(AREA, scope="whole"), "unlike scope: extension and whole"),
        (
            Definition("tap_code", "ratio", "ratio", against="rv32i"),
            Definition("tap_silicon_luts", "ratio", "ratio", against="rv32i"),
            "unlike metric: tap_code and tap_silicon_luts",
        ),
        (
            Definition("cycles", "ratio", "ratio", against="rv32i"),
            Definition("cycles", "ratio", "ratio", against="T-table"),
            "unlike baseline: rv32i and T-table",
        ),
    ],
)
def test_a_ratio_of_unlike_figures_is_an_error(
    one: Definition, other: Definition, reason: str
) -> None:
    assert unlike(one, other) == reason
    with pytest.raises(UnlikeFiguresError, match=f"not two \\({reason}\\)$"):
        ratio(Figure(1, one), Figure(2, other))


def test_host_core_and_technology_do_not_bind_ratios_to_an_own_baseline() -> None:
    ours = Definition("cycles", "ratio", "ratio", against="rv32i", core="icicle")
    assert unlike(ours, replace(ours, core="scarv")) == ""


def test_instruction_counts_are_of_no_core() -> None:
    count = Definition("instructions", "instructions", per="block", core="icicle")
    assert unlike(count, replace(count, core="scarv")) == ""


def test_area_of_a_whole_design_is_of_its_core() -> None:
    whole = replace(AREA, scope="whole", core="icicle")
    assert unlike(whole, replace(whole, core="rocket")) == "unlike host core: icicle and rocket"


def test_unstated_cores_are_not_alike() -> None:
    nowhere = replace(CYCLES, core="")
    assert unlike(nowhere, nowhere) == "host core is stated on neither side"


def test_zero() -> None:
    assert ratio(Figure(0, CYCLES), Figure(0, CYCLES)) == 1.0
    with pytest.raises(ZeroDivisionError, match=r"^5 must not be divided by a figure of 0$"):
        ratio(Figure(5, CYCLES), Figure(0, CYCLES))

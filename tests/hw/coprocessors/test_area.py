"""Cost of members: the sum of the parts against the whole, and what parameters change."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from hw.area import estimate
from hw.composition import memory_starts
from hw.coprocessors import area, engines
from hw.coprocessors.area import cost
from hw.coprocessors.build import build
from hw.coprocessors.parameters import Coprocessor
from hw.memory import register_file
from hw.technology import technology

GE, XC7 = technology("ge"), technology("xc7")
SHA2 = Coprocessor(("sha256", "sha512"), buffer_words=16)
DMA = replace(SHA2, mover="dma", bus_width=32, bus_latency=3, burst_length=4)


@pytest.mark.parametrize(
    "p",
    [
        SHA2,
        DMA,
        replace(SHA2, attachment="mapped", width=32, stages=2),
        Coprocessor(("sha3-256", "sm3"), buffer_words=64, double_buffer=True, mover="dma"),
    ],
)
def test_the_parts_are_the_whole(p: Coprocessor) -> None:
    parts = cost(p, GE, "estimate")
    starts = {"memory_word": memory_starts(GE)["dmem_word"]} if p.mover == "dma" else {}
    whole = estimate(build(p), GE, starts=starts)
    memory = sum(register_file(m.words, m.width, 1, 1, GE).area_ge for m in whole.memories)
    assert parts.area_ge == pytest.approx(whole.area_ge + memory, rel=0.02)
    # Loads are counted up to the seam and behind it, not across.
    assert parts.delay_fo4 == pytest.approx(whole.delay_fo4, rel=0.04)
    bits = sum(m.words * m.width for m in whole.memories)
    assert abs(parts.ffs - whole.ffs - bits) <= 4


def test_cost_names_engines_buffer_and_control() -> None:
    p = Coprocessor(("sha3-256", "sha256"))
    parts = cost(p, GE, "estimate").parts
    assert list(parts) == ["hash", "keccak", "buffer", "control"]
    assert all(part.area_ge > 0 for part in parts.values())


@pytest.mark.parametrize("name", ["sm3", "sha512"])
def test_an_algorithm_left_out_saves_area(name: str) -> None:
    names = engines.engine_of(name).algorithms
    less = tuple(n for n in names if n != name)
    whole, rest = (cost(Coprocessor(tuple(n)), GE, "estimate") for n in (names, less))
    assert rest.parts["hash"].area_ge < 0.95 * whole.parts["hash"].area_ge
    assert rest.parts["control"].area_ge < whole.parts["control"].area_ge


def test_a_block_ram_is_no_flip_flops() -> None:
    found = [
        cost(replace(DMA, buffer_words=512, buffer=b, bus_width=w), GE, "estimate")
        for b, w in (("registers", 64), ("bram", 64), ("bram", 128))
    ]
    ffs, brams = ([getattr(c.parts["buffer"], a) for c in found] for a in ("ffs", "brams"))
    assert ffs == [512 * 64, 0, 0]
    assert brams == [0, 1, 2]
    assert found[1].parts["buffer"].area_ge < found[0].parts["buffer"].area_ge / 8


def test_stages_shorten_the_path_of_the_engine() -> None:
    one, four = (cost(replace(SHA2, stages=n), GE, "estimate") for n in (1, 4))
    assert four.delay_fo4 < 0.75 * one.delay_fo4


def test_paths_to_the_host_are_shorter_than_the_whole() -> None:
    found = cost(SHA2, GE, "estimate")
    assert 0 < found.through_fo4 <= found.answer_fo4 <= found.delay_fo4
    assert 0 < found.host_fo4 <= found.delay_fo4


@pytest.mark.tool
def test_luts_are_those_of_the_mapped_rung() -> None:
    p = Coprocessor(("sha256",), buffer="bram")
    found = cost(p, XC7, "mapped")
    assert found.luts is not None
    assert found.luts > 1000
    assert found.brams == 1
    assert found.luts_error == XC7.mapped.luts_error
    with pytest.raises(ValueError, match=r"^rung of xc7 must be 'mapped', not 'estimate'$"):
        cost(p, XC7, "estimate")
    with pytest.raises(
        ValueError, match=r"^rung must be one of estimate, mapped, synthesised, not 'guess'$"
    ):
        cost(p, GE, "guess")


def test_what_was_measured_is_remembered_by_what_reaches_it() -> None:
    asked: dict[str, list[str]] = {}

    def memo(kind, key, compute):
        asked.setdefault(kind, []).append(key)
        return compute()

    changes = ({}, {"buffer": "bram"}, {"stages": 2}, {"buffer_words": 32}, {"mover": "dma"})
    for change in changes:
        cost(replace(SHA2, **change), GE, "estimate", memo=memo)
    engine, frame = asked["coprocessor engine"], asked["coprocessor frame"]
    assert [engine.index(key) for key in engine] == [0, 0, 2, 0, 0]
    assert [frame.index(key) for key in frame] == [0, 0, 0, 3, 4]
    assert all(math.isfinite(d) for _, _, d in area._frame(SHA2, 32, GE, "estimate").delays)

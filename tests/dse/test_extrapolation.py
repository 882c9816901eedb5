"""Long messages from three shorter ones, against running them."""

from __future__ import annotations

from dataclasses import replace

import pytest

import workloads
from dse.cache import Cache
from dse.measure import extrapolation, measurement
from dse.measure.extrapolation import Sizes, extrapolated, shorter_sizes
from dse.measure.measurement import WrongAnswer, measure
from dse.measure.target import Target
from hw.coprocessors.parameters import Coprocessor
from hw.technology import technology
from isa.core import Core
from isa.instruction_set import InstructionSet
from workloads.coprocessor_driver import KERNEL

PLAIN = Target(InstructionSet.of(32, "rv32i"), Core(), (), (), 4, technology("ge"))
DMA = Coprocessor(
    ("sha256",),
    double_buffer=True,
    mover="dma",
    bus_width=64,
    burst_length=8,
    buffer_words=32,
)
MEMBERS = {
    "DMA": DMA,
    "slow bus": replace(DMA, bus_width=32, bus_latency=9, burst_length=1),
    "single buffer": replace(DMA, double_buffer=False),
    "CPU": replace(DMA, mover="cpu"),
}


@pytest.mark.parametrize("name", MEMBERS)
def test_extrapolated_cycles_are_those_of_the_run(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = replace(PLAIN, coprocessor=MEMBERS[name])
    workload = workloads.get("sha256", 8400)
    short = measure(workload, KERNEL, target, {}, Cache(None))
    assert short.extrapolated.startswith("from ")
    monkeypatch.setattr(extrapolation, "LONGEST", 10_000)
    whole = measure(workload, KERNEL, target, {}, Cache(None))
    assert whole.extrapolated == ""
    assert replace(short, extrapolated="") == whole


@pytest.mark.slow
@pytest.mark.parametrize("name", ["DMA", "CPU"])
def test_extrapolated_cycles_of_64_kibibytes_are_those_of_the_run(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = replace(PLAIN, coprocessor=MEMBERS[name])
    workload = workloads.get("sha256", 65_501)
    short = measure(workload, KERNEL, target, {}, Cache(None))
    assert short.extrapolated.startswith("from 2,")
    monkeypatch.setattr(extrapolation, "LONGEST", 100_000)
    assert replace(short, extrapolated="") == measure(workload, KERNEL, target, {}, Cache(None))


def test_what_does_not_fit_data_memory_is_extrapolated_or_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = replace(PLAIN, coprocessor=replace(DMA, algorithms=("aes128-encrypt",)))
    workload = workloads.get("aes128-ecb", 65_536)
    assert measure(workload, KERNEL, target, {}, Cache(None)).extrapolated.startswith("from ")
    monkeypatch.setattr(extrapolation, "LONGEST", 100_000)
    message = (
        "buffers of aes128-ecb must end by 0x30000, where data memory or the stack does, "
        "not at 0x300b0; choose a shorter message"
    )
    with pytest.raises(WrongAnswer, match=f"^{message}$"):
        measure(workload, KERNEL, target, {}, Cache(None))


def test_software_is_extrapolated_too(monkeypatch: pytest.MonkeyPatch) -> None:
    target = replace(PLAIN, unroll=1)
    workload = workloads.get("aes128-ctr", 6800)
    short = measure(workload, "ttable", target, {}, Cache(None))
    assert short.extrapolated == "from 2,064, 2,192 and 2,320 bytes, which grow by equal increments"
    monkeypatch.setattr(extrapolation, "LONGEST", 8000)
    whole = measure(workload, "ttable", target, {}, Cache(None))
    assert replace(short, extrapolated="") == whole


def test_uneven_growth_is_not_extrapolated() -> None:
    sizes = Sizes(1000, 100, 50)
    assert sizes.run == (100, 150, 200)
    assert extrapolated(sizes, [{"cycles": c} for c in (10, 20, 30)]) == {"cycles": 190}
    assert extrapolated(sizes, [{"cycles": c} for c in (10, 20, 31)]) is None


def test_a_message_runs_whole_where_no_sizes_grow_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    target = replace(PLAIN, coprocessor=DMA)
    monkeypatch.setattr(measurement, "extrapolated", lambda *_: None)
    found = measure(workloads.get("sha256", 9000), KERNEL, target, {}, Cache(None))
    assert found.extrapolated == ""


def test_sizes_keep_the_last_block_and_fill_the_buffer() -> None:
    workload = workloads.get("sha256", 16_000)
    for sizes in shorter_sizes(workload, KERNEL, 1, DMA):
        assert all(n % 64 == 16_000 % 64 and n > 32 * 8 for n in sizes.run)
        assert sum(sizes.run) < 16_000
    assert not list(shorter_sizes(workloads.get("sha256", 4096), KERNEL, 1, DMA))
    single = replace(DMA, double_buffer=False, buffer_words=64)
    assert [sizes.period for sizes in shorter_sizes(workload, KERNEL, 1, single)] == [
        512,
        1024,
        1536,
    ]
    large = replace(single, buffer_words=256)  # three sizes would be longer than the message
    assert not list(shorter_sizes(workload, KERNEL, 1, large))

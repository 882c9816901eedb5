"""Schedules of SHA-256, by arithmetic that can be followed by hand, and how fast they are found."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace

import pytest

from hw.coprocessors import engines
from hw.coprocessors.parameters import Coprocessor
from hw.coprocessors.schedule import schedule
from tests.hw.coprocessors.play import Message, Pair

BLOCK = 66
"""Cycles of a block: one to fetch a word ahead, 64 rounds, one for the last addition."""
LATENCY, BEATS = 4, 8
LOAD = LATENCY + BEATS
"""Bus cycles of a block: one burst of 8 beats of 64 bits."""
ARRIVAL = 1 + LOAD + 2
"""Cycles from the one behind `start` to the first of `busy`: `start` takes effect in one, the last
beat arrives in the one behind its burst, and in the next the engine is told to run."""
STORE = LATENCY + 4
"""Bus cycles of the digest."""
DOUBLE = Coprocessor(
    ("sha256",),
    buffer_words=16,
    double_buffer=True,
    mover="dma",
    bus_width=64,
    bus_latency=LATENCY,
    burst_length=BEATS,
)


def blocks(size: int) -> int:
    return (size + 8) // 64 + 1


@pytest.mark.parametrize("size", [1024, 16384, 65536])
def test_double_buffering_keeps_the_unit_busy(size: int) -> None:
    """Loading a block takes 12 of the 66 cycles that its predecessor is computed in, so only the
    first load and the store of the digest are not hidden: 23 cycles, whatever the message."""
    assert LOAD < BLOCK
    found = schedule(DOUBLE, "sha256", size)
    assert found.cycles == ARRIVAL + BLOCK * blocks(size) + STORE
    assert found.unit_utilisation == BLOCK * blocks(size) / found.cycles
    assert found.unit_utilisation > 0.97
    beats = size // 8 + 4
    assert found.bus_utilisation == beats / found.cycles


def test_without_it_the_unit_waits_for_every_filling() -> None:
    """16 words are two blocks, loaded in two bursts. When the second block has been computed, it
    takes a cycle to open the buffer, then the bursts, a cycle for the last beat to arrive, one to
    close the buffer, and one to tell the engine to run."""
    single = replace(DOUBLE, double_buffer=False)
    long, longer = (schedule(single, "sha256", size) for size in (16384, 16384 + 2 * 64))
    assert longer.cycles - long.cycles == 2 * BLOCK + 1 + 2 * LOAD + 3
    assert longer.unit_utilisation < 0.84


def test_cpu_puts_a_word_a_cycle_into_a_double_buffer() -> None:
    host = Coprocessor(("sha256",), buffer_words=16, double_buffer=True)
    found = schedule(host, "sha256", 16384)
    assert found.unit_utilisation > 0.98
    assert found.bus_utilisation == (16384 // 8 + 8) / found.cycles


def test_output_of_blocks_is_stored_while_the_next_one_is_computed() -> None:
    """An AES block leaves the engine in two steps, and the next begins in the cycle behind them.
    The bus needs 3 cycles of a burst that loads four blocks, and 6 for a burst that stores one."""
    p = replace(DOUBLE, algorithms=("aes128-encrypt",), buffer_words=32)
    block = engines.engine_of("aes128-encrypt").run_cycles(p, "aes128-encrypt")
    period = block + 2 + 1
    assert period > (LATENCY + BEATS) // 4 + LATENCY + 2
    long, longer = (schedule(p, "aes128-encrypt", 16 * n) for n in (64, 68))
    assert longer.cycles - long.cycles == 4 * period
    stores = [n for n in longer.phases if n.what == "store"]
    computes = {n.number: n for n in longer.phases if n.what == "compute"}
    assert all(n.end > computes[n.number + 1].start for n in stores[:-1])


def test_phases_overlap_only_in_a_double_buffer() -> None:
    for p, overlaps in ((DOUBLE, True), (replace(DOUBLE, double_buffer=False), False)):
        phases = schedule(p, "sha256", 1000).phases
        loads = [n for n in phases if n.what == "load"]
        computes = [n for n in phases if n.what == "compute"]
        assert [n.number for n in computes] == list(range(blocks(1000)))
        assert any(a.start < b.end and b.start < a.end for a in loads for b in computes) == overlaps
        assert all(n.end - n.start == BLOCK for n in computes)


def test_algorithm_must_be_held() -> None:
    with pytest.raises(ValueError, match=r"^algorithm must be one of sha256, not 'sm3'$"):
        schedule(DOUBLE, "sm3", 10)


def test_simulation_of_a_kibibyte_takes_less_than_two_seconds() -> None:
    message = bytes(range(256)) * 4
    start = time.process_time()
    answer = Pair(DOUBLE).play(Message("sha256", message))
    spent = time.process_time() - start
    assert answer == hashlib.sha256(message).digest()
    assert spent < 2


def test_schedule_of_a_long_message_takes_milliseconds() -> None:
    start = time.process_time()
    schedule(DOUBLE, "sha256", 65536)
    assert time.process_time() - start < 1

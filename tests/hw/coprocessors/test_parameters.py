"""Parameters of a co-processor: what is refused, in which words, and what cannot matter."""

import re
from dataclasses import replace

import pytest

from hw.coprocessors import engines
from hw.coprocessors.parameters import Coprocessor

SHA2 = ("sha256", "sha512")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stages": 0}, "stages must be one of 1, 2, 3, 4, not 0"),
        ({"stages": True}, "stages must be one of 1, 2, 3, 4, not True"),
        ({"rounds_per_cycle": 3}, "rounds_per_cycle must be one of 1, 2, 4, not 3"),
        ({"width": 128}, "width must be one of 32, 64, not 128"),
        ({"buffer_words": 48}, "buffer_words must be one of 16, 32, 64, 128, 256, 512, not 48"),
        ({"buffer": "rom"}, "buffer must be one of registers, bram, not 'rom'"),
        ({"double_buffer": 1}, "double_buffer must be one of False, True, not 1"),
        ({"bus_width": 256}, "bus_width must be one of 32, 64, 128, not 256"),
        ({"bus_latency": 0}, "bus_latency must be an integer from 1 to 64, not 0"),
        ({"burst_length": 0}, "burst_length must be one of 1, 2, 4, 8, 16, 32, 64, not 0"),
        ({"mover": "ghost"}, "mover must be one of cpu, dma, not 'ghost'"),
        ({"attachment": "rocc"}, "attachment must be one of commands, mapped, not 'rocc'"),
        ({"algorithms": ()}, "algorithms must be a tuple of one or more different names, not ()"),
        (
            {"buffer_words": 16, "double_buffer": True},
            "buffer_words must be at least 32 to hold two blocks of sha512, not 16",
        ),
    ],
)
def test_what_cannot_be_built_is_refused_in_one_line(change, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        replace(Coprocessor(SHA2), **change)


def test_unknown_names_are_answered_with_those_there_are():
    known = ", ".join(engines.algorithm_names())
    with pytest.raises(ValueError, match=f"^algorithms must be of {known}, not 'md5'$"):
        Coprocessor(("md5",))
    with pytest.raises(ValueError, match=r"^aes_sbox must be one of .*boyar_peralta.*, not 'big'$"):
        Coprocessor(SHA2, aes_sbox="big")


def test_canonical_members_differ_only_in_what_matters():
    p = Coprocessor(("sha512", "sha256"), bus_width=128, bus_latency=7, burst_length=8)
    assert p.algorithms == SHA2
    assert p.canonical() == Coprocessor(SHA2)
    assert replace(p, attachment="mapped").canonical().bus_latency == 7
    dma = replace(p, mover="dma", buffer_words=16)
    assert dma.canonical() == replace(dma, burst_length=8)
    assert replace(dma, burst_length=16).canonical() == dma


@pytest.mark.parametrize("burst_length", [1, 2, 4, 8, 16, 32, 64])
def test_a_burst_always_fits_beside_an_incomplete_block(burst_length):
    p = Coprocessor(SHA2, buffer_words=16, bus_width=128, burst_length=burst_length, mover="dma")
    burst = p.burst_beats * 16
    # A block of SHA-512 fills the buffer, so a burst must divide it.
    assert 128 % burst == 0
    double = replace(p, buffer_words=32, double_buffer=True)
    assert double.burst_beats == min(burst_length, 8)

"""What kernels say where a register width cannot do what they need."""

from __future__ import annotations

import re

import pytest

import workloads
from isa.kernel import UnsupportedKernel, trace
from workloads.words import constant_words

REFUSALS = [
    ("keccak-f1600", "plain", 32, "kernel needs RV64: its 25 lanes must fit registers"),
    ("keccak-f1600", "interleaved", 64, "kernel needs RV32: bits are interleaved over two words"),
    ("ascon-p12", "interleaved", 64, "kernel needs RV32: bits are interleaved over two words"),
    ("sha512-block", "rolling", 32, "kernel needs RV64: 24 words of 64 bits must fit registers"),
    ("present80-encrypt", "wide-table", 32, "kernel needs RV64: its table has entries of 64 bits"),
    ("present80-encrypt", "shuffle", 64, "kernel needs unzip, which RV64 does not have"),
    ("present80-encrypt", "nluv", 64, "kernel needs nnlanf, which RV64 does not have"),
]


@pytest.mark.parametrize(("name", "kernel", "xlen", "text"), REFUSALS)
def test_refusals(name: str, kernel: str, xlen: int, text: str) -> None:
    build = workloads.get(name).kernels[kernel].build
    with pytest.raises(UnsupportedKernel, match=rf"^{re.escape(text)}$"):
        trace(build, xlen)


def test_constants_are_filled_up_to_a_power_of_two() -> None:
    table = constant_words("twenty_four", 64, range(24))
    assert table.entries == (*range(24), *[0] * 8)

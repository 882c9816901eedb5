"""Started from plain RV32I kernels, enumeration finds the instructions that were ratified."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import workloads
from dse.propose.report import known_rows
from dse.propose.request import Request
from dse.propose.survey import survey
from isa.timing import Core

EXPECTED = {
    "aes128-encrypt": {"aes32esmi", "aes32esi"},
    "aes128-decrypt": {"aes32dsmi", "aes32dsi"},
    "sm4-encrypt": {"sm4ed"},
    "sm4-key-schedule": {"sm4ks"},
    "sha256-block": {
        "rori", "rev8", "sha256sum0", "sha256sum1", "sha256sig0", "sha256sig1"
    },
    "sm3-block": {"rori", "rev8", "sm3p0", "sm3p1"},
    "sha512-block": {
        "sha512sum0r", "sha512sum1r", "sha512sig0l", "sha512sig0h", "sha512sig1l", "sha512sig1h"
    },
}  # fmt: skip


@cache
def rows(name: str, base: str = "rv32i") -> dict[str, dict[str, Any]]:
    workload = workloads.get(name)
    kernels = {n: k for n, k in workload.kernels.items() if n != "bitsliced"}
    chosen = workloads.Workload(**{**vars(workload), "kernels": kernels})
    request = Request(((chosen, 1.0),), base, Core(xlen=int(base[2:4])))
    return {row["instruction"]: row for row in known_rows(survey(request))}


@pytest.mark.parametrize(
    ("workload", "instruction"), [(w, i) for w, names in EXPECTED.items() for i in sorted(names)]
)
def test_ratified_instruction_is_found_and_proven(workload: str, instruction: str) -> None:
    row = rows(workload)[instruction]
    assert row["relation"] == "equals"
    assert row["is_proven"]


@pytest.mark.parametrize(
    ("workload", "instruction"),
    [
        *(("sha512-block", f"sha512{name}") for name in ("sum0", "sum1", "sig0", "sig1")),
        ("keccak-f1600", "andn"),
        ("keccak-f1600", "rori"),
    ],
)
def test_rv64_kernels_find_those_of_rv64(workload: str, instruction: str) -> None:
    row = rows(workload, "rv64i")[instruction]
    assert row["relation"] == "equals"
    assert row["is_proven"]


@pytest.mark.parametrize(
    ("workload", "instruction"),
    [("aes128-encrypt", "aes32esmi"), ("aes128-decrypt", "aes32dsmi")],
)
def test_the_byte_select_is_an_immediate(workload: str, instruction: str) -> None:
    """One instruction with `bs`, not four."""
    workload_rows = rows(workload)
    assert "bs" in workload_rows[instruction]["formula"]
    assert not [name for name in workload_rows if name.startswith(f"{instruction} ")]


@pytest.mark.parametrize("instruction", ["nnlanf", "nmu"])
def test_present_asks_for_what_the_configurable_unit_does(instruction: str) -> None:
    """Eight S-boxes at once are `nnlanf` with PRESENT's mask, a permutation is `nmu`."""
    row = rows("present80-encrypt")[instruction]
    assert row["relation"] == "is a setting of"
    assert row["is_proven"]


@pytest.mark.parametrize(
    ("workload", "instruction"),
    [("keccak-f1600", "andn"), ("keccak-f1600", "orn"), ("present80-encrypt", "xnor")],
)
def test_logic_with_an_inverted_operand_is_found(workload: str, instruction: str) -> None:
    row = rows(workload)[instruction]
    assert row["relation"] == "equals"
    assert row["is_proven"]


def test_words_cut_from_two_registers_are_one_instruction_with_an_immediate() -> None:
    """Rotations of 64-bit lanes in 32-bit registers: the funnel shift proposed for TinyJAMBU."""
    row = rows("keccak-f1600")["jambu.fsri"]
    assert row["relation"] == "equals"
    assert row["is_proven"]

"""The same program whatever the seed of Python's hashes is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCRIPT = """
import workloads
from isa.compiler import compile_kernel
from isa.instruction_set import InstructionSet
for name, kernel, xlen, parts, unroll in (
    ("aes128-encrypt", "sbox", 32, ("zbkb", "zknd", "zkne"), 2),
    ("sha256-block", "rolling", 32, ("zbb", "zknh"), 1),
    ("ascon-p6", "plain", 32, ("zbkb", "xascon"), "full"),
    ("ghash-block-table", "comb", 32, ("zca",), 1),
    ("present80-encrypt", "shuffle", 32, ("zbkb", "zbkx"), 1),
    ("sm3-block", "plain", 64, ("zbb", "zksh"), 2),
):
    instructions = InstructionSet.of(xlen, f"rv{xlen}i", *parts)
    build = workloads.get(name).kernels[kernel].build
    print(compile_kernel(build, instructions, unroll=unroll).digest)
"""


@pytest.mark.slow
def test_hash_seeds() -> None:
    found = set()
    for seed in ("0", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", SCRIPT]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        )
        assert len(done.stdout.split()) == 6
        found.add(done.stdout)
    assert len(found) == 1

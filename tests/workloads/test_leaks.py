"""Which kernels let a secret choose an address: those with tables, and only those."""

from __future__ import annotations

import random

import pytest

import workloads
from isa.compiler import compile_kernel
from isa.machine import Machine
from isa.program import DATA_BASE
from tests.workloads.test_compiled import instruction_set
from tests.workloads.test_kernels import random_inputs

BASE = ("rv32i", "m")
PLAIN = ("rv32i",)
SM4 = ("rv32i", "zbkb", "zksed")
CROSSBAR = ("rv32i", "zbkb", "zbkx")
CASES = [
    ("sm4-encrypt", "sbox", BASE, 128),
    ("sm4-encrypt", "ttable", BASE, 128),
    ("sm4-encrypt", "ttable", SM4, 0),
    ("sm4-key-schedule", "ttable", SM4, 0),
    *(
        (f"{cipher}-{part}", "sliced", BASE, 0)
        for cipher in ("sm4", "seed", "camellia128")
        for part in ("encrypt", "decrypt", "key-schedule")
    ),
    ("present80-encrypt", "table", BASE, 248),
    ("present80-encrypt", "circuit", BASE, 0),
    ("present80-encrypt", "crossbar", CROSSBAR, 0),
    ("present80-key-schedule", "sbox", BASE, 31),
    ("present80-key-schedule", "circuit", BASE, 0),
    ("cast128-encrypt", "sbox", BASE, 64),
    ("tdea-encrypt", "table", BASE, 384),
    ("tdea-key-schedule", "plain", BASE, 0),
    ("hight-encrypt", "packed", BASE, 0),
    ("ghash-block", "bitwise", BASE, 0),
    ("ghash-block", "table4", BASE, 128),
    ("ghash-block-table", "comb", BASE, 128),
    ("chacha20-block", "plain", BASE, 0),
    ("ascon-p12", "plain", BASE, 0),
    ("poly1305", "radix26", BASE, 0),
    ("poly1305", "serial", PLAIN, 0),
    ("chacha20-poly1305", "serial", PLAIN, 0),
    ("sha256-block", "plain", BASE, 0),
    ("mlkem-ntt", "merged", BASE, 0),
    ("mlkem-ntt", "additions", PLAIN, 0),
    ("mlkem-inverse-ntt", "additions", PLAIN, 0),
    ("mlkem-multiply", "additions", PLAIN, 0),
]


@pytest.mark.parametrize(("name", "kernel", "extensions", "leaks"), CASES)
def test_secret_addresses(name: str, kernel: str, extensions: tuple[str, ...], leaks: int) -> None:
    """One leak a table lookup, counted by hand from the algorithm."""
    workload = workloads.get(name)
    instructions = instruction_set(32, extensions)
    program = compile_kernel(workload.kernels[kernel].build, instructions)
    inputs = random_inputs(workload, random.Random(name))
    place = DATA_BASE + (len(program.data) + 63) // 64 * 64
    memory, places, secret = {}, [], []
    for b in workload.buffers:
        places.append(place)
        memory[place] = inputs.get(b.name, bytes(b.size_bytes))
        if b.secret:
            secret.append((place, b.size_bytes))
        place += (b.size_bytes + 63) // 64 * 64
    found = Machine(instructions, program).run_tracked(places, memory, secret)
    assert sum(leak.count for leak in found) == leaks

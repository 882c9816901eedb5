"""SLH-DSA (FIPS 205): a WOTS+ chain of SLH-DSA-SHA2-128, 15 steps of F on SHA-256.

The first block of every hash is the public seed and zeros; the state after it is given.
"""

from __future__ import annotations

from isa.bits import Bits, const
from isa.kernel import Builder, Index
from workloads import register
from workloads.merkle_damgard import Compression
from workloads.sha256 import SHA256
from workloads.words import load_word, load_words, store_words, swapped
from workloads.workload import Buffer, Kernel, Values, Vector, Workload

STEPS = 15
"""w - 1 with w = 16 (FIPS 205 table 2)."""
VALUE_BYTES = 16
ADDRESS_BYTES = 22
"""A compressed address; its last four bytes, the number of the step, are set by the chain."""
_HASHED = 64 + ADDRESS_BYTES + VALUE_BYTES


def chain(seed_state: bytes, address: bytes, value: bytes) -> bytes:
    """The end of a chain that starts at `value` (FIPS 205 algorithm 5, F of section 11.2.1)."""
    tail = SHA256.padding(_HASHED)
    for step in range(STEPS):
        block = address[:18] + step.to_bytes(4, "big") + value + tail
        state = SHA256.compress(SHA256.unpack(seed_state), block)
        value = b"".join(s.to_bytes(4, "big") for s in state[:4])
    return value


def _kernel(name: str, compression: Compression, summary: str) -> Kernel:
    tail = SHA256.padding(_HASHED)

    def build(k: Builder) -> None:
        seed_state, address, value = (
            k.pointer("seed_state"),
            k.pointer("address"),
            k.pointer("value"),
        )
        block, state = k.scratch("block", 64), k.scratch("state", 32)
        store_words(k, block, load_words(k, address, 4))
        k.store(block, 16, k.load(address, 16, 16), 16)
        k.store(block, 18, const(0, 16))
        for i in range(VALUE_BYTES // 2):
            k.store(block, ADDRESS_BYTES + 2 * i, k.load(value, 2 * i, 16), 16)
        start = ADDRESS_BYTES + VALUE_BYTES
        for i in range(0, len(tail), 2):
            k.store(block, start + i, const(int.from_bytes(tail[i : i + 2], "little"), 16))

        def step(i: Index) -> tuple[Bits, ...]:
            k.store(block, 20, const(0, 8))
            k.store(block, 21, i.bits(32), 8)
            store_words(k, state, load_words(k, seed_state, 8))
            compression(k, state, block, 0)
            for j in range(VALUE_BYTES // 4):
                word = swapped(load_word(k, state, 4 * j))
                k.store(block, ADDRESS_BYTES + 4 * j, word, 16)
                k.store(block, ADDRESS_BYTES + 4 * j + 2, word >> 16, 16)
            return ()

        k.loop(STEPS, step, unroll=False)
        for j in range(VALUE_BYTES // 4):
            k.store(value, 4 * j, swapped(load_word(k, state, 4 * j)))

    return Kernel(name, build, summary)


_SEED_STATE = bytes.fromhex("748f83451ab3fa752b56f378e772f61a717d90f3db7f7324310036830db34e55")
_END = bytes.fromhex("9ef78d51037c4e19e1dcfa085f397084")


@register("slhdsa-sha2-128-chain")
def chain_workload() -> Workload:
    """A whole chain: 15 compressions."""

    def golden(values: Values) -> dict[str, bytes]:
        return {"value": chain(values["seed_state"], values["address"], values["value"])}

    return Workload(
        "slhdsa-sha2-128-chain",
        "FIPS 205 (2024) algorithm 5 and section 11.2.1",
        (
            Buffer("seed_state", 32, "in"),
            Buffer("address", ADDRESS_BYTES, "in"),
            Buffer("value", VALUE_BYTES, "inout", secret=True, declassified=True),
        ),
        golden,
        {name: _kernel(name, *parts) for name, parts in SHA256.kernels.items()},
        (
            Vector(
                {
                    "seed_state": _SEED_STATE,
                    "address": bytes(range(ADDRESS_BYTES)),
                    "value": bytes(range(100, 100 + VALUE_BYTES)),
                },
                {"value": _END},
                "FIPS 205 section 11.2.1, evaluated with the hashlib of CPython; seed 0, 1, .. 15",
            ),
        ),
        units=STEPS,
        message_bytes=VALUE_BYTES,
    )

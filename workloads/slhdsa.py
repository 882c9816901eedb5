"""SLH-DSA (FIPS 205): a WOTS+ chain of the 128-bit sets, 15 steps of F.

On SHA-256 the first block of every hash is the public seed and zeros; the state after it is given.
On SHAKE256 a hash is one permutation.
"""

from __future__ import annotations

from isa.bits import Bits, const
from isa.kernel import Builder, Index
from workloads import keccak, register
from workloads.long import Long, load_long, store_long
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


# --- SHAKE ---------------------------------------------------------------------------------------

SHAKE_ADDRESS_BYTES = 32
SHAKE = next(f for f in keccak.FUNCTIONS if f.name == "shake256")
_SHAKE_HASHED = 16 + SHAKE_ADDRESS_BYTES + VALUE_BYTES


def shake_chain(seed: bytes, address: bytes, value: bytes) -> bytes:
    """The end of a chain (FIPS 205 algorithm 5, F of section 11.1)."""
    for step in range(STEPS):
        message = seed + address[:28] + step.to_bytes(4, "big") + value
        value = keccak.sponge(message, SHAKE.rate, SHAKE.suffix, VALUE_BYTES)
    return value


def _shake_kernel(name: str, variant: keccak.Variant) -> Kernel:
    form = variant.form
    tail = keccak.padding(_SHAKE_HASHED, SHAKE.rate, SHAKE.suffix) + bytes(200 - SHAKE.rate)

    def build(k: Builder) -> None:
        form.check(k.xlen)
        seed, address, value = k.pointer("seed"), k.pointer("address"), k.pointer("value")
        begin, state = k.scratch("begin", 200), k.scratch("state", 200)

        def put(lane: int, content: Long) -> None:
            held = form.encode(content)
            store_long(k, begin, ~held if lane in form.complemented else held, 8 * lane)

        for i in range(2):
            put(i, load_long(k, seed, 8 * i))
            put(6 + i, load_long(k, value, 8 * i))
        for i in range(4):
            lane = load_long(k, address, 8 * i)
            put(2 + i, lane & 0xFFFFFFFF if i == 3 else lane)
        for i in range(0, len(tail), 8):
            content = Long.of(int.from_bytes(tail[i : i + 8], "little"), k.xlen)
            put(8 + i // 8, content)

        def step(i: Index) -> tuple[Bits, ...]:
            def copy(j: Index) -> tuple[Bits, ...]:
                k.store(state, k.xlen // 8 * j, k.load(begin, k.xlen // 8 * j, k.xlen))
                return ()

            k.loop(200 // (k.xlen // 8), copy, unroll=5)
            number = i.bits(k.xlen) << k.xlen - 8
            added = form.encode(Long((const(0, 32), number) if k.xlen == 32 else (number,)))
            store_long(k, state, form.load(k, state, 40) ^ added, 40)
            variant.permute(k, state)
            for j in range(2):
                lane = form.load(k, state, 8 * j)
                inverted = (j in form.complemented) != (6 + j in form.complemented)
                store_long(k, begin, ~lane if inverted else lane, 48 + 8 * j)
            return ()

        k.loop(STEPS, step, unroll=False)
        for j in range(2):
            lane = form.load(k, begin, 48 + 8 * j)
            held = ~lane if 6 + j in form.complemented else lane
            store_long(k, value, form.decode(held), 8 * j)

    return Kernel(name, build, variant.summary, variant.requires)


@register("slhdsa-shake-128-chain")
def shake_chain_workload() -> Workload:
    """A whole chain: 15 permutations."""

    def golden(values: Values) -> dict[str, bytes]:
        return {"value": shake_chain(values["seed"], values["address"], values["value"])}

    return Workload(
        "slhdsa-shake-128-chain",
        "FIPS 205 (2024) algorithm 5 and section 11.1",
        (
            Buffer("seed", 16, "in"),
            Buffer("address", SHAKE_ADDRESS_BYTES, "in"),
            Buffer("value", VALUE_BYTES, "inout", secret=True, declassified=True),
        ),
        golden,
        {name: _shake_kernel(name, variant) for name, variant in keccak.VARIANTS.items()},
        (
            Vector(
                {
                    "seed": bytes(range(16)),
                    "address": bytes(range(SHAKE_ADDRESS_BYTES)),
                    "value": bytes(range(100, 100 + VALUE_BYTES)),
                },
                {"value": bytes.fromhex("8ce5248abfa7862daa271c3f0e90f7cc")},
                "FIPS 205 section 11.1, evaluated with the hashlib of CPython",
            ),
        ),
        units=STEPS,
        message_bytes=VALUE_BYTES,
    )

"""Haraka v2 (Kölbl et al., ToSC 2016): haraka256 and haraka512, hashes of 32 and 64 bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable

from isa.bits import Bits
from isa.haraka import CONSTANTS, KEPT, ROUNDS, digest, mixed
from isa.kernel import Builder, Index
from workloads import aes, register
from workloads.words import Words, constant_words, load_words, store_words
from workloads.workload import Buffer, Kernel, Vector, Workload

# --- Kernels -------------------------------------------------------------------------------------


def _by_bytes() -> Callable[[Words], Words]:
    substitute = aes._byte_round(inverse=False)
    return lambda s: [aes._mix_column(w) for w in substitute(s)]


def _build(size: int, aes_round: Callable[[Words], Words]) -> Callable[[Builder], None]:
    count = size // 4
    values = struct.unpack(f"<{10 * count}I", CONSTANTS[: 40 * count])
    table = constant_words(f"haraka{8 * size}_rc", 32, values)

    def build(k: Builder) -> None:
        source, target = k.pointer("input"), k.pointer("digest")
        constants = k.constants(table)

        def one_round(i: Index, *s: Bits) -> Words:
            state = list(s)
            for half in range(2):
                for block in range(0, count, 4):
                    offset = 8 * count * i + 4 * (count * half + block)
                    key = load_words(k, constants, 4, offset)
                    new = aes_round(state[block : block + 4])
                    state[block : block + 4] = [a ^ b for a, b in zip(new, key, strict=True)]
            return mixed(state)

        s = k.loop(ROUNDS, one_round, *load_words(k, source, count))
        before = load_words(k, source, count)
        store_words(k, target, [s[i] ^ before[i] for i in KEPT[size]])

    return build


# --- Workloads -----------------------------------------------------------------------------------

_ANSWERS = {
    32: "8027ccb87949774b78d0545fb72bf70c695c2a0923cbd47bba1159efbf2b2c1c",
    64: "be7f723b4e80a99813b292287f306f625a6d57331cae5f34dd9277b0945be2aa",
}
"""Digests of the bytes 0, 1, 2, .. (Haraka v2, appendix)."""


def _workload(size: int) -> Workload:
    name = f"haraka{8 * size}"
    variants = {
        "sbox": (_by_bytes(), "256-byte S-box table, MixColumns on packed bytes"),
        "ttable": (aes._table_round(inverse=False), "four 1 KiB tables of S-box and MixColumns"),
    }
    return Workload(
        name,
        "Kölbl, Lauridsen, Mendel, Rechberger: Haraka v2, ToSC 2016(2)",
        (
            Buffer("input", size, "in", secret=True),
            Buffer("digest", 32, "out", declassified=True),
        ),
        lambda v: {"digest": digest(v["input"])},
        {
            kernel: Kernel(kernel, _build(size, aes_round), summary)
            for kernel, (aes_round, summary) in variants.items()
        },
        (
            Vector(
                {"input": bytes(range(size))},
                {"digest": bytes.fromhex(_ANSWERS[size])},
                "Haraka v2, appendix: test vectors",
            ),
        ),
        message_bytes=size,
    )


@register("haraka256")
def haraka256_workload() -> Workload:
    """Hash of 32 bytes."""
    return _workload(32)


@register("haraka512")
def haraka512_workload() -> Workload:
    """Hash of 64 bytes."""
    return _workload(64)

"""ChaCha20 (RFC 8439): the block function, and encryption of a message."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from isa.bits import Bits, const
from isa.kernel import Builder, Index
from isa.table import Table
from workloads import register
from workloads.words import Words, load_word, load_words, store_words
from workloads.workload import Buffer, Kernel, Values, Vector, Workload

CONSTANTS = struct.unpack("<4I", b"expand 32-byte k")
"""RFC 8439 section 2.3."""
_QUARTERS = (
    (0, 4, 8, 12),
    (1, 5, 9, 13),
    (2, 6, 10, 14),
    (3, 7, 11, 15),
    (0, 5, 10, 15),
    (1, 6, 11, 12),
    (2, 7, 8, 13),
    (3, 4, 9, 14),
)
"""Words of the quarter rounds of a double round: columns, then diagonals."""
LARGEST = 16_384
"""Largest message in bytes; it must fit data memory twice."""


# --- Golden --------------------------------------------------------------------------------------


def _rotl(x: int, n: int) -> int:
    return (x << n | x >> 32 - n) & 0xFFFFFFFF


def _quarter(s: list[int], a: int, b: int, c: int, d: int) -> None:
    for x, y, z, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        s[x] = (s[x] + s[y]) & 0xFFFFFFFF
        s[z] = _rotl(s[z] ^ s[x], n)


def permute(state: bytes) -> bytes:
    """Twenty rounds on 16 words, then the addition of the start (RFC 8439 section 2.3)."""
    start = struct.unpack("<16I", state)
    s = list(start)
    for _ in range(10):
        for quarter in _QUARTERS:
            _quarter(s, *quarter)
    return struct.pack("<16I", *((x + y) & 0xFFFFFFFF for x, y in zip(s, start, strict=True)))


def block(key: bytes, counter: int, nonce: bytes) -> bytes:
    """Key stream of one block, 64 bytes."""
    return permute(struct.pack("<4I", *CONSTANTS) + key + struct.pack("<I", counter) + nonce)


def encrypt(key: bytes, counter: int, nonce: bytes, data: bytes) -> bytes:
    """Encrypt a message (RFC 8439 section 2.4)."""
    stream = b"".join(
        block(key, (counter + i) % 2**32, nonce) for i in range((len(data) + 63) // 64)
    )
    return bytes(a ^ b for a, b in zip(data, stream, strict=False))


# --- Kernel --------------------------------------------------------------------------------------


def _double_round(_: Index, *state: Bits) -> Words:
    s = list(state)
    for a, b, c, d in _QUARTERS:
        for x, y, z, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            s[x] = s[x] + s[y]
            s[z] = (s[z] ^ s[x]).rotl(n)
    return s


def stream_words(k: Builder, start: Sequence[Bits]) -> Words:
    """The state after 20 rounds, without the final addition."""
    return list(k.loop(10, _double_round, *start))


def _constants() -> Words:
    return [const(c, 32) for c in CONSTANTS]


def _build_block(k: Builder) -> None:
    """State from memory; it is read again for the addition, as registers are short."""
    state, output = k.pointer("state"), k.pointer("output")
    s = stream_words(k, load_words(k, state, 16))
    store_words(k, output, [x + y for x, y in zip(s, load_words(k, state, 16), strict=True)])


def _build_looped(k: Builder) -> None:
    """Quarter rounds one after the other on the state in the output buffer."""
    state, output = k.pointer("state"), k.pointer("output")
    places = k.constants(
        Table("chacha20_places", 8, tuple(4 * i for quarter in _QUARTERS for i in quarter))
    )

    def quarter_round(i: Index) -> tuple[Bits, ...]:
        at = [k.load(places, 4 * i + j, 8) for j in range(4)]
        a, b, c, d = (k.load(output, index=place).slice(0, 32) for place in at)
        for n, m in ((16, 12), (8, 7)):
            a = a + b
            d = (d ^ a).rotl(n)
            c = c + d
            b = (b ^ c).rotl(m)
        for place, word in zip(at, (a, b, c, d), strict=True):
            k.store(output, 0, word, index=place)
        return ()

    def double_round(_: Index) -> tuple[Bits, ...]:
        k.loop(8, quarter_round)
        return ()

    def copied(i: Index) -> tuple[Bits, ...]:
        k.store(output, 4 * i, load_word(k, state, 4 * i))
        return ()

    def added(i: Index) -> tuple[Bits, ...]:
        k.store(output, 4 * i, load_word(k, output, 4 * i) + load_word(k, state, 4 * i))
        return ()

    k.loop(16, copied)
    k.loop(10, double_round, unroll=False)
    k.loop(16, added)


@register("chacha20-block")
def block_workload() -> Workload:
    """Key stream of one block from the 16 words of constants, key, counter and nonce."""

    def golden(values: Values) -> dict[str, bytes]:
        return {"output": permute(values["state"])}

    return Workload(
        "chacha20-block",
        "RFC 8439 section 2.3",
        (Buffer("state", 64, "in", secret=True), Buffer("output", 64, "out")),
        golden,
        {
            "plain": Kernel("plain", _build_block, "state in registers (RFC 8439)"),
            "looped": Kernel("looped", _build_looped, "small: a loop over quarter rounds"),
        },
        (
            Vector(
                {
                    "state": struct.pack("<4I", *CONSTANTS)
                    + bytes(range(32))
                    + bytes.fromhex("01000000000000090000004a00000000")
                },
                {
                    "output": bytes.fromhex(
                        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
                        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
                    )
                },
                "RFC 8439 section 2.3.2",
            ),
        ),
        message_bytes=64,
    )


SUNSCREEN = (
    b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future,"
    b" sunscreen would be it."
)
"""The message of RFC 8439 sections 2.4.2 and 2.8.2, 114 bytes."""
_CIPHERTEXT = bytes.fromhex(
    "6e2e359a2568f98041ba0728dd0d6981e97e7aec1d4360c20a27afccfd9fae0b"
    "f91b65c5524733ab8f593dabcd62b3571639d624e65152ab8f530c359f0861d8"
    "07ca0dbf500d6a6156a38e088a22b65e52bc514d16ccf806818ce91ab7793736"
    "5af90bbf74a35be6b40b8eedf2785e42874d"
)


def _build_message(message_bytes: int) -> Kernel:
    def build(k: Builder) -> None:
        key, counter, nonce = k.pointer("key"), k.pointer("counter"), k.pointer("nonce")
        source, target = k.pointer("input"), k.pointer("output")

        def one_block(i: Index, count: int) -> None:
            def start() -> Words:
                number = load_word(k, counter) + i.bits(32)
                return [*_constants(), *load_words(k, key, 8), number, *load_words(k, nonce, 3)]

            s = stream_words(k, start())
            s = [x + y for x, y in zip(s, start(), strict=True)]
            for j in range(count // 4):
                k.store(target, 64 * i + 4 * j, s[j] ^ load_word(k, source, 64 * i + 4 * j))
            for j in range(count // 4 * 4, count):
                text = k.load(source, 64 * i + j, 8).slice(0, 8)
                k.store(target, 64 * i + j, s[j // 4].byte(j % 4) ^ text)

        def whole(i: Index) -> tuple[Bits, ...]:
            one_block(i, 64)
            return ()

        blocks, rest = divmod(message_bytes, 64)
        k.loop(blocks, whole, unroll=False)
        if rest:
            one_block(Index((), blocks), rest)

    return Kernel("plain", build, "block by block, state in registers (RFC 8439)")


@register("chacha20", default_bytes=64)
def message_workload(message_bytes: int) -> Workload:
    """Encryption of a message of any size; the counter wraps at 2^32."""
    if not 1 <= message_bytes <= LARGEST:
        raise ValueError(f"message of chacha20 must have 1 to {LARGEST} bytes, not {message_bytes}")

    def golden(values: Values) -> dict[str, bytes]:
        counter = int.from_bytes(values["counter"], "little")
        return {"output": encrypt(values["key"], counter, values["nonce"], values["input"])}

    kernel = _build_message(message_bytes)
    vectors: tuple[Vector, ...] = ()
    if message_bytes <= len(SUNSCREEN):
        inputs = {
            "key": bytes(range(32)),
            "counter": bytes.fromhex("01000000"),
            "nonce": bytes.fromhex("000000000000004a00000000"),
            "input": SUNSCREEN[:message_bytes],
        }
        output = {"output": _CIPHERTEXT[:message_bytes]}
        vectors = (Vector(inputs, output, "RFC 8439 section 2.4.2"),)
    return Workload(
        "chacha20",
        "RFC 8439 section 2.4",
        (
            Buffer("key", 32, "in", secret=True),
            Buffer("counter", 4, "in"),
            Buffer("nonce", 12, "in"),
            Buffer("input", message_bytes, "in", secret=True),
            Buffer("output", message_bytes, "out", declassified=True),
        ),
        golden,
        {kernel.name: kernel},
        vectors,
        units=(message_bytes + 63) // 64,
        message_bytes=message_bytes,
    )

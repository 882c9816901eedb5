"""AES-128 (FIPS 197): encryption, decryption and key schedule of one block; ECB and CTR messages.

A state column is a 32-bit word, its first byte lowest, as `lw` reads it. Round keys are 44 such
words. Decryption is the equivalent inverse cipher (FIPS 197 section 5.3.5): the round keys of its
middle rounds have passed through InvMixColumns.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from isa.aes import INVERSE_MIX, MIX, inverse_sbox, sbox
from isa.aes_block import add, decrypt_block, encrypt_block, expand_key, inverse_keys, mix
from isa.aes_circuit import sbox as sbox_circuit
from isa.bits import Bits, concat, const, lookup
from isa.kernel import Builder, Index, Pointer
from workloads import aes_columns64, aes_looped, register
from workloads.aes_tables import t_tables
from workloads.batches import in_batches
from workloads.words import Words, load_words, store_words, swap_move, swapped, total
from workloads.workload import Buffer, Kernel, Values, Vector, Workload

ROUNDS = 10
"""Of AES-128; two more for every 64 bits of key beyond (FIPS 197 section 5)."""
Round = Callable[[Words], Words]
"""One round without AddRoundKey: four columns in, four out."""


# --- Rounds --------------------------------------------------------------------------------------


def _shifted(s: Words, inverse: bool) -> list[list[Bits]]:
    """Bytes of each column after (Inv)ShiftRows, row 0 first."""
    step = -1 if inverse else 1
    return [[s[(c + step * r) % 4].byte(r) for r in range(4)] for c in range(4)]


def _table_round(inverse: bool) -> Round:
    tables = t_tables(inverse=inverse)

    def apply(s: Words) -> Words:
        return [
            total(*(lookup(t, b) for t, b in zip(tables, row_bytes, strict=True)))
            for row_bytes in _shifted(s, inverse)
        ]

    return apply


def _byte_round(inverse: bool) -> Round:
    """(Inv)SubBytes and (Inv)ShiftRows, byte by byte."""
    box = inverse_sbox() if inverse else sbox()

    def apply(s: Words) -> Words:
        return [
            total(*(lookup(box, b).zext(32) << 8 * r for r, b in enumerate(column)))
            for column in _shifted(s, inverse)
        ]

    return apply


def _word_round(inverse: bool) -> Round:
    """(Inv)SubBytes on whole words, then (Inv)ShiftRows by masks, as NLU-V does."""
    box = inverse_sbox() if inverse else sbox()
    step = -1 if inverse else 1

    def apply(s: Words) -> Words:
        s = [concat(*(lookup(box, w.byte(r)) for r in reversed(range(4)))) for w in s]
        return [
            total(*(s[(c + step * r) % 4] & (0xFF << 8 * r) for r in range(4))) for c in range(4)
        ]

    return apply


def _double(w: Bits) -> Bits:
    """Product with x of the four bytes of a word."""
    high = w & 0x80808080
    return ((w ^ high) << 1) ^ ((high - (high >> 7)) & 0x1B1B1B1B)


def _mix_column(w: Bits) -> Bits:
    """MixColumns of one column: 2 a0 + 3 a1 + a2 + a3 = 2 (a0 + a1) + a1 + (a2 + a3)."""
    next_row = w.rotr(8)
    pair = w ^ next_row
    return _double(pair) ^ next_row ^ pair.rotr(16)


def _inverse_mix_column(w: Bits) -> Bits:
    """InvMixColumns: MixColumns after adding 4 (a0 + a2) to a0, a2 and 4 (a1 + a3) to a1, a3."""
    return _mix_column(w ^ _double(_double(w ^ w.rotr(16))))


def _matrix(column: tuple[int, ...]) -> tuple[int, ...]:
    """Rows of the 32 x 32 matrix over GF(2) of (Inv)MixColumns, row i giving bit i."""
    images = []
    for j in range(32):
        state = (1 << j).to_bytes(4, "little") * 4
        images.append(int.from_bytes(mix(state, column)[:4], "little"))
    return tuple(sum((image >> i & 1) << j for j, image in enumerate(images)) for i in range(32))


# --- Block kernels -------------------------------------------------------------------------------

Cipher = Callable[[Builder, Words, Pointer], Words]
"""One block: builder, four columns, round keys."""


def _load_words(k: Builder, pointer: Pointer, offset: Index | int = 0) -> Words:
    return load_words(k, pointer, 4, offset)


def _cipher(
    rounds: int,
    middle: Round,
    last: Round,
    mix: Callable[[Builder, Bits], Bits] | None,
    *,
    inverse: bool,
) -> Cipher:
    """A block cipher from its rounds; `mix` is (Inv)MixColumns where `middle` leaves it out."""

    def apply(k: Builder, s: Words, keys: Pointer) -> Words:
        def add_key(words: Words, offset: Index | int) -> Words:
            return [w ^ key for w, key in zip(words, _load_words(k, keys, offset), strict=True)]

        def one_round(i: Index, *s: Bits) -> tuple[Bits, ...]:
            t = middle(list(s))
            if mix is not None:
                t = [mix(k, w) for w in t]
            return tuple(add_key(t, (-16) * i + 16 * (rounds - 1) if inverse else 16 * i + 16))

        s = add_key(s, 16 * rounds if inverse else 0)
        s = list(k.loop(rounds - 1, one_round, *s))
        return add_key(last(s), 0 if inverse else 16 * rounds)

    return apply


def _with_matrix(column: tuple[int, ...]) -> Callable[[Builder, Bits], Bits]:
    matrix = _matrix(column)
    return lambda k, w: k.multiply(matrix, w)


def ciphers(
    rounds: int = ROUNDS, *, inverse: bool = False
) -> dict[str, tuple[Cipher, str, frozenset[str]]]:
    """Kernels of one direction: cipher, summary, mnemonics needed."""
    column = INVERSE_MIX if inverse else MIX
    arithmetic = _inverse_mix_column if inverse else _mix_column
    unit = "nnlaesd" if inverse else "nnlaese"
    byte, word, table = _byte_round(inverse), _word_round(inverse), _table_round(inverse)

    def mix(_: Builder, w: Bits) -> Bits:
        return arithmetic(w)

    return {
        "sbox": (
            _cipher(rounds, byte, byte, mix, inverse=inverse),
            "256-byte S-box table, MixColumns on packed bytes (FIPS 197)",
            frozenset(),
        ),
        "ttable": (
            _cipher(rounds, table, byte, None, inverse=inverse),
            "four 1 KiB tables of S-box and MixColumns (Daemen and Rijmen 1999, section 5.2.1)",
            frozenset(),
        ),
        "nluv": (
            _cipher(rounds, word, word, mix, inverse=inverse),
            "SubBytes on words, MixColumns in software (Uzuner and Kavun 2024)",
            frozenset({unit}),
        ),
        "nluv-matrix": (
            _cipher(rounds, word, word, _with_matrix(column), inverse=inverse),
            "SubBytes on words, MixColumns through the matrix of NLU-V",
            frozenset({unit, "nmu"}),
        ),
        "columns64": (
            aes_columns64.on_words(rounds, inverse=inverse),
            aes_columns64.SUMMARY,
            aes_columns64.REQUIRES,
        ),
    }


# --- Bitsliced: two blocks at a time, no secret-dependent address --------------------------------


def _transpose(words: Words) -> Words:
    """Transpose bits between eight words: bit j of byte r of word i becomes bit i of word j."""
    w = list(words)
    for distance, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F)):
        for i in range(8):
            if not i & distance:
                w[i], w[i + distance] = swap_move(w[i], w[i + distance], mask, distance)
    return w


def _shift_rows_slice(x: Bits) -> Bits:
    """ShiftRows of a slice: byte r holds row r; each nibble, one block, rotates by r columns."""
    return total(
        x & 0x000000FF,
        (x >> 1) & 0x00007700,
        (x << 3) & 0x00008800,
        (x >> 2) & 0x00330000,
        (x << 2) & 0x00CC0000,
        (x >> 3) & 0x11000000,
        (x << 1) & 0xEE000000,
    )


def _mix_columns_slices(x: Words) -> Words:
    """MixColumns on slices, bit 0 first; rows are bytes, so the next row is a rotation by 8."""
    next_row = [a.rotr(8) for a in x]
    pair = [a ^ b for a, b in zip(x, next_row, strict=True)]
    doubled = [
        pair[7],
        pair[0] ^ pair[7],
        pair[1],
        pair[2] ^ pair[7],
        pair[3] ^ pair[7],
        *pair[4:7],
    ]
    return [total(d, n, p.rotr(16)) for d, n, p in zip(doubled, next_row, pair, strict=True)]


def _bitsliced_pair(rounds: int) -> Cipher:
    """Encrypts two blocks: eight columns in, eight out."""

    def key_slices(k: Builder, keys: Pointer, offset: Index | int) -> Words:
        key = _load_words(k, keys, offset)
        return _transpose(key + key)

    def substitute(x: Words) -> Words:
        out = sbox_circuit(x[::-1])[::-1]
        return [~y if 0x63 >> b & 1 else y for b, y in enumerate(out)]

    def apply(k: Builder, words: Words, keys: Pointer) -> Words:
        def added(x: Words, offset: Index | int) -> Words:
            return [a ^ b for a, b in zip(x, key_slices(k, keys, offset), strict=True)]

        def one_round(i: Index, *x: Bits) -> Words:
            mixed = _mix_columns_slices([_shift_rows_slice(a) for a in substitute(list(x))])
            return added(mixed, 16 * i + 16)

        x = added(_transpose(words), 0)
        x = list(k.loop(rounds - 1, one_round, *x))
        x = [_shift_rows_slice(a) for a in substitute(x)]
        return _transpose(added(x, 16 * rounds))

    return apply


def bitsliced(rounds: int) -> Cipher:
    """Encrypts one block, with which half of the slices idles, or two."""
    pair = _bitsliced_pair(rounds)
    return lambda k, s, keys: pair(k, s + [const(0, 32)] * (8 - len(s)), keys)[: len(s)]


BITSLICED = "bitsliced: constant time, S-box circuit of Boyar and Peralta 2010, two blocks at once"


# --- Workloads -----------------------------------------------------------------------------------

_STANDARD = "FIPS 197 (2001, updated 2023)"
KEY_B = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
_KEY_C = bytes(range(16))
_BLOCKS = (
    (
        KEY_B,
        bytes.fromhex("3243f6a8885a308d313198a2e0370734"),
        bytes.fromhex("3925841d02dc09fbdc118597196a0b32"),
        "FIPS 197 appendix B",
    ),
    (
        _KEY_C,
        bytes.fromhex("00112233445566778899aabbccddeeff"),
        bytes.fromhex("69c4e0d86a7b0430d8cdb78070b4c55a"),
        "FIPS 197 appendix C.1",
    ),
)


def _block_kernels(inverse: bool) -> dict[str, Kernel]:
    """Kernels that process one block from one buffer into another."""

    def kernel(name: str, cipher: Cipher, summary: str, needs: frozenset[str]) -> Kernel:
        def build(k: Builder) -> None:
            source, keys, target = k.pointer("input"), k.pointer("round_keys"), k.pointer("output")
            store_words(k, target, cipher(k, _load_words(k, source), keys), 0)

        return Kernel(name, build, summary, needs)

    variants = ciphers(inverse=inverse)
    if not inverse:
        variants["bitsliced"] = (bitsliced(ROUNDS), BITSLICED, frozenset())
    made = {name: kernel(name, *parts) for name, parts in variants.items()}
    made["columns64"] = Kernel(
        "columns64",
        aes_columns64.block(ROUNDS, inverse=inverse),
        aes_columns64.SUMMARY,
        aes_columns64.REQUIRES,
    )
    if not inverse:
        build = aes_looped.block(ROUNDS, _mix_column)
        made["looped"] = Kernel("looped", build, aes_looped.SUMMARY)
    return made


def _block_buffers() -> tuple[Buffer, ...]:
    return (
        Buffer("input", 16, "in", secret=True),
        Buffer("round_keys", 16 * (ROUNDS + 1), "in", secret=True),
        Buffer("output", 16, "out", declassified=True),
    )


@register("aes128-encrypt")
def encrypt_workload() -> Workload:
    """Encryption of one block, round keys given."""
    return Workload(
        "aes128-encrypt",
        _STANDARD,
        _block_buffers(),
        lambda v: {"output": encrypt_block(v["input"], v["round_keys"])},
        _block_kernels(inverse=False),
        tuple(
            Vector({"input": p, "round_keys": expand_key(key)}, {"output": c}, source)
            for key, p, c, source in _BLOCKS
        ),
        message_bytes=16,
    )


@register("aes128-decrypt")
def decrypt_workload() -> Workload:
    """Decryption of one block, round keys of the equivalent inverse cipher given."""
    return Workload(
        "aes128-decrypt",
        _STANDARD,
        _block_buffers(),
        lambda v: {"output": decrypt_block(v["input"], v["round_keys"])},
        _block_kernels(inverse=True),
        tuple(
            Vector({"input": c, "round_keys": inverse_keys(expand_key(key))}, {"output": p}, source)
            for key, p, c, source in _BLOCKS
        ),
        message_bytes=16,
    )


def schedule(
    count: int, substitute: Callable[[Bits], Bits]
) -> Callable[[Builder, Pointer, Pointer], None]:
    """Kernel of the key schedule of a key of `count` words, around a given SubWord."""

    def round_keys(rcon: Bits, old: Sequence[Bits]) -> Words:
        new: Words = []
        for i, word in enumerate(old):
            if i == 0:
                new.append(word ^ substitute(old[-1].rotr(8)) ^ rcon)
            elif i == 4 and count == 8:
                new.append(word ^ substitute(new[-1]))
            else:
                new.append(new[-1] ^ word)
        return new

    def build(k: Builder, key: Pointer, keys: Pointer) -> None:
        words = load_words(k, key, count)
        store_words(k, keys, words, 0)

        def step(i: Index, rcon: Bits, *w: Bits) -> tuple[Bits, ...]:
            new = round_keys(rcon, w)
            store_words(k, keys, new, 4 * count * i + 4 * count)
            doubled = (rcon << 1) ^ ((const(0, 32) - (rcon >> 7)) & 0x11B)
            return (doubled, *new)

        steps, rest = divmod(4 * (count + 7) - count, count)
        rcon, *words = k.loop(steps, step, const(1, 32), *words)
        if rest:
            store_words(k, keys, round_keys(rcon, words)[:rest], 4 * count * (steps + 1))

    return build


def substitute_bytes(w: Bits) -> Bits:
    """SubWord, byte by byte."""
    return total(*(lookup(sbox(), w.byte(r)).zext(32) << 8 * r for r in range(4)))


def substitute_word(w: Bits) -> Bits:
    """SubWord on the whole word, as NLU-V does."""
    return concat(*(lookup(sbox(), w.byte(r)) for r in reversed(range(4))))


SCHEDULE_B = bytes.fromhex(
    "2b7e151628aed2a6abf7158809cf4f3ca0fafe1788542cb123a339392a6c7605"
    "f2c295f27a96b9435935807a7359f67f3d80477d4716fe3e1e237e446d7a883b"
    "ef44a541a8525b7fb671253bdb0bad00d4d1c6f87c839d87caf2b8bc11f915bc"
    "6d88a37a110b3efddbf98641ca0093fd4e54f70e5f5fc9f384a64fb24ea6dc4f"
    "ead27321b58dbad2312bf5607f8d292fac7766f319fadc2128d12941575c006e"
    "d014f9a8c9ee2589e13f0cc8b6630ca6"
)


@register("aes128-key-schedule")
def key_schedule_workload() -> Workload:
    """Expansion of a 128-bit key into 44 words."""

    def kernel(name: str, substitute: Callable[[Bits], Bits], summary: str, *needs: str) -> Kernel:
        function = schedule(4, substitute)

        def build(k: Builder) -> None:
            function(k, k.pointer("key"), k.pointer("round_keys"))

        return Kernel(name, build, summary, frozenset(needs))

    return Workload(
        "aes128-key-schedule",
        _STANDARD,
        (Buffer("key", 16, "in", secret=True), Buffer("round_keys", 176, "out")),
        lambda v: {"round_keys": expand_key(v["key"])},
        {
            "sbox": kernel("sbox", substitute_bytes, "256-byte S-box table (FIPS 197)"),
            "nluv": kernel(
                "nluv", substitute_word, "SubWord by the S-box unit of NLU-V", "nnlaese"
            ),
            "columns64": Kernel(
                "columns64",
                aes_columns64.schedule128,
                "256-byte S-box table, two words a register, for RV64",
                aes_columns64.REQUIRES,
            ),
        },
        (Vector({"key": KEY_B}, {"round_keys": SCHEDULE_B}, "FIPS 197 appendix A.1"),),
    )


_MESSAGE = bytes.fromhex(
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
)
_ECB = bytes.fromhex(
    "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf"
    "43b1cd7f598ece23881b00e3ed0306887b0c785e27e8ad3f8223207104725dd4"
)
_COUNTER = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
_CTR = bytes.fromhex(
    "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
    "5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee"
)
LARGEST = 65_536
"""Largest message in bytes; one that does not fit data memory can only be extrapolated."""


def _blocks(name: str, message_bytes: int) -> int:
    if message_bytes % 16 or not 16 <= message_bytes <= LARGEST:
        raise ValueError(
            f"message of {name} must be a multiple of 16 bytes in 16 to {LARGEST}, "
            f"not {message_bytes}"
        )
    return message_bytes // 16


Stream = Callable[[Builder, Index, int, Callable[[Words], Words]], None]
"""Processes the blocks from an index on: builder, first block, their number, cipher."""


def _message_kernels(
    prepare: Callable[[Builder], tuple[Pointer, Stream]], blocks: int
) -> dict[str, Kernel]:
    """Kernels that process a message in a loop over its blocks, two at a time if bitsliced."""

    def kernel(
        name: str, cipher: Cipher, at_once: int, summary: str, needs: frozenset[str]
    ) -> Kernel:
        def build(k: Builder) -> None:
            keys, stream = prepare(k)

            def some(first: Index, count: int) -> None:
                stream(k, first, count, lambda words: cipher(k, words, keys))

            in_batches(k, blocks, at_once, some)

        return Kernel(name, build, summary, needs)

    made = {
        name: kernel(name, cipher, 1, summary, needs)
        for name, (cipher, summary, needs) in ciphers().items()
    }
    made["bitsliced"] = kernel("bitsliced", bitsliced(ROUNDS), 2, BITSLICED, frozenset())
    return made


def _ecb(k: Builder) -> tuple[Pointer, Stream]:
    source, keys, target = k.pointer("input"), k.pointer("round_keys"), k.pointer("output")

    def stream(k: Builder, first: Index, count: int, cipher: Callable[[Words], Words]) -> None:
        words = [w for b in range(count) for w in _load_words(k, source, 16 * first + 16 * b)]
        out = cipher(words)
        for b in range(count):
            store_words(k, target, out[4 * b : 4 * b + 4], 16 * first + 16 * b)

    return keys, stream


def _ctr(k: Builder) -> tuple[Pointer, Stream]:
    counter, keys = k.pointer("counter"), k.pointer("round_keys")
    source, target = k.pointer("input"), k.pointer("output")
    nonce = _load_words(k, counter)
    start = swapped(nonce[3])

    def stream(k: Builder, first: Index, count: int, cipher: Callable[[Words], Words]) -> None:
        words: Words = []
        for b in range(count):
            words += [*nonce[:3], swapped(start + (first + b).bits(32))]
        out = cipher(words)
        for b in range(count):
            offset = 16 * first + 16 * b
            text = _load_words(k, source, offset)
            block = out[4 * b : 4 * b + 4]
            store_words(k, target, [a ^ c for a, c in zip(block, text, strict=True)], offset)

    return keys, stream


def _encrypt_ecb(values: Values) -> dict[str, bytes]:
    data, keys = values["input"], values["round_keys"]
    blocks = (data[i : i + 16] for i in range(0, len(data), 16))
    return {"output": b"".join(encrypt_block(b, keys) for b in blocks)}


def _encrypt_ctr(values: Values) -> dict[str, bytes]:
    """CTR with a 32-bit big-endian counter (SP 800-38A appendix B.1, m = 32)."""
    data, keys, counter = values["input"], values["round_keys"], values["counter"]
    start = struct.unpack(">I", counter[12:])[0]
    out = b""
    for i in range(0, len(data), 16):
        block = counter[:12] + struct.pack(">I", (start + i // 16) % 2**32)
        out += add(data[i : i + 16], encrypt_block(block, keys))
    return {"output": out}


def _message_vectors(inputs: Values, expected: bytes, size: int, source: str) -> tuple[Vector, ...]:
    """The published message where it is this long or longer, cut to size."""
    if size > len(_MESSAGE):
        return ()
    cut = {**inputs, "input": _MESSAGE[:size], "round_keys": expand_key(KEY_B)}
    return (Vector(cut, {"output": expected[:size]}, source),)


@register("aes128-ecb", default_bytes=64)
def ecb_workload(message_bytes: int) -> Workload:
    """ECB encryption of a message, round keys given."""
    blocks = _blocks("aes128-ecb", message_bytes)
    return Workload(
        "aes128-ecb",
        "NIST SP 800-38A section 6.1",
        (
            Buffer("input", message_bytes, "in", secret=True),
            Buffer("round_keys", 176, "in", secret=True),
            Buffer("output", message_bytes, "out", declassified=True),
        ),
        _encrypt_ecb,
        _message_kernels(_ecb, blocks),
        _message_vectors({}, _ECB, message_bytes, "SP 800-38A F.1.1"),
        units=blocks,
        message_bytes=message_bytes,
    )


@register("aes128-ctr", default_bytes=64)
def ctr_workload(message_bytes: int) -> Workload:
    """CTR encryption of a message, round keys given; the low counter word must not wrap."""
    blocks = _blocks("aes128-ctr", message_bytes)
    return Workload(
        "aes128-ctr",
        "NIST SP 800-38A section 6.5",
        (
            Buffer("counter", 16, "in"),
            Buffer("round_keys", 176, "in", secret=True),
            Buffer("input", message_bytes, "in", secret=True),
            Buffer("output", message_bytes, "out", declassified=True),
        ),
        _encrypt_ctr,
        _message_kernels(_ctr, blocks),
        _message_vectors({"counter": _COUNTER}, _CTR, message_bytes, "SP 800-38A F.5.1"),
        units=blocks,
        message_bytes=message_bytes,
    )

"""PRESENT-80 and PRESENT-128: encryption, decryption and key schedule of one block.

The specification numbers bits and fixes no byte order: here blocks, keys and round keys are
integers in memory, least significant byte first. There are 32 round keys of 8 bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from isa.bits import Bits, concat, const, lookup
from isa.kernel import Builder, Index, Pointer, UnsupportedKernel
from isa.table import Table
from workloads.block_cipher import BlockCipher, Cipher, Example, ScheduleVariant, Variant
from workloads.intrinsic import intrinsic
from workloads.long import Long, load_long
from workloads.words import Words, load_words, swap_move, total

ROUNDS = 31
SBOX = (0xC, 0x5, 0x6, 0xB, 0x9, 0x0, 0xA, 0xD, 0x3, 0xE, 0xF, 0x8, 0x4, 0x7, 0x1, 0x2)
"""Bogdanov et al., CHES 2007, section 3."""
INVERSE_SBOX = tuple(SBOX.index(x) for x in range(16))
MASK = 2**64 - 1
ANF_MASK = 0xE39498F421BC4A80
"""The S-box as NLU-V takes it (PRESENTNLUV.s of Uzuner and Kavun 2024)."""
_SPEC = "Bogdanov et al., PRESENT, CHES 2007"


# --- Golden: the specification on integers -------------------------------------------------------


def _moved(x: int, places: Sequence[int]) -> int:
    return sum((x >> i & 1) << place for i, place in enumerate(places))


PLACES = tuple(63 if i == 63 else 16 * i % 63 for i in range(64))
"""Where the permutation layer moves bit i."""
_INVERSE_PLACES = tuple(PLACES.index(i) for i in range(64))


def _substituted(x: int, box: Sequence[int], nibbles: int = 16) -> int:
    return sum(box[x >> 4 * i & 15] << 4 * i for i in range(nibbles))


def _round_keys(keys: bytes) -> list[int]:
    return [int.from_bytes(keys[i : i + 8], "little") for i in range(0, 256, 8)]


def encrypt_block(block: bytes, keys: bytes) -> bytes:
    """Encrypt 8 bytes with 256 bytes of round keys."""
    state = int.from_bytes(block, "little")
    *first, last = _round_keys(keys)
    for key in first:
        state = _moved(_substituted(state ^ key, SBOX), PLACES)
    return (state ^ last).to_bytes(8, "little")


def decrypt_block(block: bytes, keys: bytes) -> bytes:
    """Decrypt 8 bytes with the round keys of encryption."""
    *first, last = _round_keys(keys)
    state = int.from_bytes(block, "little") ^ last
    for key in reversed(first):
        state = _substituted(_moved(state, _INVERSE_PLACES), INVERSE_SBOX) ^ key
    return state.to_bytes(8, "little")


def expand_key(key: bytes) -> bytes:
    """Round keys of a key of 10 or 16 bytes, 256 bytes."""
    width = 8 * len(key)
    register, out = int.from_bytes(key, "little"), b""
    for i in range(1, ROUNDS + 2):
        out += (register >> width - 64).to_bytes(8, "little")
        register = (register << 61 | register >> width - 61) & ((1 << width) - 1)
        top = 1 if width == 80 else 2  # nibbles that pass the S-box
        shift = width - 4 * top
        high = _substituted(register >> shift, SBOX, top)
        register = register & ((1 << shift) - 1) | high << shift
        register ^= i << (15 if width == 80 else 62)
    return out


# --- Layers of kernels: each maps a state of one or two registers --------------------------------

State = Long
Layer = Callable[[Builder, State], State]


def _exchange(x: Bits, distance: int, mask: int) -> Bits:
    """Exchange the bits under `mask` with those `distance` above them."""
    t = (x ^ (x >> distance)) & mask
    return x ^ t ^ (t << distance)


def _permuted(_: Builder, s: State) -> State:
    """The permutation layer: four exchanges of index bits.

    Bit index (w, k2, k1, k0, j1, j0), the nibble being wk, becomes (j1, j0, w, k2, k1, k0).
    """
    if len(s.parts) == 1:
        x = s.parts[0]
        for distance, mask in (
            (15, 0x0000AAAA0000AAAA),
            (3, 0x0A0A0A0A0A0A0A0A),
            (24, 0x00000000FF00FF00),
            (30, 0x00000000CCCCCCCC),
        ):
            x = _exchange(x, distance, mask)
        return Long((x,))
    low, high = (_exchange(_exchange(x, 15, 0x0000AAAA), 3, 0x0A0A0A0A) for x in s.parts)
    low, high = swap_move(low, high, 0x00FF00FF, 8)
    low, high = swap_move(low, high, 0x33333333, 2)
    return Long((low, high))


def _unpermuted(_: Builder, s: State) -> State:
    """The inverse permutation layer: the same exchanges in reverse."""
    if len(s.parts) == 1:
        x = s.parts[0]
        for distance, mask in (
            (30, 0x00000000CCCCCCCC),
            (24, 0x00000000FF00FF00),
            (3, 0x0A0A0A0A0A0A0A0A),
            (15, 0x0000AAAA0000AAAA),
        ):
            x = _exchange(x, distance, mask)
        return Long((x,))
    low, high = swap_move(s.parts[0], s.parts[1], 0x33333333, 2)
    low, high = swap_move(low, high, 0x00FF00FF, 8)
    return Long(tuple(_exchange(_exchange(x, 3, 0x0A0A0A0A), 15, 0x0000AAAA) for x in (low, high)))


def _byte_table(name: str, box: Sequence[int]) -> Table:
    """Both nibbles of a byte through the S-box."""
    return Table(name, 8, tuple(_substituted(b, box, 2) for b in range(256)))


def _by_bytes(table: Table) -> Layer:
    def apply(_: Builder, s: State) -> State:
        return Long(
            tuple(
                concat(*(lookup(table, p.byte(i)) for i in reversed(range(p.width // 8))))
                for p in s.parts
            )
        )

    return apply


def _in_parallel(circuit: Callable[[Words], Words]) -> Layer:
    """The S-box as a circuit on every nibble at once, bit 0 first."""

    def apply(_: Builder, s: State) -> State:
        parts = []
        for p in s.parts:
            ones = const(0x1111111111111111, p.width)
            out = circuit([(p >> j) & ones for j in range(4)])
            parts.append(total(*(y & ones << j for j, y in enumerate(shifted(out)))))
        return Long(tuple(parts))

    def shifted(out: Words) -> Words:
        return [y << j for j, y in enumerate(out)]

    return apply


def _circuit(x: Words) -> Words:
    """The S-box in 14 gates (Courtois, Hulme and Mourouzis 2011)."""
    x3, x2, x1, x0 = x
    t1 = x2 ^ x1
    t2 = x1 & t1
    t3 = x0 ^ t2
    y3 = x3 ^ t3
    t2 = t1 & t3
    t1 = t1 ^ y3
    t2 = t2 ^ x1
    y2 = t1 ^ (x3 | t2)
    t2 = t2 ^ ~x3
    y0 = y2 ^ t2
    y1 = t3 ^ (t2 | t1)
    return [y3, y2, y1, y0]


def _normal_form(box: Sequence[int]) -> Callable[[Words], Words]:
    """A circuit from the algebraic normal form: sums of products of input bits."""

    def circuit(x: Words) -> Words:
        monomials: dict[int, Bits] = {1 << i: bit for i, bit in enumerate(x)}
        for k in range(1, 16):
            if k not in monomials:
                low = k & -k
                monomials[k] = monomials[k ^ low] & monomials[low]
        out = []
        for j in range(4):
            present = [
                k for k in range(16) if sum(box[m] >> j & 1 for m in range(16) if m & k == m) & 1
            ]
            terms = total(*(monomials[k] for k in present if k))
            out.append(~terms if 0 in present else terms)
        return out

    return circuit


def _crossbar(box: Sequence[int]) -> Layer:
    """The S-box as nibble crossbars that pick from a constant."""
    packed = sum(y << 4 * x for x, y in enumerate(box))

    def apply(k: Builder, s: State) -> State:
        def pick(table: int, index: Bits) -> Bits:
            return intrinsic("zbkx", "xperm4", k.xlen, rs1=const(table, k.xlen), rs2=index)

        if k.xlen == 64:
            return Long((pick(packed, s.parts[0]),))
        return Long(tuple(pick(packed, p) | pick(packed >> 32, p ^ 0x88888888) for p in s.parts))

    return apply


def _unshuffled(k: Builder, s: State) -> State:
    """The permutation layer by unzip: index (w, k2..k0, j1, j0), then (w, j1, j0, k2..k0)."""
    if k.xlen != 32:
        raise UnsupportedKernel("kernel needs unzip, which RV64 does not have")

    def unzip(x: Bits) -> Bits:
        return intrinsic("zbkb", "unzip", 32, rs1=x)

    low, high = (unzip(unzip(p)) for p in s.parts)
    swap_middle = const(0x03010200, 32)
    halves = (
        concat(high.slice(0, 16), low.slice(0, 16)),
        concat(high.slice(16, 16), low.slice(16, 16)),
    )
    return Long(tuple(intrinsic("zbkx", "xperm8", 32, rs1=h, rs2=swap_middle) for h in halves))


def _by_anf(k: Builder, s: State) -> State:
    _only_rv32(k, "nnlanf")
    return Long(tuple(k.anf(ANF_MASK, p) for p in s.parts))


def _only_rv32(k: Builder, mnemonic: str) -> None:
    if k.xlen != 32:
        raise UnsupportedKernel(f"kernel needs {mnemonic}, which RV64 does not have")


def permutation_matrix(target: int, source: int) -> tuple[int, ...]:
    """Rows of the 32 x 32 block of the permutation from one word of the state to another."""
    rows = [0] * 32
    for i in range(32):
        place = PLACES[32 * source + i]
        if place // 32 == target:
            rows[place % 32] |= 1 << i
    return tuple(rows)


def _by_matrices(k: Builder, s: State) -> State:
    parts = []
    for target in range(2):
        k.multiply(permutation_matrix(target, 0), s.parts[0])
        matrix = permutation_matrix(target, 1)
        parts.append(k.multiply(matrix, s.parts[1], accumulate=True))
    return Long(tuple(parts))


# --- Kernels -------------------------------------------------------------------------------------


def _load_key(k: Builder, keys: Pointer, offset: Index | int) -> State:
    return load_long(k, keys, offset)


def _on_state(cipher: Callable[[Builder, State, Pointer], State]) -> Cipher:
    """Give a cipher on a state the words of a block, two of 32 bits."""

    def apply(k: Builder, words: Words, keys: Pointer) -> Words:
        state = Long(tuple(words)) if k.xlen == 32 else Long((concat(words[1], words[0]),))
        out = cipher(k, state, keys).parts
        return list(out) if k.xlen == 32 else [out[0].slice(0, 32), out[0].slice(32, 32)]

    return apply


def _encryption(*layers: Layer) -> Cipher:
    """Rounds of adding a key, then the layers."""

    def cipher(k: Builder, s: State, keys: Pointer) -> State:
        def one_round(i: Index, *parts: Bits) -> tuple[Bits, ...]:
            state = Long(parts) ^ _load_key(k, keys, 8 * i)
            for layer in layers:
                state = layer(k, state)
            return state.parts

        state = Long(k.loop(ROUNDS, one_round, *s.parts))
        return state ^ _load_key(k, keys, 8 * ROUNDS)

    return _on_state(cipher)


def _decryption(*layers: Layer) -> Cipher:
    """Rounds of the inverse layers, then adding a key, from the last key down."""

    def cipher(k: Builder, s: State, keys: Pointer) -> State:
        def one_round(i: Index, *parts: Bits) -> tuple[Bits, ...]:
            state = Long(parts)
            for layer in layers:
                state = layer(k, state)
            return (state ^ _load_key(k, keys, (-8) * i + 8 * (ROUNDS - 1))).parts

        return Long(k.loop(ROUNDS, one_round, *(s ^ _load_key(k, keys, 8 * ROUNDS)).parts))

    return _on_state(cipher)


def _lanes(b: int) -> int:
    """Both layers for byte 0: eight bits, two at the foot of each quarter of the state."""
    return _moved(_substituted(b, SBOX, 2), PLACES)


def _packed(b: int) -> int:
    """The same in 32 bits: quarters 0, 2, 1, 3, so that halves unpack by one mask."""
    x = _lanes(b)
    return sum((x >> 16 * q & 3) << 8 * place for place, q in enumerate((0, 2, 1, 3)))


def _sp_layer(tables: Sequence[Table], *, shift: bool) -> Layer:
    """Both layers by tables of 32-bit entries; byte i of the state fills bits 2 i of the quarters.

    Args:
        tables: One, whose entries are shifted; or four, one for each byte of half the state.
        shift: Whether entries are still to be shifted.
    """

    def apply(_: Builder, s: State) -> State:
        bytes_ = [p.byte(i) for p in s.parts for i in range(p.width // 8)]

        def half(four: Sequence[Bits]) -> Bits:
            entries = [lookup(tables[i % len(tables)], b) for i, b in enumerate(four)]
            return total(*(e << 2 * i if shift else e for i, e in enumerate(entries)))

        x, y = half(bytes_[:4]), half(bytes_[4:])
        even, odd = 0x00FF00FF, 0xFF00FF00
        low = (x & even) | ((y & even) << 8)
        high = ((x >> 8) & even) | (y & odd)
        return Long((low, high) if len(s.parts) == 2 else (concat(high, low),))

    return apply


def _wide_sp_layer(k: Builder, s: State) -> State:
    """Both layers by one table of 64-bit entries, shifted."""
    if k.xlen != 64:
        raise UnsupportedKernel("kernel needs RV64: its table has entries of 64 bits")
    table = Table("present_sp", 64, tuple(_lanes(b) for b in range(256)))
    x = s.parts[0]
    return Long((total(*(lookup(table, x.byte(i)) << 2 * i for i in range(8))),))


def _spread_layer(_: Builder, s: State) -> State:
    """The inverse permutation by a table that spreads the bits of a byte four apart."""
    spread = Table("present_spread", 32, tuple(_moved(b, range(0, 32, 4)) for b in range(256)))
    bytes_ = [p.byte(i) for p in s.parts for i in range(p.width // 8)]
    low = total(*(lookup(spread, bytes_[2 * j]) << j for j in range(4)))
    high = total(*(lookup(spread, bytes_[2 * j + 1]) << j for j in range(4)))
    return Long((low, high) if len(s.parts) == 2 else (concat(high, low),))


_SBOX_BYTES = _byte_table("present_sbox_pair", SBOX)
_INVERSE_BYTES = _byte_table("present_inv_sbox_pair", INVERSE_SBOX)
_SP = Table("present_sp_packed", 32, tuple(_packed(b) for b in range(256)))
_SP_SHIFTED = tuple(
    Table(f"present_sp_packed{i}", 32, tuple(_packed(b) << 2 * i for b in range(256)))
    for i in range(4)
)

ENCRYPTION = {
    "sbox": Variant(
        _encryption(_by_bytes(_SBOX_BYTES), _permuted),
        "256-byte S-box table on bytes, permutation by exchanges of index bits",
    ),
    "table": Variant(
        _encryption(_sp_layer([_SP], shift=True)), "one 1 KiB table of S-box and permutation"
    ),
    "tables": Variant(
        _encryption(_sp_layer(_SP_SHIFTED, shift=False)),
        "four 1 KiB tables of S-box and permutation",
    ),
    "wide-table": Variant(
        _encryption(_wide_sp_layer),
        "RV64: one 2 KiB table of S-box and permutation",
        frozenset({"ld"}),
    ),
    "circuit": Variant(
        _encryption(_in_parallel(_circuit), _permuted),
        "constant time: 14-gate S-box on all nibbles at once",
    ),
    "crossbar": Variant(
        _encryption(_crossbar(SBOX), _permuted),
        "S-box by nibble crossbars, permutation by exchanges of index bits",
        frozenset({"xperm4"}),
    ),
    "shuffle": Variant(
        _encryption(_crossbar(SBOX), _unshuffled),
        "RV32: S-box by nibble crossbars, permutation by unzip (Nisancı et al. 2022)",
        frozenset({"xperm4", "xperm8", "unzip"}),
    ),
    "nluv": Variant(
        _encryption(_by_anf, _permuted),
        "S-box by the ANF unit of NLU-V, permutation in software",
        frozenset({"nnlanf", "nldnl"}),
    ),
    "nluv-matrix": Variant(
        _encryption(_by_anf, _by_matrices),
        "S-box and permutation in NLU-V (Uzuner and Kavun 2024)",
        frozenset({"nnlanf", "nldnl", "nldl", "nmu", "nma1"}),
    ),
}
DECRYPTION = {
    "sbox": Variant(
        _decryption(_unpermuted, _by_bytes(_INVERSE_BYTES)),
        "256-byte S-box table on bytes, permutation by exchanges of index bits",
    ),
    "table": Variant(
        _decryption(_spread_layer, _by_bytes(_INVERSE_BYTES)),
        "256-byte S-box table, permutation by a 1 KiB table",
    ),
    "circuit": Variant(
        _decryption(_unpermuted, _in_parallel(_normal_form(INVERSE_SBOX))),
        "constant time: S-box in algebraic normal form on all nibbles at once",
    ),
    "crossbar": Variant(
        _decryption(_unpermuted, _crossbar(INVERSE_SBOX)),
        "S-box by nibble crossbars, permutation by exchanges of index bits",
        frozenset({"xperm4"}),
    ),
}


# --- Key schedules -------------------------------------------------------------------------------

TopSbox = Callable[[Bits], Bits]
"""The S-box on the top nibble of a 32-bit word, the rest kept."""
_DIFFERENCE = Table("present_sbox_difference", 8, tuple(y ^ x for x, y in enumerate(SBOX)))


def _top_by_table(w: Bits, low: int = 28) -> Bits:
    return w ^ (lookup(_DIFFERENCE, w.slice(low, 4)).zext(32) << low)


def _top_by_circuit(w: Bits, low: int = 28) -> Bits:
    out = _circuit([w >> low + j for j in range(4)])
    field = total(*((y & 1) << low + j for j, y in enumerate(out)))
    return (w & ~(15 << low)) | field


def load_key_80(k: Builder, key: Pointer) -> Words:
    """The register as bits 79..48, 47..16 and 15..0, the last aligned to the top of a word."""
    low = k.load(key, 0, 16).slice(0, 16)
    third = k.load(key, 4).slice(0, 32)
    second = concat(third.slice(0, 16), k.load(key, 2, 16).slice(0, 16))
    top = concat(k.load(key, 8, 16).slice(0, 16), third.slice(16, 16))
    return [top, second, concat(low, const(0, 16))]


def next_key_80(substitute: TopSbox, count: Bits, high: Bits, middle: Bits, foot: Bits) -> Words:
    """The register after round `count` (from 1), as `load_key_80` has it."""
    new_high = substitute((high >> 19) | (foot >> 3) | (middle << 29))
    new_middle = (high << 13) | (middle >> 19)
    new_foot = (middle << 13) & 0xFFFF0000
    return [new_high, new_middle ^ (count >> 1), new_foot ^ (count << 31)]


def _schedule_80(substitute: TopSbox, k: Builder, key: Pointer, keys: Pointer) -> None:
    def store(i: Index | int, high: Bits, middle: Bits) -> None:
        k.store(keys, 8 * i, middle)
        k.store(keys, 8 * i + 4, high)

    def step(i: Index, high: Bits, middle: Bits, foot: Bits) -> Words:
        store(i, high, middle)
        return next_key_80(substitute, (i + 1).bits(32), high, middle, foot)

    high, middle, _ = k.loop(ROUNDS, step, *load_key_80(k, key))
    store(ROUNDS, high, middle)


def _schedule_128(
    substitute: Callable[[Bits, int], Bits], k: Builder, key: Pointer, keys: Pointer
) -> None:
    """The register as four words, word 0 the lowest."""

    def store(i: Index | int, w: Sequence[Bits]) -> None:
        k.store(keys, 8 * i, w[2])
        k.store(keys, 8 * i + 4, w[3])

    def step(i: Index, *w: Bits) -> Words:
        store(i, w)
        count = (i + 1).bits(32)
        new = [(w[(j + 2) % 4] >> 3) | (w[(j + 3) % 4] << 29) for j in range(4)]
        top = substitute(substitute(new[3], 28), 24)
        return [new[0], new[1] ^ (count << 30), new[2] ^ (count >> 2), top]

    store(ROUNDS, k.loop(ROUNDS, step, *load_words(k, key, 4)))


_BY_TABLE = "16-byte S-box table"
_BY_CIRCUIT = "constant time: 14-gate S-box"
SCHEDULES = {
    80: {
        "sbox": ScheduleVariant(partial(_schedule_80, _top_by_table), _BY_TABLE),
        "circuit": ScheduleVariant(partial(_schedule_80, _top_by_circuit), _BY_CIRCUIT),
    },
    128: {
        "sbox": ScheduleVariant(partial(_schedule_128, _top_by_table), _BY_TABLE),
        "circuit": ScheduleVariant(partial(_schedule_128, _top_by_circuit), _BY_CIRCUIT),
    },
}


# --- Workloads -----------------------------------------------------------------------------------

_ZEROS, _ONES = "00", "ff"
ANSWERS = {  # width of the key: byte of the key, byte of the plaintext, ciphertext as printed
    80: (
        (_ZEROS, _ZEROS, "5579c1387b228445"),
        (_ONES, _ZEROS, "e72c46c0f5945049"),
        (_ZEROS, _ONES, "a112ffc72f68417b"),
        (_ONES, _ONES, "3333dcd3213210d2"),
    ),
    128: (
        (_ZEROS, _ZEROS, "96db702a2e6900af"),
        (_ONES, _ZEROS, "13238c710272a5d8"),
        (_ZEROS, _ONES, "3c6019e5e5edd563"),
        (_ONES, _ONES, "628d9fbd4218e5b4"),
    ),
}


def _cipher(bits: int) -> BlockCipher:
    source = f"{_SPEC}, appendix I" if bits == 80 else "ISO/IEC 29192-2, PRESENT-128"
    return BlockCipher(
        f"present{bits}",
        _SPEC,
        8,
        bits // 8,
        8 * (ROUNDS + 1),
        expand_key,
        encrypt_block,
        decrypt_block,
        ENCRYPTION,
        DECRYPTION,
        SCHEDULES[bits],
        tuple(
            Example(
                bytes.fromhex(key) * (bits // 8),
                bytes.fromhex(plaintext) * 8,
                bytes.fromhex(ciphertext)[::-1],
                source,
            )
            for key, plaintext, ciphertext in ANSWERS[bits]
        ),
    )


PRESENT80 = _cipher(80)
PRESENT128 = _cipher(128)
PRESENT80.register()
PRESENT128.register()

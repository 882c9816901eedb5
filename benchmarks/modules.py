"""The modules on which the area and delay rungs are measured, by family.

Datapaths of published instructions and of ciphers, the circuits of this project, and small cores,
of 100 to 35,000 gate equivalents. What they are made of is proven in the tests; the two engines
and the rounds of ciphers that no kernel of the project uses are here for their size alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyrtl

from hw.core import core_block
from hw.extension import build_datapath, build_extension
from hw.lower import Circuits, lower
from hw.units import Member, chosen_circuits, circuits_for
from isa import aes
from isa.bits import Bits, arg, arguments, concat, const, lookup, mux
from isa.core import Core
from isa.instruction import Instruction
from isa.instruction_set import InstructionSet, load_extension
from isa.sm4 import sbox as sm4_sbox

FAMILIES = ("S-boxes", "rotate and permute", "arithmetic", "hash units", "cipher rounds", "blocks")
"""`blocks` are whole: extension blocks with decoder, cores, engines with registers."""


@dataclass(frozen=True)
class Module:
    """One module; `build` makes its block anew."""

    name: str
    family: str
    build: Callable[[], pyrtl.Block]


def of_bits(roots: Sequence[Bits], circuits: Circuits | None = None) -> pyrtl.Block:
    """Return a block whose inputs are the arguments of `roots` and whose outputs are these."""
    with pyrtl.temp_working_block():
        env = {str(a.attr): pyrtl.Input(a.width, str(a.attr)) for a in arguments(roots)}
        for i, wire in enumerate(lower(roots, env, circuits or {})):
            output = pyrtl.Output(len(wire), f"y{i}")
            output <<= wire
        return pyrtl.working_block()


def of_circuit(build: Callable[[pyrtl.WireVector], pyrtl.WireVector], width: int) -> pyrtl.Block:
    """Return a block of one circuit, input x, output y."""
    with pyrtl.temp_working_block():
        y = build(pyrtl.Input(width, "x"))
        output = pyrtl.Output(len(y), "y")
        output <<= y
        return pyrtl.working_block()


def units(xlen: int, *parts: str, only: str = "") -> tuple[Instruction, ...]:
    """Return the instructions of extensions whose names start with `only`."""
    found = InstructionSet.of(xlen, *parts).instructions
    return tuple(i for i in found if i.name.startswith(only))


def with_circuit(name: str) -> Circuits:
    """Return the circuit called `name` for each S-box."""
    return chosen_circuits(dict.fromkeys(("aes_sbox", "aes_inv_sbox", "sm4_sbox"), name))


def joint(*tables: str) -> pyrtl.Block:
    """Return the S-boxes of `tables` around one inversion."""
    member = circuits_for(tables[0])["shared"]
    assert isinstance(member, Member)
    return of_circuit(member.of(tables), 8 + (len(tables) - 1).bit_length())


A, B, C = arg("a", 32), arg("b", 32), arg("c", 32)


def big_sigma(x: Bits, *amounts: int) -> Bits:
    """XOR of three rotations."""
    return x.rotr(amounts[0]) ^ x.rotr(amounts[1]) ^ x.rotr(amounts[2])


def bytes_of(x: Bits) -> list[Bits]:
    """Return the bytes of a word, lowest first."""
    return [x.byte(i) for i in range(x.width // 8)]


def present_sbox(x: Bits) -> Bits:
    """PRESENT's S-box (A. Bogdanov et al., CHES 2007) as four Boolean functions."""
    table = (12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2)
    result = None
    for bit in range(4):
        column = const(sum((v >> bit & 1) << i for i, v in enumerate(table)), 16)
        value = column.shr_var(x).bit(0)
        result = value if result is None else concat(value, result)
    assert result is not None
    return result


def ascon_sbox() -> list[Bits]:
    """Ascon's 5-bit S-box (NIST SP 800-232), on single bits."""
    x = [arg(f"x{i}", 1) for i in range(5)]
    x[0], x[4], x[2] = x[0] ^ x[4], x[4] ^ x[3], x[2] ^ x[1]
    t = [~x[i] & x[(i + 1) % 5] for i in range(5)]
    x = [x[i] ^ t[(i + 1) % 5] for i in range(5)]
    return [x[0] ^ x[4], x[1] ^ x[0], ~x[2], x[3] ^ x[2], x[4]]


def byte_shuffle() -> list[Bits]:
    """Any byte of sixteen into each of eight."""
    x, index = arg("x", 128), arg("i", 32)
    picked = []
    for i in range(8):
        amount = concat(index.slice(4 * i, 4), const(0, 3))
        picked.append(x.shr_var(amount).slice(0, 8))
    return [concat(*reversed(picked))]


def present_round() -> list[Bits]:
    """Key addition, S-box layer and bit permutation of PRESENT."""
    x = arg("x", 64) ^ arg("k", 64)
    substituted = concat(*(present_sbox(x.slice(4 * i, 4)) for i in reversed(range(16))))
    bits: list[Bits] = [substituted.bit(0)] * 64
    for i in range(63):
        bits[16 * i % 63] = substituted.bit(i)
    bits[63] = substituted.bit(63)
    return [concat(*reversed(bits))]


def aes_round() -> list[Bits]:
    """AES round on 128 bits: S-boxes, ShiftRows, MixColumns, round key (FIPS 197 section 5.1)."""
    state = bytes_of(arg("x", 128))
    box = [lookup(aes.sbox(), b) for b in state]
    shifted = [box[(4 * ((i // 4 + i % 4) % 4)) + i % 4] for i in range(16)]
    mixed = []
    for c in range(4):
        column = shifted[4 * c : 4 * c + 4]
        for r in range(4):
            two, three = aes.times(column[r], 2), aes.times(column[(r + 1) % 4], 3)
            mixed.append(two ^ three ^ column[(r + 2) % 4] ^ column[(r + 3) % 4])
    return [concat(*reversed(mixed)) ^ arg("k", 128)]


def aes_column() -> list[Bits]:
    """One column of a T-table round as logic: four S-boxes and MixColumns."""
    box = [lookup(aes.sbox(), b) for b in bytes_of(A)]
    out = []
    for r in range(4):
        two, three = aes.times(box[r], 2), aes.times(box[(r + 1) % 4], 3)
        out.append(two ^ three ^ box[(r + 2) % 4] ^ box[(r + 3) % 4])
    return [concat(*reversed(out)) ^ B]


def sm4_round() -> list[Bits]:
    """SM4 round (GB/T 32907-2016 section 6.2)."""
    x = A ^ B ^ C ^ arg("k", 32)
    s = concat(*reversed([lookup(sm4_sbox(), b) for b in bytes_of(x)]))
    return [arg("d", 32) ^ s ^ s.rotl(2) ^ s.rotl(10) ^ s.rotl(18) ^ s.rotl(24)]


def simon_round() -> list[Bits]:
    """Simon64 round."""
    return [B ^ (A.rotl(1) & A.rotl(8)) ^ A.rotl(2) ^ arg("k", 32), A]


def speck_round() -> list[Bits]:
    """Speck64 round."""
    x = (A.rotr(8) + B) ^ arg("k", 32)
    return [x, B.rotl(3) ^ x]


def quarter_round() -> list[Bits]:
    """ChaCha quarter round (RFC 8439 section 2.1)."""
    a, b, c, d = (arg(name, 32) for name in "abcd")
    for first, second in ((16, 12), (8, 7)):
        a = a + b
        d = (d ^ a).rotl(first)
        c = c + d
        b = (b ^ c).rotl(second)
    return [a, b, c, d]


def sha256_round() -> list[Bits]:
    """New a and e of a SHA-256 round, w being K + W (FIPS 180-4 section 6.2.2)."""
    a, b, c, d, e, f, g, h, kw = (arg(name, 32) for name in "abcdefghw")
    t1 = h + big_sigma(e, 6, 11, 25) + ((e & f) ^ (~e & g)) + kw
    t2 = big_sigma(a, 2, 13, 22) + ((a & b) ^ (a & c) ^ (b & c))
    return [t1 + t2, d + t1]


def sha256_schedule() -> list[Bits]:
    """Next word of the SHA-256 message schedule (FIPS 180-4 section 6.2.2)."""
    w2, w7, w15, w16 = (arg(f"w{i}", 32) for i in (2, 7, 15, 16))
    small0 = w15.rotr(7) ^ w15.rotr(18) ^ (w15 >> 3)
    small1 = w2.rotr(17) ^ w2.rotr(19) ^ (w2 >> 10)
    return [small1 + w7 + small0 + w16]


def sm3_round() -> list[Bits]:
    """New a and e of an SM3 round above 15 (GB/T 32905-2016 section 5.3.3)."""
    a, b, c, d, e, f, g, h = (arg(name, 32) for name in "abcdefgh")
    t, w, w4 = arg("t", 32), arg("w", 32), arg("v", 32)
    ss1 = (a.rotl(12) + e + t).rotl(7)
    ss2 = ss1 ^ a.rotl(12)
    tt1 = ((a & b) | (a & c) | (b & c)) + d + ss2 + w4
    tt2 = ((e & f) | (~e & g)) + h + ss1 + w
    return [tt1, tt2 ^ tt2.rotl(9) ^ tt2.rotl(17)]


def ascon_round() -> list[Bits]:
    """Ascon round without its constant (NIST SP 800-232)."""
    x = [arg(f"x{i}", 64) for i in range(5)]
    x[0], x[4], x[2] = x[0] ^ x[4], x[4] ^ x[3], x[2] ^ x[1]
    t = [~x[i] & x[(i + 1) % 5] for i in range(5)]
    x = [x[i] ^ t[(i + 1) % 5] for i in range(5)]
    x[1], x[0], x[3], x[2] = x[1] ^ x[0], x[0] ^ x[4], x[3] ^ x[2], ~x[2]
    amounts = ((19, 28), (61, 39), (1, 6), (10, 17), (7, 41))
    return [y ^ y.rotr(m) ^ y.rotr(n) for y, (m, n) in zip(x, amounts, strict=True)]


def keccak_theta_chi() -> list[Bits]:
    """Theta, then chi, of Keccak-f[1600] (FIPS 202 section 3.2); rho and pi are wires."""
    lanes = [[arg(f"a{x}{y}", 64) for y in range(5)] for x in range(5)]
    column = [p[0] ^ p[1] ^ p[2] ^ p[3] ^ p[4] for p in lanes]
    theta = [column[(x - 1) % 5] ^ column[(x + 1) % 5].rotl(1) for x in range(5)]
    lanes = [[lane ^ theta[x] for lane in plane] for x, plane in enumerate(lanes)]
    return [
        lanes[x][y] ^ (~lanes[(x + 1) % 5][y] & lanes[(x + 2) % 5][y])
        for x in range(5)
        for y in range(5)
    ]


def kyber_butterfly() -> list[Bits]:
    """Cooley-Tukey butterfly modulo 3329 with Barrett reduction."""
    a, b, w = (arg(name, 12) for name in "abw")
    product = b.mul_wide(w)
    quotient = product.zext(40) * 5039
    reduced = (product - (quotient.slice(24, 12).zext(24) * 3329)).slice(0, 13)
    reduced = mux(reduced.ult(3329), reduced, reduced - 3329)
    total = a.zext(13) + reduced
    total = mux(total.ult(3329), total, total - 3329)
    difference = a.zext(14) - reduced.zext(14)
    difference = mux(difference.bit(13), difference + 3329, difference)
    return [total.slice(0, 12), difference.slice(0, 12)]


def modular_add() -> list[Bits]:
    """Sum modulo the prime of Curve25519's field cut to 32 bits: add, compare, correct."""
    total = A.zext(33) + B.zext(33)
    prime = const((1 << 32) - 5, 33)
    return [mux(total.ult(prime), total, total - prime).slice(0, 32)]


def population() -> list[Bits]:
    """Number of ones in a word."""
    total = A.bit(0).zext(6)
    for i in range(1, 32):
        total = total + A.bit(i).zext(6)
    return [total]


def sha256_engine() -> pyrtl.Block:
    """SHA-256, one round a cycle: 16-word schedule, working variables, state, constants."""
    fraction = [
        int((p ** (1 / 3) % 1) * (1 << 32))
        for p in range(2, 312)
        if all(p % q for q in range(2, p))
    ][:64]
    with pyrtl.temp_working_block():
        start = pyrtl.Input(1, "start")
        message = pyrtl.Input(32, "message")
        count = pyrtl.Register(7, "count")
        count.next <<= pyrtl.select(start, pyrtl.Const(0, 7), (count + ~count[6])[:7])
        words = [pyrtl.Register(32, f"w{i}") for i in range(16)]
        state = [pyrtl.Register(32, f"s{i}") for i in range(8)]
        digest = [pyrtl.Register(32, f"h{i}") for i in range(8)]
        rom = pyrtl.RomBlock(32, 6, fraction, "k", asynchronous=True)
        env = {f"w{i}": words[16 - i] for i in (2, 7, 15, 16)}
        (scheduled,) = lower(sha256_schedule(), env, {})
        word = pyrtl.select(count < 16, message, scheduled)
        for i in range(15):
            words[i].next <<= words[i + 1]
        words[15].next <<= word
        added = (rom[count[:6]] + word)[:32]
        env = {name: state[i] for i, name in enumerate("abcdefgh")} | {"w": added}
        new_a, new_e = lower(sha256_round(), env, {})
        following = [new_a, *state[:3], new_e, *state[4:7]]
        for i in range(8):
            state[i].next <<= pyrtl.select(start, digest[i], following[i])
            digest[i].next <<= pyrtl.select(count == 64, (digest[i] + state[i])[:32], digest[i])
        output = pyrtl.Output(256, "digest")
        output <<= pyrtl.concat(*digest)
        return pyrtl.working_block()


def aes_engine() -> pyrtl.Block:
    """AES-128 encryption, one round a cycle, round keys made on the way."""
    circuits = {"aes_sbox": circuits_for("aes_sbox")["boyar_peralta"]}
    with pyrtl.temp_working_block():
        start = pyrtl.Input(1, "start")
        key, block = pyrtl.Input(128, "key"), pyrtl.Input(128, "block")
        state, held = pyrtl.Register(128, "state"), pyrtl.Register(128, "round_key")
        constant = pyrtl.Register(8, "constant")
        (doubled,) = lower([aes.times(arg("x", 8), 2)], {"x": constant}, {})
        constant.next <<= pyrtl.select(start, pyrtl.Const(1, 8), doubled)
        words = [held[32 * i : 32 * i + 32] for i in range(4)]
        last = words[3]
        rotated = pyrtl.concat(last[:8], last[8:])
        box = circuits["aes_sbox"]
        substituted = pyrtl.concat(*(box(rotated[8 * i : 8 * i + 8]) for i in (3, 2, 1, 0)))
        first = words[0] ^ substituted ^ constant.zero_extended(32)
        chain = [first]
        for word in words[1:]:
            chain.append(chain[-1] ^ word)
        following = pyrtl.concat(*reversed(chain))
        (rounded,) = lower(aes_round(), {"x": state, "k": following}, circuits)
        state.next <<= pyrtl.select(start, block ^ key, rounded)
        held.next <<= pyrtl.select(start, key, following)
        output = pyrtl.Output(128, "out")
        output <<= state
        return pyrtl.working_block()


def _expressions() -> list[tuple[str, str, Callable[[], list[Bits]]]]:
    x, y, n, m = arg("x", 64), arg("y", 64), arg("n", 5), arg("m", 6)
    return [
        ("present sbox", "S-boxes", lambda: [present_sbox(arg("x", 4))]),
        ("ascon sbox", "S-boxes", ascon_sbox),
        (
            "rotr16",
            "rotate and permute",
            lambda: [A.slice(0, 16).rotr_var(n.slice(0, 4))],
        ),
        ("byte shuffle", "rotate and permute", byte_shuffle),
        (
            "shifts64",
            "rotate and permute",
            lambda: [mux(arg("l", 1), x.shl_var(m), mux(arg("s", 1), x.sar_var(m), x.shr_var(m)))],
        ),
        ("rotr32", "rotate and permute", lambda: [A.rotr_var(n)]),
        ("rotr64", "rotate and permute", lambda: [x.rotr_var(m)]),
        (
            "shifts32",
            "rotate and permute",
            lambda: [mux(arg("l", 1), A.shl_var(n), mux(arg("s", 1), A.sar_var(n), A.shr_var(n)))],
        ),
        ("funnel64", "rotate and permute", lambda: [concat(A, B).shr_var(m).slice(0, 32)]),
        (
            "swap and funnel64",
            "rotate and permute",
            lambda: [mux(arg("s", 1), concat(A, B), concat(B, A)).shr_var(m).slice(0, 32)],
        ),
        ("add32", "arithmetic", lambda: [A + B]),
        ("add64", "arithmetic", lambda: [x + y]),
        ("add three", "arithmetic", lambda: [A + B + C]),
        ("compare32", "arithmetic", lambda: [A.ult(B), A.slt(B), A.eq(B)]),
        ("clmul16", "arithmetic", lambda: [A.slice(0, 16).clmul(B.slice(0, 16))]),
        ("clmul32", "arithmetic", lambda: [A.clmul(B)]),
        ("mul16", "arithmetic", lambda: [A.slice(0, 16).mul_wide(B.slice(0, 16))]),
        ("mul32", "arithmetic", lambda: [A.mul_wide(B)]),
        (
            "multiply and add 16",
            "arithmetic",
            lambda: [A.slice(0, 16).mul_wide(B.slice(0, 16)) + C],
        ),
        ("modular add", "arithmetic", modular_add),
        ("population count", "arithmetic", population),
        ("kyber butterfly", "arithmetic", kyber_butterfly),
        ("sha256 sigma0", "hash units", lambda: [A.rotr(7) ^ A.rotr(18) ^ (A >> 3)]),
        ("sha256 round", "hash units", sha256_round),
        ("sha256 schedule", "hash units", sha256_schedule),
        ("sm3 round", "hash units", sm3_round),
        ("keccak theta chi", "hash units", keccak_theta_chi),
        ("ascon round", "cipher rounds", ascon_round),
        ("chacha quarter round", "cipher rounds", quarter_round),
        ("present round", "cipher rounds", present_round),
        ("simon64 round", "cipher rounds", simon_round),
        ("speck64 round", "cipher rounds", speck_round),
    ]


def _units() -> list[tuple[str, str, int, tuple[str, ...], str, str]]:
    """Datapaths of instructions: name, family, xlen, extensions, first letters, circuit."""
    return [
        ("zbkx", "rotate and permute", 32, ("zbkx",), "", "table"),
        ("zbkx 64", "rotate and permute", 64, ("zbkx",), "", "table"),
        ("zbkb", "rotate and permute", 32, ("zbkb",), "", "table"),
        ("zbkb 64", "rotate and permute", 64, ("zbkb",), "", "table"),
        ("zbb", "arithmetic", 32, ("zbb",), "", "table"),
        ("sha256 sums", "hash units", 32, ("zknh",), "sha256", "table"),
        ("sha512 halves", "hash units", 32, ("zknh",), "sha512", "table"),
        ("sha512 sums", "hash units", 64, ("zknh",), "sha512", "table"),
        ("sm3 permutations", "hash units", 32, ("zksh",), "", "table"),
        ("aes32 shared", "cipher rounds", 32, ("zkne", "zknd"), "", "shared"),
        ("aes32 boyar_peralta", "cipher rounds", 32, ("zkne", "zknd"), "", "boyar_peralta"),
        ("aes32esmi composite", "cipher rounds", 32, ("zkne",), "aes32esm", "composite"),
        ("sm4 composite", "cipher rounds", 32, ("zksed",), "", "composite"),
        ("aes32 and sm4 shared", "cipher rounds", 32, ("zkne", "zknd", "zksed"), "", "shared"),
        ("aes64 shared", "cipher rounds", 64, ("zkne", "zknd"), "", "shared"),
    ]


def _blocks() -> list[tuple[str, Callable[[], pyrtl.Block]]]:
    rv32i = InstructionSet.of(32, "rv32i")
    scalar = ("zkne", "zknd", "zbkb", "zbkx")
    nluv = InstructionSet.of(32, load_extension("nluv", banks=1)).instructions
    zk = units(32, "zbkb", "zbkx", "zkne", "zknd", "zknh", "zksed", "zksh")
    return [
        ("zkne table", lambda: build_extension(units(32, "zkne"), 32, with_circuit("table"))),
        (
            "zkne low_depth",
            lambda: build_extension(units(32, "zkne"), 32, with_circuit("low_depth")),
        ),
        (
            "zkne zknd zbkb zbkx",
            lambda: build_extension(units(32, *scalar), 32, with_circuit("boyar_peralta")),
        ),
        ("all scalar crypto", lambda: build_extension(zk, 32, with_circuit("shared"))),
        ("nluv 1", lambda: build_extension(nluv, 32, {})),
        ("core 2 stages", lambda: core_block(Core(pipeline=2), rv32i)),
        ("core 5 stages", lambda: core_block(Core(), rv32i)),
        ("sha256 engine", sha256_engine),
        ("aes128 engine", aes_engine),
    ]


def modules() -> list[Module]:
    """Return the sample, by family and then in a fixed order."""
    found = [
        Module(
            f"{table} {name}",
            "S-boxes",
            lambda table=table, name=name: of_circuit(circuits_for(table)[name], 8),
        )
        for table in ("aes_sbox", "aes_inv_sbox", "sm4_sbox")
        for name in circuits_for(table)
        if name != "shared"
    ]
    pair, three = ("aes_inv_sbox", "aes_sbox"), ("aes_inv_sbox", "aes_sbox", "sm4_sbox")
    found.append(Module("aes_sbox both ways", "S-boxes", lambda: joint(*pair)))
    found.append(Module("aes and sm4 sbox", "S-boxes", lambda: joint(*three)))
    found += [
        Module(name, family, lambda roots=roots: of_bits(roots()))
        for name, family, roots in _expressions()
    ]
    for name, roots, circuit in (
        ("aes column boyar_peralta", aes_column, "boyar_peralta"),
        ("aes column table", aes_column, "table"),
        ("aes round boyar_peralta", aes_round, "boyar_peralta"),
        ("sm4 round low_depth", sm4_round, "low_depth"),
    ):
        found.append(
            Module(
                name,
                "cipher rounds",
                lambda roots=roots, circuit=circuit: of_bits(roots(), with_circuit(circuit)),
            )
        )
    found += [
        Module(
            name,
            family,
            lambda xlen=xlen, parts=parts, only=only, circuit=circuit: build_datapath(
                units(xlen, *parts, only=only), xlen, with_circuit(circuit)
            ),
        )
        for name, family, xlen, parts, only, circuit in _units()
    ]
    found += [Module(name, "blocks", build) for name, build in _blocks()]
    return sorted(found, key=lambda m: FAMILIES.index(m.family))

"""The withdrawn bit-manipulation draft against formulas on lists of bits, written from its text."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import pytest

from tests.isa.extensions.execute import Execute
from tests.isa.extensions.operands import operands

Formula = Callable[[int, int, int, int], int]
"""Of rs1, rs2 or the immediate, rs3, and the register width."""


def to_bits(x: int, w: int) -> list[int]:
    """Least significant first."""
    return [x >> i & 1 for i in range(w)]


def from_bits(digits: list[int]) -> int:
    return sum(d << i for i, d in enumerate(digits))


def reverse(a: int, b: int, _: int, w: int) -> int:
    x = to_bits(a, w)
    return from_bits([x[i ^ b % w] for i in range(w)])


def or_combine(a: int, b: int, _: int, w: int) -> int:
    """Bit i is the or of all bits j that differ from i only in places where b has ones."""
    x = to_bits(a, w)
    reach = [m for m in range(w) if m & b % w == m]
    return from_bits([int(any(x[i ^ m] for m in reach)) for i in range(w)])


def shuffle_place(i: int, control: int, levels: range, order: int) -> int:
    """Where the bit at place i goes: each stage exchanges two neighbouring bits of the place."""
    for k in levels[::order]:
        if control >> k & 1:
            low, high = i >> k & 1, i >> (k + 1) & 1
            i = i & ~(3 << k) | low << (k + 1) | high << k
    return i


def shuffle(a: int, b: int, _: int, w: int, order: int = -1) -> int:
    levels = range(w.bit_length() - 2)
    result = [0] * w
    for i, digit in enumerate(to_bits(a, w)):
        result[shuffle_place(i, b, levels, order)] = digit
    return from_bits(result)


def unshuffle(a: int, b: int, c: int, w: int) -> int:
    return shuffle(a, b, c, w, 1)


def gather(a: int, b: int, _: int, w: int) -> int:
    return from_bits([x for x, m in zip(to_bits(a, w), to_bits(b, w), strict=True) if m])


def scatter(a: int, b: int, _: int, w: int) -> int:
    supply = iter(to_bits(a, w))
    return from_bits([next(supply) if m else 0 for m in to_bits(b, w)])


def crossbar(width: int) -> Formula:
    def formula(a: int, b: int, _: int, w: int) -> int:
        source = [a >> i & (1 << width) - 1 for i in range(0, w, width)]
        index = [b >> i & (1 << width) - 1 for i in range(0, w, width)]
        picked = [source[i] if i < len(source) else 0 for i in index]
        return sum(p << width * i for i, p in enumerate(picked))

    return formula


def matrix(x: int) -> list[list[int]]:
    digits = to_bits(x, 64)
    return [digits[i : i + 8] for i in range(0, 64, 8)]


def matrix_product(a: int, b: int, add: Callable[[list[int]], int]) -> int:
    columns = list(zip(*matrix(b), strict=True))
    return from_bits(
        [
            add([x & y for x, y in zip(row, column, strict=True)])
            for row in matrix(a)
            for column in columns
        ]
    )


def funnel_left(a: int, b: int, c: int, w: int) -> int:
    """Text of rs1 then rs3, shifted left in a circle; the first half is the result."""
    text = f"{a:0{w}b}{c:0{w}b}"
    amount = b % (2 * w)
    return int((text[amount:] + text[:amount])[:w], 2)


def funnel_right(a: int, b: int, c: int, w: int) -> int:
    text = f"{c:0{w}b}{a:0{w}b}"
    amount = b % (2 * w)
    return int((text[-amount:] + text[:-amount] if amount else text)[w:], 2)


def word(formula: Formula) -> Formula:
    def on_words(a: int, b: int, c: int, _: int) -> int:
        result = formula(a % 2**32, b % 2**32, c % 2**32, 32)
        return result - 2**32 if result >> 31 else result

    return on_words


def remainder(polynomial: int, steps: int) -> Formula:
    """Long division, bit by bit, of a text whose first digit is bit 0."""

    def formula(a: int, b: int, c: int, w: int) -> int:
        digits = [int(d) for d in f"{a:0{w}b}"[::-1]] + [0] * steps
        divisor = [int(d) for d in f"{polynomial:032b}"[::-1]]
        for k in range(steps):
            if digits[k]:
                for j, d in enumerate(divisor):
                    digits[k + 1 + j] ^= d
        return sum(d << i for i, d in enumerate(digits[steps : steps + w]))

    return formula


def place_field(a: int, b: int, _: int, w: int) -> int:
    """The draft's text, on lists of bits."""
    control = b >> w // 2
    if w == 64 and control >> 30 == 2:
        control >>= 16
    length = (control >> 8) % (w // 2) or w // 2
    place = control % w
    result, field = to_bits(a, w), to_bits(b, w)
    for i in range(length):
        if place + i < w:
            result[place + i] = field[i]
    return from_bits(result)


EXPECTED: dict[str, Formula] = {
    "grev": reverse,
    "gorc": or_combine,
    "shfl": shuffle,
    "unshfl": unshuffle,
    "packu": lambda a, b, c, w: (b >> w // 2) << w // 2 | a >> w // 2,
    "bcompress": gather,
    "bdecompress": scatter,
    "fsl": funnel_left,
    "fsr": funnel_right,
    "bfp": place_field,
}
EXPECTED |= {name + "w": word(formula) for name, formula in EXPECTED.items()}
EXPECTED |= {f"{n}i": EXPECTED[n] for n in ("grev", "gorc", "shfl", "unshfl", "fsr")}
EXPECTED |= {f"{n}iw": EXPECTED[f"{n}w"] for n in ("grev", "gorc", "fsr")}
EXPECTED |= {f"xperm.{n}": crossbar(w) for n, w in (("n", 4), ("b", 8), ("h", 16), ("w", 32))}
EXPECTED |= {
    "bmatflip": lambda a, b, c, w: from_bits(
        [d for row in zip(*matrix(a), strict=True) for d in row]
    ),
    "bmator": lambda a, b, c, w: matrix_product(a, b, max),
    "bmatxor": lambda a, b, c, w: matrix_product(a, b, lambda terms: sum(terms) % 2),
    "cmix": lambda a, b, c, w: from_bits(
        [x if m else y for x, m, y in zip(to_bits(a, w), to_bits(b, w), to_bits(c, w), strict=True)]
    ),
    "cmov": lambda a, b, c, w: a if b else c,
}
EXPECTED |= {
    f"{name}.{letter}": remainder(polynomial, steps)
    for name, polynomial in (("crc32", 0xEDB88320), ("crc32c", 0x82F63B78))
    for letter, steps in (("b", 8), ("h", 16), ("w", 32), ("d", 64))
}
RATIFIED = {
    *("andn", "orn", "xnor", "rol", "ror", "rori", "rolw", "rorw", "roriw"),
    *("pack", "packh", "packw"),
}
"""Instructions that became part of Zbb or Zbkb unchanged; tested there."""

BOTH = ("xzbp", "xzbe", "xzbf", "xzbr", "xzbt")
EXECUTE = {32: Execute(32, *BOTH), 64: Execute(64, *BOTH, "xzbm")}


def test_every_instruction_has_an_expectation() -> None:
    names = {n for xlen in (32, 64) for n in EXECUTE[xlen].by_name}
    assert names == set(EXPECTED) | RATIFIED


@pytest.mark.parametrize(
    ("xlen", "name"),
    [(x, n) for x in (32, 64) for n in EXECUTE[x].by_name if n not in RATIFIED],
)
def test_meaning(xlen: int, name: str) -> None:
    execute = EXECUTE[xlen]
    instruction = execute.by_name[name]
    for a, b, c in operands(xlen, name, 150):
        values = {"rs1": a, "rs2": b, "rs3": c}
        for i in instruction.encoding.immediates:
            values[i.name] = b = b % (1 << i.width)
        expected = EXPECTED[name](a, b, c, xlen) % (1 << xlen)
        given = [values[p] for p in instruction.parameters]
        assert execute(name, *given) == expected, [hex(x) for x in given]


def test_ratified_instructions_are_cases_of_the_general_ones() -> None:
    """28.4 of the manual: rev8, orc.b, zip and brev8 by the immediates the draft gave them."""
    do = Execute(32, "zbb")
    bits = Execute(32, "zbkb")
    for a, _, _ in operands(32, "cases", 50):
        draft = EXECUTE[32]
        assert do("rev8", a) == draft("grevi", a, 24)
        assert do("orc.b", a) == draft("gorci", a, 7)
        assert bits("brev8", a) == draft("grevi", a, 7)
        assert bits("zip", a) == draft("shfli", a, 15)
        assert bits("unzip", a) == draft("unshfli", a, 15)


@pytest.mark.parametrize(("xlen", "letter", "size"), [(32, "b", 1), (32, "w", 4), (64, "d", 8)])
def test_checksums(xlen: int, letter: str, size: int) -> None:
    """CRC-32 against zlib; CRC-32C against the check value of RFC 3720."""
    message = bytes(range(40))
    register = 2**32 - 1
    for k in range(0, len(message), size):
        register ^= int.from_bytes(message[k : k + size], "little")
        register = EXECUTE[xlen](f"crc32.{letter}", register)
    assert register ^ 2**32 - 1 == zlib.crc32(message)
    register = 2**32 - 1
    for byte in b"123456789":
        register = EXECUTE[xlen]("crc32c.b", register ^ byte)
    assert register ^ 2**32 - 1 == 0xE3069283

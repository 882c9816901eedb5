"""Zba, Zbb, Zbc, Zbs, Zbkb, Zbkc and Zbkx against formulas on text, lists and plain integers.

The formulas are written from the manuals, in other terms than the meanings: strings of binary
digits, lists of bytes, Python arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from isa.instruction_set import InstructionSet
from tests.isa.extensions.execute import Execute
from tests.isa.extensions.operands import operands

EXTENSIONS = ("zba", "zbb", "zbc", "zbs", "zbkb", "zbkc", "zbkx")
Formula = Callable[[int, int, int], int]
"""Of rs1, rs2 or the immediate, and the register width."""


def bits(x: int, width: int) -> str:
    """Most significant first."""
    return format(x, f"0{width}b")


def number(text: str) -> int:
    return int(text, 2)


def signed(x: int, width: int) -> int:
    return x - (1 << width) if x >> width - 1 else x


def rotate_right(a: int, amount: int, width: int) -> int:
    text = bits(a, width)
    amount %= width
    return number(text[-amount:] + text[:-amount]) if amount else a


def elements(x: int, width: int, xlen: int) -> list[int]:
    return [x >> i & (1 << width) - 1 for i in range(0, xlen, width)]


def crossbar(a: int, b: int, width: int, xlen: int) -> int:
    source = elements(a, width, xlen)
    picked = [source[i] if i < len(source) else 0 for i in elements(b, width, xlen)]
    return sum(p << width * i for i, p in enumerate(picked))


def invert(x: int, w: int) -> int:
    return number(bits(x, w).translate(str.maketrans("01", "10")))


def product(a: int, b: int) -> int:
    """Polynomial product over GF(2): counts of the pairs of powers, modulo 2."""
    powers_a = [i for i in range(64) if a >> i & 1]
    powers_b = [i for i in range(64) if b >> i & 1]
    counts = [0] * 128
    for i in powers_a:
        for j in powers_b:
            counts[i + j] += 1
    return sum((c % 2) << i for i, c in enumerate(counts))


def leading_zeros(a: int, w: int) -> int:
    return w - len(bits(a, w).lstrip("0"))


def trailing_zeros(a: int, w: int) -> int:
    return w - len(bits(a, w).rstrip("0"))


def bytes_of(a: int, w: int) -> bytes:
    return a.to_bytes(w // 8, "little")


def word(formula: Formula) -> Formula:
    """The same on 32 bits, sign-extended to the register."""
    return lambda a, b, w: signed(formula(a % 2**32, b, 32) % 2**32, 32)


def set_bit(a: int, index: int, digit: str, w: int) -> int:
    text = bits(a, w)
    place = w - 1 - index % w
    return number(text[:place] + digit + text[place + 1 :])


def bit(a: int, index: int, w: int) -> int:
    return int(bits(a, w)[w - 1 - index % w])


def sorted_signed(a: int, b: int, w: int) -> list[int]:
    return sorted((a, b), key=lambda x: signed(x, w))


EXPECTED: dict[str, Formula] = {
    "sh1add": lambda a, b, w: 2 * a + b,
    "sh2add": lambda a, b, w: 4 * a + b,
    "sh3add": lambda a, b, w: 8 * a + b,
    "add.uw": lambda a, b, w: a % 2**32 + b,
    "sh1add.uw": lambda a, b, w: 2 * (a % 2**32) + b,
    "sh2add.uw": lambda a, b, w: 4 * (a % 2**32) + b,
    "sh3add.uw": lambda a, b, w: 8 * (a % 2**32) + b,
    "slli.uw": lambda a, b, w: a % 2**32 << b,
    "andn": lambda a, b, w: a & invert(b, w),
    "orn": lambda a, b, w: a | invert(b, w),
    "xnor": lambda a, b, w: invert(a ^ b, w),
    "clz": lambda a, b, w: leading_zeros(a, w),
    "ctz": lambda a, b, w: trailing_zeros(a, w),
    "cpop": lambda a, b, w: bits(a, w).count("1"),
    "clzw": lambda a, b, w: leading_zeros(a % 2**32, 32),
    "ctzw": lambda a, b, w: trailing_zeros(a % 2**32, 32),
    "cpopw": lambda a, b, w: bits(a % 2**32, 32).count("1"),
    "max": lambda a, b, w: sorted_signed(a, b, w)[1],
    "min": lambda a, b, w: sorted_signed(a, b, w)[0],
    "maxu": lambda a, b, w: max(a, b),
    "minu": lambda a, b, w: min(a, b),
    "sext.b": lambda a, b, w: signed(a % 256, 8),
    "sext.h": lambda a, b, w: signed(a % 65536, 16),
    "zext.h": lambda a, b, w: a % 65536,
    "rol": lambda a, b, w: rotate_right(a, w - b % w, w),
    "ror": rotate_right,
    "rori": rotate_right,
    "rolw": word(lambda a, b, w: rotate_right(a, w - b % w, w)),
    "rorw": word(rotate_right),
    "roriw": word(rotate_right),
    "orc.b": lambda a, b, w: int.from_bytes(
        bytes(255 if x else 0 for x in bytes_of(a, w)), "little"
    ),
    "rev8": lambda a, b, w: int.from_bytes(bytes_of(a, w), "big"),
    "clmul": lambda a, b, w: product(a, b),
    "clmulh": lambda a, b, w: product(a, b) >> w,
    "clmulr": lambda a, b, w: product(a, b) >> w - 1,
    "bset": lambda a, b, w: set_bit(a, b, "1", w),
    "bclr": lambda a, b, w: set_bit(a, b, "0", w),
    "binv": lambda a, b, w: set_bit(a, b, str(1 - bit(a, b, w)), w),
    "bext": bit,
    "pack": lambda a, b, w: number(bits(b, w)[w // 2 :] + bits(a, w)[w // 2 :]),
    "packh": lambda a, b, w: b % 256 * 256 + a % 256,
    "packw": lambda a, b, w: signed(b % 65536 * 65536 + a % 65536, 32),
    "brev8": lambda a, b, w: number("".join(bits(a, w)[i : i + 8][::-1] for i in range(0, w, 8))),
    "zip": lambda a, b, w: number(
        "".join(high + low for high, low in zip(bits(a, w)[:16], bits(a, w)[16:], strict=True))
    ),
    "unzip": lambda a, b, w: number(bits(a, w)[0::2] + bits(a, w)[1::2]),
    "xperm4": lambda a, b, w: crossbar(a, b, 4, w),
    "xperm8": lambda a, b, w: crossbar(a, b, 8, w),
}
for _name in ("bset", "bclr", "binv", "bext"):
    EXPECTED[_name + "i"] = EXPECTED[_name]

EXECUTE = {xlen: Execute(xlen, *EXTENSIONS) for xlen in (32, 64)}


def test_every_instruction_has_an_expectation() -> None:
    names = {n for xlen in (32, 64) for n in EXECUTE[xlen].by_name}
    assert names == set(EXPECTED)


@pytest.mark.parametrize(("xlen", "name"), [(x, n) for x in (32, 64) for n in EXECUTE[x].by_name])
def test_meaning(xlen: int, name: str) -> None:
    execute = EXECUTE[xlen]
    instruction = execute.by_name[name]
    for a, b, _ in operands(xlen, name):
        given = [a, b][: len(instruction.parameters)]
        if instruction.immediates:
            given[1] %= 1 << instruction.encoding.immediates[0].width
        expected = EXPECTED[name](a, given[-1], xlen) % (1 << xlen)
        assert execute(name, *given) == expected, [hex(x) for x in given]


def test_shared_instructions_are_the_same_in_every_extension() -> None:
    for xlen in (32, 64):
        for small, large in (("zbkb", "zbb"), ("zbkc", "zbc")):
            a = InstructionSet.of(xlen, small).by_name
            b = InstructionSet.of(xlen, large).by_name
            shared = set(a) & set(b)
            assert shared
            for name in shared:
                assert a[name].effects(xlen).rd is b[name].effects(xlen).rd
                assert a[name].line == b[name].line


def test_zext_h_is_the_case_of_pack_that_it_looks_like() -> None:
    """With Zbkb, a word that is both decodes as the more special one; elsewhere it is `pack`."""
    for xlen in (32, 64):
        both = InstructionSet.of(xlen, "zbb", "zbkb")
        word_of = both.by_name["zext.h"].encode(rd=1, rs1=2)
        assert both.decode(word_of)[0].name == "zext.h"
        alone = InstructionSet.of(xlen, "zbkb").decode(word_of)[0].name
        assert alone == {32: "pack", 64: "packw"}[xlen]

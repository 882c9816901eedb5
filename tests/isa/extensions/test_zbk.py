"""Zbkb and Zbkx against formulas on strings of bits and bytes, written from the specification."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from isa.bits import evaluate
from isa.instruction_set import InstructionSet

ISA = InstructionSet.of(32, "rv32i", "zbkb", "zbkx").by_name


def bits(x: int) -> str:
    """Most significant first."""
    return f"{x:032b}"


def number(text: str) -> int:
    return int(text, 2)


def rotate_right(a: int, amount: int) -> int:
    text = bits(a)
    return number(text[-amount:] + text[:-amount]) if amount else a


def elements(x: int, width: int) -> list[int]:
    return [x >> i & 2**width - 1 for i in range(0, 32, width)]


def crossbar(a: int, b: int, width: int) -> int:
    source = elements(a, width)
    picked = [source[i] if i < len(source) else 0 for i in elements(b, width)]
    return sum(p << width * i for i, p in enumerate(picked))


def invert(x: int) -> int:
    return number(bits(x).translate(str.maketrans("01", "10")))


EXPECTED: dict[str, Callable[[int, int], int]] = {
    "rol": lambda a, b: rotate_right(a, (32 - b % 32) % 32),
    "ror": lambda a, b: rotate_right(a, b % 32),
    "andn": lambda a, b: a & invert(b),
    "orn": lambda a, b: a | invert(b),
    "xnor": lambda a, b: invert(a ^ b),
    "pack": lambda a, b: number(bits(b)[16:] + bits(a)[16:]),
    "packh": lambda a, b: b % 256 * 256 + a % 256,
    "brev8": lambda a, _: number("".join(bits(a)[i : i + 8][::-1] for i in range(0, 32, 8))),
    "rev8": lambda a, _: int.from_bytes(a.to_bytes(4, "little"), "big"),
    "zip": lambda a, _: number(
        "".join(high + low for high, low in zip(bits(a)[:16], bits(a)[16:], strict=True))
    ),
    "unzip": lambda a, _: number(bits(a)[0::2] + bits(a)[1::2]),
    "xperm4": lambda a, b: crossbar(a, b, 4),
    "xperm8": lambda a, b: crossbar(a, b, 8),
}


def test_every_instruction_has_an_expectation() -> None:
    declared = {i.name for i in ISA.values() if i.extension in ("zbkb", "zbkx")}
    assert declared == set(EXPECTED) | {"rori"}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_meaning(name: str) -> None:
    rng = random.Random(name)
    meaning = ISA[name].effects(32).rd
    cases = [(a, b) for a in (0, 1, 2**32 - 1, 2**31) for b in (0, 1, 31, 32, 2**32 - 1)]
    cases += [(rng.getrandbits(32), rng.getrandbits(32)) for _ in range(300)]
    cases += [
        (rng.getrandbits(32), rng.choice((0x03020100, 0x00010203, 0x76543210))) for _ in range(9)
    ]
    for a, b in cases:
        assert evaluate(meaning, {"rs1": a, "rs2": b}) == EXPECTED[name](a, b), (hex(a), hex(b))


def test_rori() -> None:
    meaning = ISA["rori"].effects(32).rd
    for amount in range(32):
        assert evaluate(meaning, {"rs1": 0x80000001, "shamtw": amount}) == rotate_right(
            0x80000001, amount
        )

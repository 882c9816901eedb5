"""RV32I meanings against formulas written from the manual."""

from __future__ import annotations

import random

import pytest

from isa.bits import evaluate
from isa.instruction_set import InstructionSet

ISA = InstructionSet.of(32, "rv32i").by_name
M = 2**32


def signed(x: int, width: int = 32) -> int:
    return x - 2**width if x >> width - 1 else x


REGISTER = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "sll": lambda a, b: a << b % 32,
    "slt": lambda a, b: signed(a) < signed(b),
    "sltu": lambda a, b: a < b,
    "xor": lambda a, b: a ^ b,
    "srl": lambda a, b: a >> b % 32,
    "sra": lambda a, b: signed(a) >> b % 32,
    "or": lambda a, b: a | b,
    "and": lambda a, b: a & b,
}
IMMEDIATE = {
    "addi": "add",
    "slti": "slt",
    "sltiu": "sltu",
    "xori": "xor",
    "ori": "or",
    "andi": "and",
}
SHIFT = {"slli": "sll", "srli": "srl", "srai": "sra"}
BRANCH = {
    "beq": lambda a, b: a == b,
    "bne": lambda a, b: a != b,
    "blt": lambda a, b: signed(a) < signed(b),
    "bge": lambda a, b: signed(a) >= signed(b),
    "bltu": lambda a, b: a < b,
    "bgeu": lambda a, b: a >= b,
}


def operands(seed: str) -> list[tuple[int, int]]:
    rng = random.Random(seed)
    corners = [0, 1, M - 1, 2**31, 2**31 - 1]
    values = [(a, b) for a in corners for b in corners]
    values += [(rng.getrandbits(32), rng.getrandbits(32)) for _ in range(200)]
    values += [(v, v) for v in corners]
    return values


@pytest.mark.parametrize("name", sorted(REGISTER))
def test_register_operations(name: str) -> None:
    meaning = ISA[name].effects(32).rd
    for a, b in operands(name):
        assert evaluate(meaning, {"rs1": a, "rs2": b}) == REGISTER[name](a, b) % M


@pytest.mark.parametrize("name", sorted(IMMEDIATE))
def test_immediate_operations(name: str) -> None:
    meaning = ISA[name].effects(32).rd
    for a, b in operands(name):
        immediate = signed(b % 4096, 12)
        expected = REGISTER[IMMEDIATE[name]](a, immediate % M) % M
        assert evaluate(meaning, {"rs1": a, "imm12": b % 4096}) == expected


@pytest.mark.parametrize("name", sorted(SHIFT))
def test_shifts(name: str) -> None:
    meaning = ISA[name].effects(32).rd
    for a, b in operands(name):
        expected = REGISTER[SHIFT[name]](a, b % 32) % M
        assert evaluate(meaning, {"rs1": a, "shamtw": b % 32}) == expected


@pytest.mark.parametrize("name", sorted(BRANCH))
def test_branches(name: str) -> None:
    jump = ISA[name].effects(32).next_pc
    for a, b in operands(name):
        values = {"rs1": a, "rs2": b, "pc": 0x1000, "bimm12": (-8 % 8192) >> 1}
        assert evaluate(jump.condition, values) == BRANCH[name](a, b)
        assert evaluate(jump.target, values) == 0xFF8


def test_jumps_and_upper_immediates() -> None:
    jal, jalr = ISA["jal"].effects(32), ISA["jalr"].effects(32)
    assert evaluate(jal.rd, {"pc": 0x100}) == 0x104
    assert evaluate(jal.next_pc.target, {"pc": 0x100, "jimm20": 2**20 - 8}) == 0x100 - 16
    values = {"rs1": 0x2003, "imm12": 4096 - 2, "pc": 0}
    assert evaluate(jalr.next_pc.target, values) == 0x2000
    assert evaluate(ISA["lui"].effects(32).rd, {"imm20": 0xABCDE}) == 0xABCDE000
    assert evaluate(ISA["auipc"].effects(32).rd, {"pc": 0x1000, "imm20": 0xFFFFF}) == 0


@pytest.mark.parametrize(
    ("name", "width", "is_signed"),
    [("lb", 8, True), ("lh", 16, True), ("lw", 32, True), ("lbu", 8, False), ("lhu", 16, False)],
)
def test_loads(name: str, width: int, is_signed: bool) -> None:
    load = ISA[name].effects(32).load
    assert (load.width, load.signed) == (width, is_signed)
    assert evaluate(load.address, {"rs1": 0x100, "imm12": 4095}) == 0xFF


@pytest.mark.parametrize(("name", "width"), [("sb", 8), ("sh", 16), ("sw", 32)])
def test_stores(name: str, width: int) -> None:
    store = ISA[name].effects(32).store
    values = {"rs1": 0x100, "rs2": 0x89ABCDEF, "imm12": 8}
    assert evaluate(store.address, values) == 0x108
    assert store.value.width == width
    assert evaluate(store.value, values) == 0x89ABCDEF % 2**width

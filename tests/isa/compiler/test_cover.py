"""Which instructions are found in which spellings; answers are checked as well."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from isa.aes import MIX, sbox, times
from isa.bits import Bits, arg, concat, const, evaluate, lookup, mux
from isa.compiler import compile_kernel
from isa.instruction import Extension
from isa.instruction_set import InstructionSet
from isa.kernel import Builder, UnsupportedKernel
from tests.isa.compiler.interpreter import Interpreter
from tests.isa.compiler.kernels import t_table
from workloads.intrinsic import intrinsic

A, B, C = (arg(n, 32) for n in "abc")


def compiled(expression: Bits, *extensions: str | Extension) -> Counter[str]:
    """Mnemonics between loads and store of a kernel that computes one expression."""
    instructions = InstructionSet.of(32, "rv32i", *extensions)

    def build(k: Builder) -> None:
        for n in "abc":
            k.word(n)
        out = k.pointer("out")
        k.store(out, 0, expression)

    program = compile_kernel(build, instructions)
    rng = random.Random(9)
    for _ in range(5):
        values = [rng.getrandbits(32) for _ in range(3)]
        run = Interpreter(program, instructions)
        run.run([*values, 0x20000])
        expected = evaluate(expression, dict(zip("abc", values, strict=True)))
        assert int.from_bytes(run.read(0x20000, 4), "little") == expected
    return Counter(run.mnemonics) - Counter(["jal", "jalr", "sw"])


def byte_shifted(x: Bits, i: int) -> Bits:
    return (x >> 8 * i & 0xFF).slice(0, 8)


def column(s: Bits) -> Bits:
    return concat(*(times(s, f) for f in reversed(MIX)))


ZBKB = InstructionSet.of(32, "rv32i", "zbkb").extension("zbkb")


@pytest.mark.parametrize(
    ("expression", "extensions", "expected"),
    [
        (A.rotr(7), ("zbkb",), {"rori": 1}),
        ((A >> 7) | (A << 25), ("zbkb",), {"rori": 1}),
        ((A << 25) + (A >> 7), ("zbkb",), {"rori": 1}),
        (A.rotr(7), (), {"srli": 1, "slli": 1, "xor": 1}),
        (A & ~B, ("zbkb",), {"andn": 1}),
        (A ^ ~B, ("zbkb",), {"xnor": 1}),
        (~(A ^ B), ("zbkb",), {"xnor": 1}),
        (~A, (), {"xori": 1}),
        (A & 0xFF, (), {"andi": 1}),
        (A.byte(3).zext(32), (), {"srli": 1}),
        (A.byte(1).zext(32), (), {"srli": 1, "andi": 1}),
        (A.slice(0, 16).zext(32), (), {"slli": 1, "srli": 1}),
        (A & 0xFFFFF000, (), {"lui": 1, "and": 1}),
        (A.slice(0, 16).sext(32), (), {"slli": 1, "srai": 1}),
        (concat(*(A.byte(i) for i in range(4))), ("zbkb",), {"rev8": 1}),
        (
            (A << 24) | (A & 0xFF00) << 8 | (A >> 8 & 0xFF00) | A >> 24,
            ("zbkb",),
            {"rev8": 1},
        ),
        (concat(*(A.bit(i) for i in range(32))), ("zbkb",), {"rev8": 1, "brev8": 1}),
        (concat(A.byte(0), A.byte(1)).zext(32), ("zbkb",), {"rev8": 1, "srli": 1}),
        (concat(A.slice(0, 16), B.slice(0, 16)), ("zbkb",), {"pack": 1}),
        ((A << 16) | (B & 0xFFFF), ("zbkb",), {"pack": 1}),
        (A.rotr(8).byte(1).zext(32), (), {"srli": 1, "andi": 1}),
        ((A ^ 5) ^ B, (), {"xor": 1, "xori": 1}),
        (A - B, (), {"sub": 1}),
        (A + 0x7FF, (), {"addi": 1}),
        (A - 5, (), {"addi": 1}),
        (A.ult(B).zext(32), (), {"sltu": 1}),
        (A.eq(B).zext(32), (), {"xor": 1, "sltiu": 1}),
        ((~A.eq(B)).zext(32), (), {"xor": 1, "sltu": 1}),
        (mux(A.slt(B), C, const(0, 32)), (), {"slt": 1, "sub": 1, "and": 1}),
        (A * 5, (), {"slli": 1, "add": 1}),
        ((A << 2) + B, ("zba",), {"sh2add": 1}),
        (A.shl_var(B.slice(0, 5)), (), {"sll": 1}),
        (A.rotr(2) ^ A.rotr(13) ^ A.rotr(22), ("zknh",), {"sha256sum0": 1}),
        (
            A.rotr(2) ^ B ^ (A >> 13 | A << 19) ^ C ^ A.rotr(22),
            ("zknh",),
            {"sha256sum0": 1, "xor": 2},
        ),
        (A ^ A.rotl(15) ^ A.rotl(23), ("zksh",), {"sm3p1": 1}),
        (lookup(t_table(1), A.byte(1)) ^ B, ("zkne",), {"aes32esmi": 1}),
        (lookup(t_table(1), byte_shifted(A, 1)) ^ B, ("zkne",), {"aes32esmi": 1}),
        (lookup(t_table(0), A.byte(2)).rotr(16) ^ B, ("zkne",), {"aes32esmi": 1}),
        (B ^ column(lookup(sbox(), A.byte(3))).rotr(8), ("zkne",), {"aes32esmi": 1}),
        ((lookup(sbox(), A.byte(1)).zext(32) << 8) ^ B, ("zkne",), {"aes32esi": 1}),
        (lookup(sbox(), A.byte(1)).zext(32) << 8, ("zkne",), {"aes32esi": 1}),
        (
            concat(*(lookup(sbox(), w.byte(i)) for i, w in ((3, A), (2, B), (1, C), (0, A)))) ^ B,
            ("zkne",),
            {"aes32esi": 4},
        ),
    ],
)
def test_spellings(expression, extensions, expected):
    assert compiled(expression, *extensions) == Counter(expected)


def custom(name: str, funct3: int, meaning) -> Extension:
    extension = Extension("custom", source="this test", xlens=(32,))
    extension.instruction(f"{name} rd rs1 rs2 31..25=0 14..12={funct3} 6..0=0x0B")(meaning)
    return extension


@pytest.mark.parametrize(
    ("meaning", "expression", "count"),
    [
        (lambda rs1, rs2: (rs1 ^ rs2).rotr(16), (A ^ B).rotr(16) + C, 2),
        (lambda rs1, rs2: (rs1 + rs2).rotr(9) ^ rs1, ((B + C).rotr(9) ^ B) + A, 2),
        (lambda rs1, rs2: (rs1 & rs2) ^ (rs1 | rs2), ((A & B) ^ (B | A)) + C, 2),
        (lambda rs1, rs2: rs1 + rs2.rotr(7), (A + B.rotr(7)) + C.rotr(7), 2),
        (lambda rs1, rs2: rs1 ^ (rs2 & rs2.rotr(8)), C ^ (B & B.rotr(8)) ^ A, 2),
        (lambda rs1, rs2: (rs1 * rs2) ^ rs2, (A * B) ^ B, 1),
        (
            lambda rs1, rs2: rs1 ^ rs1.rotr(3) ^ rs2.rotr(5) ^ (rs2 >> 1),
            A ^ (B >> 1) ^ A.rotr(3) ^ B.rotr(5) ^ C,
            2,
        ),
        (
            lambda rs1, rs2: lookup(sbox(), rs1.byte(0)).zext(32) + rs2,
            lookup(sbox(), B.byte(0)).zext(32) + C,
            1,
        ),
    ],
)
def test_instructions_that_someone_adds_are_found(meaning, expression, count):
    found = compiled(expression, custom("mine", 0, meaning))
    assert found["mine"] >= 1
    assert found.total() == count


X, Y = A.rotr(3), A.rotr(7)


@pytest.mark.parametrize(
    "expression",
    [
        (X ^ Y) ^ (A >> 3),
        (X ^ B) ^ (X ^ C),
        (X ^ B) ^ (B ^ X),
        ((A & B) & (B & C)) | ((A | B) | (B | C)),
        (A + B) + (A + B) + (A + C) + 5 + (C + 5),
        (A ^ 5) ^ (B ^ 5),
    ],
)
def test_terms_that_occur_twice(expression):
    for extensions in ((), ("zbb",), ("zbb", "zba")):
        compiled(expression, *extensions)


def test_arithmetic_never_becomes_a_table():
    """An S-box computed from x^2 stays arithmetic: nothing is loaded, no table is placed."""
    x = A.slice(0, 8)
    root = column(times(x, 3) ^ (x.rotr(3) & x.rotr(5)))
    instructions = InstructionSet.of(32, "rv32i")

    def build(k: Builder) -> None:
        k.word("a")
        k.store(k.pointer("out"), 0, root)

    program = compile_kernel(build, instructions)
    assert program.data_bytes == 0
    run = Interpreter(program, instructions)
    run.run([0x12345678, 0x20000])
    assert not {"lb", "lbu", "lh", "lhu", "lw"} & set(run.mnemonics)


def test_tables_share_a_base_and_unused_ones_take_no_room():
    root = lookup(t_table(0), A.byte(0)) ^ lookup(t_table(3), B.byte(3))
    root = root ^ (lookup(sbox(), C.byte(0)).zext(32) + A)
    assert compiled(root)["lui"] == 1
    instructions = InstructionSet.of(32, "rv32i", "zkne")

    def build(k: Builder) -> None:
        for n in "abc":
            k.word(n)
        k.store(k.pointer("out"), 0, root)

    assert compile_kernel(build, instructions).data_bytes == 0
    base = compile_kernel(build, InstructionSet.of(32, "rv32i"))
    assert base.data_bytes == 2 * 1024 + 256


def test_what_no_instruction_computes_is_said():
    with pytest.raises(
        UnsupportedKernel,
        match=r"^kernel needs clmul of 32 bits, which no instruction of the set computes; add an",
    ):
        compiled(A.clmul(B).slice(0, 32))


@pytest.mark.parametrize(
    ("mnemonic", "expected"),
    [("kyberadd", {}), ("kybersub", {}), ("kybermul", {"pack": 2})],
)
def test_an_operand_that_is_read_in_parts_is_found_whole(mnemonic, expected):
    """Arithmetic of RS5 modulo 3329: each operand is read in several places."""
    found = compiled(intrinsic("xkyber", mnemonic, 32, rs1=A, rs2=B), "xkyber", "zbkb")
    assert found == {mnemonic: 1, **expected}

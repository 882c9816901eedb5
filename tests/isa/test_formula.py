from __future__ import annotations

import pytest

from isa.bits import arg, concat, const, lookup, mux
from isa.diagram import diagram, fields
from isa.encoding import Encoding
from isa.formula import formula
from isa.instruction import Effects
from isa.instruction_set import find_instruction, load_extension
from isa.table import Table

X, Y = arg("x", 8), arg("y", 8)


# The right sides are those of the manuals' pages of the instructions.
@pytest.mark.parametrize(
    ("name", "xlen", "lines"),
    [
        ("sha256sig0", 32, ["rd = (rs1 >>> 7) ^ (rs1 >>> 18) ^ (rs1 >> 3)"]),
        ("andn", 32, ["rd = rs1 & ~rs2"]),
        ("sltu", 32, ["rd = zext32(rs1 < rs2)"]),
        ("lbu", 32, ["rd = memory[rs1 + sext32(imm12)], 8 bits unsigned"]),
        ("sh", 32, ["memory[rs1 + sext32(imm12)] = rs2[15:0]"]),
        ("jal", 32, ["rd = pc + 4", "pc = pc + sext32({jimm20, 1'0})"]),
        ("blt", 64, ["if rs1 <s rs2: pc = pc + sext64({bimm12, 1'0})"]),
        ("mulhu", 32, ["rd = (rs1 × rs2)[63:32]"]),
        ("clmul", 32, ["rd = (rs1 (*) rs2)[31:0]"]),
        ("sra", 64, ["rd = rs1 >>s rs2[5:0]"]),
        ("ecall", 32, ["calls the host: ecall"]),
        ("fence", 32, ["does nothing"]),
    ],
)
def test_formulas(name: str, xlen: int, lines: list[str]) -> None:
    assert formula(find_instruction(name, xlen).effects(xlen)) == lines


def test_operators_bind_as_written() -> None:
    table = Table("square", 8, tuple(i * i % 256 for i in range(256)))
    shared = X + Y
    value = mux(X.eq(3), lookup(table, shared) ^ shared, (Y >> 4) & 15)
    assert formula(Effects(rd=value)) == [
        "t0 = x + y",
        "rd = (x == 3) ? (square[t0] ^ t0) : ((y >> 4) & 0xf)",
    ]
    assert formula(Effects(rd=X & (Y | 1))) == ["rd = x & (y | 1)"]
    assert formula(Effects(rd=X - (Y - X))) == ["rd = x - (y - x)"]
    assert formula(Effects(rd=concat(X.slice(0, 4), const(0, 4)))) == ["rd = {x[3:0], 4'0}"]


@pytest.mark.parametrize("extension", ["rv32i", "rv64i", "zkne", "xaesv4", "nluv", "zicsr"])
def test_fields_cover_every_word_once(extension: str) -> None:
    for instruction in load_extension(extension).instructions:
        at = 31
        for high, low, _ in fields(instruction.encoding):
            assert high == at
            at = low - 1
        assert at == -1


def test_diagram() -> None:
    encoding = Encoding.parse("aes32esmi rd rs1 rs2 bs 29..25=0b10011 14..12=0 6..0=0x33")
    assert diagram(encoding) == [
        "  31 30   29 25   24 20   19 15   14 12   11 7   6     0",
        "+-------+-------+-------+-------+-------+------+---------+",
        "|  bs   | 10011 |  rs2  |  rs1  |  000  |  rd  | 0110011 |",
        "+-------+-------+-------+-------+-------+------+---------+",
    ]

"""RV64I and M against formulas in Python's unbounded integers, written from the manual."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from isa.bits import evaluate
from isa.instruction_set import InstructionSet, load_extension
from tests.isa.extensions.execute import Execute
from tests.isa.extensions.operands import operands

Formula = Callable[[int, int, int], int]
"""Of rs1, rs2 or the immediate's value, and the register width."""


def signed(x: int, width: int) -> int:
    x %= 1 << width
    return x - (1 << width) if x >> width - 1 else x


def word(formula: Formula) -> Formula:
    return lambda a, b, w: signed(formula(a % 2**32, b % 2**32, 32), 32)


def quotient(a: int, b: int) -> int:
    """Rounded towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def div(a: int, b: int, w: int) -> int:
    return quotient(signed(a, w), signed(b, w)) if b else -1


def rem(a: int, b: int, w: int) -> int:
    x, y = signed(a, w), signed(b, w)
    return x - y * quotient(x, y) if b else x


BASE: dict[str, Formula] = {
    "add": lambda a, b, w: a + b,
    "sub": lambda a, b, w: a - b,
    "sll": lambda a, b, w: a << b % w,
    "slt": lambda a, b, w: signed(a, w) < signed(b, w),
    "sltu": lambda a, b, w: a < b,
    "xor": lambda a, b, w: a ^ b,
    "srl": lambda a, b, w: a >> b % w,
    "sra": lambda a, b, w: signed(a, w) >> b % w,
    "or": lambda a, b, w: a | b,
    "and": lambda a, b, w: a & b,
    "addi": lambda a, b, w: a + signed(b, 12),
    "slti": lambda a, b, w: signed(a, w) < signed(b, 12),
    "sltiu": lambda a, b, w: a < signed(b, 12) % (1 << w),
    "xori": lambda a, b, w: a ^ signed(b, 12),
    "ori": lambda a, b, w: a | signed(b, 12),
    "andi": lambda a, b, w: a & signed(b, 12),
}
BASE |= {"slli": BASE["sll"], "srli": BASE["srl"], "srai": BASE["sra"]}
BASE |= {n + "w": word(BASE[n]) for n in ("add", "sub", "sll", "srl", "sra")}
BASE |= {n + "w": word(BASE[n]) for n in ("addi", "slli", "srli", "srai")}
M: dict[str, Formula] = {
    "mul": lambda a, b, w: a * b,
    "mulh": lambda a, b, w: signed(a, w) * signed(b, w) >> w,
    "mulhsu": lambda a, b, w: signed(a, w) * b >> w,
    "mulhu": lambda a, b, w: a * b >> w,
    "div": div,
    "divu": lambda a, b, w: a // b if b else -1,
    "rem": rem,
    "remu": lambda a, b, w: a % b if b else a,
}
M |= {n + "w": word(M[n]) for n in ("mul", "div", "divu", "rem", "remu")}

EXECUTE = {
    ("rv64i", 64): Execute(64, "rv64i"),
    ("m", 32): Execute(32, "m"),
    ("m", 64): Execute(64, "m"),
}


def names(extension: str, xlen: int) -> list[str]:
    """Instructions whose result is a function of registers and an immediate of up to 12 bits."""
    return [
        n
        for n, i in EXECUTE[extension, xlen].by_name.items()
        if i.kind == "alu" and n not in ("lui", "auipc", "fence")
    ]


def test_every_instruction_has_an_expectation() -> None:
    assert set(names("rv64i", 64)) == set(BASE)
    assert set(names("m", 32)) | set(names("m", 64)) == set(M)


@pytest.mark.parametrize(
    ("extension", "xlen", "name"), [(e, x, n) for e, x in EXECUTE for n in names(e, x)]
)
def test_meaning(extension: str, xlen: int, name: str) -> None:
    execute = EXECUTE[extension, xlen]
    instruction = execute.by_name[name]
    for a, b, _ in operands(xlen, name):
        second = b
        for i in instruction.encoding.immediates:
            second = b % (1 << i.width)
        expected = (BASE | M)[name](a, second, xlen) % (1 << xlen)
        assert execute(name, a, second) == expected, (hex(a), hex(second))


def test_division_corners() -> None:
    """Table 11 of the manual, chapter 13."""
    for xlen in (32, 64):
        do = EXECUTE["m", xlen]
        least, ones = 1 << xlen - 1, (1 << xlen) - 1
        for x in (0, 1, least, ones):
            assert (do("div", x, 0), do("divu", x, 0)) == (ones, ones)
            assert (do("rem", x, 0), do("remu", x, 0)) == (x, x)
        assert (do("div", least, ones), do("rem", least, ones)) == (least, 0)


def test_upper_immediates_are_sign_extended() -> None:
    rv64i = InstructionSet.of(64, "rv64i").by_name
    assert evaluate(rv64i["lui"].effects(64).rd, {"imm20": 0x80000}) == 0xFFFFFFFF80000000
    auipc = rv64i["auipc"].effects(64).rd
    assert evaluate(auipc, {"pc": 0x1000, "imm20": 0xFFFFF}) == 0
    assert evaluate(auipc, {"pc": 0x1000, "imm20": 0x80000}) == 0xFFFFFFFF80001000


@pytest.mark.parametrize(
    ("name", "width", "is_signed"),
    [
        *(("lb", 8, True), ("lh", 16, True), ("lw", 32, True), ("ld", 64, True)),
        *(("lbu", 8, False), ("lhu", 16, False), ("lwu", 32, False)),
    ],
)
def test_loads(name: str, width: int, is_signed: bool) -> None:
    load = InstructionSet.of(64, "rv64i").by_name[name].effects(64).load
    assert (load.width, load.signed) == (width, is_signed)
    assert evaluate(load.address, {"rs1": 2**40, "imm12": 4095}) == 2**40 - 1


@pytest.mark.parametrize(("name", "width"), [("sb", 8), ("sh", 16), ("sw", 32), ("sd", 64)])
def test_stores(name: str, width: int) -> None:
    store = InstructionSet.of(64, "rv64i").by_name[name].effects(64).store
    values = {"rs1": 2**40, "rs2": 0x0123456789ABCDEF, "imm12": 8}
    assert evaluate(store.address, values) == 2**40 + 8
    assert store.value.width == width
    assert evaluate(store.value, values) == 0x0123456789ABCDEF % 2**width


def test_only_division_has_latency_that_may_depend_on_data() -> None:
    """Zkt's list holds mul, mulh, mulhsu, mulhu and mulw, and no division."""
    dependent = {i.name for i in load_extension("m").instructions if not i.data_independent}
    assert dependent == {n for n in M if n.startswith(("div", "rem"))}


def test_control_and_status_accesses_are_left_to_the_host() -> None:
    zicsr = InstructionSet.of(64, "zicsr").by_name
    assert zicsr["csrrs"].encode(rd=10, rs1=0, csr=0xC00) == 0xC0002573  # rdcycle a0
    assert zicsr["csrrs"].encode(rd=10, rs1=0, csr=0xC02) == 0xC0202573  # rdinstret a0
    assert zicsr["csrrwi"].encode(rd=0, zimm5=31, csr=0x340) == 0x340FD073  # csrwi mscratch, 31
    for i in zicsr.values():
        assert (i.kind, i.effects(64).host) == ("system", "csr")

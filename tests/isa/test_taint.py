from __future__ import annotations

import pytest

from isa.assembler import assemble
from isa.instruction import Extension
from isa.instruction_set import InstructionSet
from isa.machine import Machine
from isa.taint import Leak

VARIABLE = Extension("slow", source="this test")


@VARIABLE.instruction("slowmul rd rs1 rs2 31..25=1 14..12=0 6..0=0x0B", data_independent=False)
def slowmul(rs1, rs2):  # type: ignore[no-untyped-def]
    """Multiply, as long as the operands take."""
    return rs1 * rs2


SET = InstructionSet.of(32, "rv32i", "zkne", "nluv") + InstructionSet.of(32, "rv32i", "zbkx")
WITH_SLOW = InstructionSet.of(32, "rv32i", VARIABLE)
SECRET = 0x1_0000
"""A word that holds 0x10010; the word after it is public and 0, the one after that 3."""


def leaks(body: str, instructions: InstructionSet = SET, **options: object) -> list[Leak]:
    text = f"_start: jal ra, kernel\n ebreak\nkernel: lw t0, 0(a0)\n lw t1, 4(a0)\n{body}\n ret\n"
    words = (0x1_0010, 0, 3)
    contents = b"".join(w.to_bytes(4, "little") for w in words)
    machine = Machine(instructions, assemble(text, instructions))
    return machine.run_tracked(
        [SECRET], {SECRET: contents}, options.pop("secret", [(SECRET, 4)]), **options
    )


BRANCH_ON_T2 = "\n beq t2, zero, o\no:"
AT = 16
"""Address of the first instruction of a body."""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("beq t0, t1, o\no:", [Leak(AT, "branch", 1)]),
        ("bltu t1, t0, o\no:", [Leak(AT, "branch", 1)]),
        ("sub t2, t0, t0\n addi t2, t2, 28\n jalr t2, 0(t2)", []),
        ("srli t2, t0, 31\n addi t2, t2, 28\n jalr zero, 0(t2)", [Leak(AT + 8, "branch", 1)]),
        ("lw t2, 0(t0)", [Leak(AT, "address", 1)]),
        ("sw t1, 0(t0)", [Leak(AT, "address", 1)]),
        ("li t3, 3\nl: addi t3, t3, -1\n lb t2, 1(t0)\n bnez t3, l", [Leak(AT + 8, "address", 3)]),
        ("lw t2, 0(t0)\n beq t0, t1, o\no:", [Leak(AT, "address", 1), Leak(AT + 4, "branch", 1)]),
    ],
)
def test_planted_leaks_are_found(body: str, expected: list[Leak]) -> None:
    assert leaks(body) == expected
    assert leaks(body, secret=[]) == []


def test_variable_latency_is_a_leak() -> None:
    assert leaks("slowmul t2, t1, t0", WITH_SLOW) == [Leak(AT, "latency", 1)]
    assert leaks("slowmul t2, t1, t1", WITH_SLOW) == []


@pytest.mark.parametrize(
    ("body", "is_secret"),
    [
        ("mv t2, t0", True),
        ("xor t2, t0, t0", False),
        ("sub t2, t0, t0", False),
        ("slt t2, t0, t0", False),
        ("and t2, t0, zero", False),
        ("andi t2, t0, 0", False),
        ("and t2, t0, t1", False),  # t1 is public and 0
        ("and t2, t1, t0", False),
        ("and t2, t0, a0", True),
        ("and t2, t0, t0", True),
        ("or t2, t0, t1", True),
        ("addi t2, t0, 5", True),
        ("lui t2, 5", False),
        ("mv t2, t0\n li t2, 1", False),
        ("mv t2, t0\n lw t2, 8(a0)", False),
        ("addi zero, t0, 1\n mv t2, zero", False),
        ("aes32esmi t2, t1, t0, 1", True),
        ("aes32esmi t2, t1, t1, 1", False),
        ("xperm8 t2, t0, t1", True),
        ("sw t0, 12(a0)\n lw t2, 12(a0)", True),
        ("sb t0, 12(a0)\n lw t2, 12(a0)", True),
        ("sb t0, 12(a0)\n lb t2, 12(a0)", True),
        ("sb t0, 12(a0)\n lb t2, 13(a0)", False),
        ("sh t0, 12(a0)\n lhu t2, 14(a0)", False),
        ("sw t0, 12(a0)\n sw t1, 12(a0)\n lw t2, 12(a0)", False),
        ("sw t0, 12(a0)\n sb t1, 12(a0)\n lw t2, 12(a0)", True),
        ("lb t2, 3(a0)", True),
        ("lb t2, 4(a0)", False),
        ("nmu t3, t0\n nma1 t2, t1", True),  # through rl0
        ("nmu t3, t0\n nma2 t2, t1", False),
        ("nmu t3, t0\n nmu t3, t1\n nma2 t2, t1", True),
        ("nldl 0, 1\n nmu t2, t1", False),
    ],
)
def test_what_carries_a_secret(body: str, is_secret: bool) -> None:
    found = leaks(body + BRANCH_ON_T2)
    assert [leak.kind for leak in found] == ["branch"] * is_secret


def test_declassified_memory_stays_public() -> None:
    body = "sw t0, 12(a0)\n lw t2, 12(a0)" + BRANCH_ON_T2
    assert len(leaks(body)) == 1
    assert leaks(body, declassified=[(SECRET + 12, 4)]) == []
    assert len(leaks(body, declassified=[(SECRET + 12, 3)])) == 1
    assert leaks("beq t0, t1, o\no:", declassified=[(SECRET, 4)]) == []


def test_runs_do_not_remember() -> None:
    text = "_start: jal ra, kernel\n ebreak\nkernel: lw t0, 0(a0)\n bnez t0, o\no: ret"
    machine = Machine(SET, assemble(text, SET))
    found = [
        machine.run_tracked([SECRET], None, secret) for secret in ([(SECRET, 1)], [], [(SECRET, 4)])
    ]
    assert found == [[Leak(12, "branch", 1)], [], [Leak(12, "branch", 1)]]
    assert machine.run([SECRET]).registers[5] == 0


def test_ranges_must_lie_in_memory() -> None:
    with pytest.raises(ValueError, match="secret range must lie in data memory, 0x10000 to"):
        leaks("nop", secret=[(0, 4)])
    with pytest.raises(ValueError, match="declassified range must lie in data memory"):
        leaks("nop", declassified=[(0x2_FFFE, 4)])

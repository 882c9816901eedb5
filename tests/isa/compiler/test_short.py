"""Compiled code with compressed instructions: right, shorter, and no slower."""

from __future__ import annotations

import pytest

import workloads
from dse.measure.measurement import cases
from isa.bits import const
from isa.compiler import compile_kernel
from isa.disassembler import disassemble
from isa.instruction_set import InstructionSet
from isa.kernel import Builder
from isa.machine import DATA_END, Machine
from isa.program import Program, walk
from isa.timing import Core, price

KERNELS = [
    ("aes128-encrypt", "ttable", 1, 32, (), 0.79),
    ("aes128-encrypt", "sbox", 2, 32, (), 0.80),
    ("aes128-encrypt", "ttable", "full", 32, ("zkne", "zbkb"), 0.93),
    ("aes128-key-schedule", "sbox", 1, 32, (), 0.73),
    ("sha256", "plain", 1, 32, (), 0.71),
    ("sha256", "plain", 1, 64, ("zbb",), 0.75),
    ("ascon-p12", "plain", 1, 64, (), 0.85),
]


def compiled(name: str, kernel: str, unroll: int | str, xlen: int, *parts: str) -> Program:
    instructions = InstructionSet.of(xlen, f"rv{xlen}i", *parts)
    kernels = workloads.get(name).kernels
    return compile_kernel(kernels[kernel].build, instructions, unroll=unroll)


@pytest.mark.parametrize(("name", "kernel", "unroll", "xlen", "parts", "most"), KERNELS)
def test_kernels(
    name: str, kernel: str, unroll: int | str, xlen: int, parts: tuple[str, ...], most: float
) -> None:
    long = compiled(name, kernel, unroll, xlen, *parts)
    short = compiled(name, kernel, unroll, xlen, *parts, "zca")
    assert short.code_bytes <= most * long.code_bytes
    cycles = []
    for program, extra in ((long, ()), (short, ("zca",))):
        instructions = InstructionSet.of(xlen, f"rv{xlen}i", *parts, *extra)
        machine = Machine(instructions, program)
        for case in cases(workloads.get(name), program)[:2]:
            run = machine.run(case.arguments, case.memory)
            saved = (*run.registers[8:10], *run.registers[18:28])
            assert (saved, run.registers[2]) == ((0,) * 12, DATA_END)
            for address, expected in case.expected.items():
                assert run.read(address, len(expected)) == expected
        cycles.append(price(run.blocks, run.trace, Core(), entry=program.entry))
        heads = [pc for symbol, pc in program.symbols.items() if symbol.startswith("loop")]
        heads = [pc for pc in heads if run.executions[pc] > 2]
        words = dict(walk(program, instructions))
        assert all(instructions.size(words[pc]) == 2 or pc % 4 == 0 for pc in heads)
        assert len(disassemble(program, instructions).splitlines()) > len(words)
    assert cycles[1] <= cycles[0] + 2  # heads of loops of two iterations are left alone


@pytest.mark.parametrize("size", range(56, 72))
def test_long_loops_close(size: int) -> None:
    """Bodies around the 256 bytes that c.bnez reaches."""
    instructions = InstructionSet.of(32, "rv32i", "zca")

    def kernel(k: Builder) -> None:
        out = k.pointer("out")

        def body(i: object, x: object) -> tuple[object, ...]:
            for j in range(size):
                x = (x ^ const(0x7F0 + j, 32)) + 1  # 32 and 16 bits
            return (x,)

        (x,) = k.loop(5, body, k.word("x"))
        k.store(out, 0, x)

    program = compile_kernel(kernel, instructions)
    run = Machine(instructions, program).run([0x1_1000, 7])
    x = 7
    for _ in range(5):
        for j in range(size):
            x = (x ^ 0x7F0 + j) + 1
    assert int.from_bytes(run.read(0x1_1000, 4), "little") == x

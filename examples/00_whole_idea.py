"""The whole idea in one page: write an instruction once; simulate, compile, price and search it."""

from __future__ import annotations

import pyrtl

from hw.area import estimate
from hw.extension import build_extension
from hw.technology import technology
from isa.bits import Bits, evaluate
from isa.compiler import compile_kernel
from isa.disassembler import disassemble
from isa.instruction import Extension
from isa.instruction_set import InstructionSet
from isa.kernel import Builder
from isa.machine import Machine
from isa.program import DATA_BASE

# 1. An instruction: an encoding in riscv-opcodes syntax, and what it means.
xdemo = Extension("xdemo", source="this example")


@xdemo.instruction("sigma0 rd rs1 31..20=0 14..12=0 6..0=0x0B")
def sigma0(rs1: Bits) -> Bits:
    """SHA-256 message-schedule sigma-0 (FIPS 180-4 section 4.1.2)."""
    return rs1.rotr(7) ^ rs1.rotr(18) ^ (rs1 >> 3)


plain = InstructionSet.of(32, "rv32i")
extended = plain + xdemo
print("value   ", hex(evaluate(extended.by_name["sigma0"].effects(32).rd, {"rs1": 0x6A09E667})))


# 2. A kernel, written without knowing any instruction.
def schedule(k: Builder) -> None:
    """w[16] of the SHA-256 message schedule, less sigma-1."""
    w = k.pointer("w")
    w0, w1, w9 = (k.load(w, 4 * i) for i in (0, 1, 9))
    k.store(w, 64, w0 + ((w1.rotr(7)) ^ w1.rotr(18) ^ (w1 >> 3)) + w9)


# 3. Compiled for either set, and run: the compiler finds the instruction by itself.
for name, instructions in (("rv32i", plain), ("with it", extended)):
    program = compile_kernel(schedule, instructions)
    message = b"".join(i.to_bytes(4, "little") for i in range(1, 17))
    run = Machine(instructions, program).run([DATA_BASE], {DATA_BASE: message + bytes(4)})
    w16 = int.from_bytes(run.read(DATA_BASE + 64, 4), "little")
    print(f"{name:8}", run.kernel_instructions, "instructions, w[16] =", hex(w16))
print(disassemble(program, extended))

# 4. The same graph as hardware, and what it costs.
block = build_extension(xdemo.instructions, 32, {})
simulation = pyrtl.Simulation(tracer=None, block=block)
word = extended.by_name["sigma0"].encode(rd=1, rs1=2)
simulation.step({"instr": word, "rs1": 0x6A09E667, "rs2": 0, "base_result": 0, "commit": 1})
print("netlist ", hex(simulation.inspect("result")))
cost = estimate(block, technology("ge"))
print(f"cost     {cost.area_ge:.0f} GE, {cost.delay_fo4:.1f} FO4 (estimate)")

# 5. Among all instructions, workloads, cores and circuits at once: `dse search spaces/aes.yaml`.

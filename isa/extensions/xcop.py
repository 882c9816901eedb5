"""Xcop: commands to a co-processor, for hosts whose pipeline carries them to it.

What they do and how long they stay in EX is a matter of the co-processor (`isa.device`,
`isa.coprocessor`). A message word has 64 bits, so on RV32 `cp.put` takes two registers.
"""

from __future__ import annotations

from isa.bits import Bits, const
from isa.instruction import Command, Effects, Extension

EXTENSION = Extension("xcop", source="this project, docs/coprocessor.md")
_instruction = EXTENSION.instruction


@_instruction(
    "cp.set rs1 setting 31..23=0 11..7=0 14..12=0 6..0=0x2b", fields={"setting": (22, 20)}
)
def cp_set(rs1: Bits, setting: Bits) -> Effects:
    """Change a setting of the co-processor to rs1."""
    return Effects(command=Command("set", rs1, setting.zext(rs1.width)))


@_instruction("cp.put rs1 rs2 31..25=0 11..7=0 14..12=1 6..0=0x2b", xlens=(32,))
def cp_put(rs1: Bits, rs2: Bits) -> Effects:
    """Pass the next 64 bits of the message, the lower half in rs1."""
    return Effects(command=Command("put", rs1, rs2))


@_instruction("cp.put rs1 31..20=0 11..7=0 14..12=1 6..0=0x2b", xlens=(64,))
def cp_put64(rs1: Bits) -> Effects:
    """Pass the next 64 bits of the message."""
    return Effects(command=Command("put", rs1, const(0, 64)))


@_instruction("cp.start 31..15=0 11..7=0 14..12=2 6..0=0x2b")
def cp_start() -> Effects:
    """Begin with the message."""
    return Effects(command=Command("start"))


@_instruction("cp.wait rd 31..15=0 14..12=3 6..0=0x2b")
def cp_wait() -> Effects:
    """Stay until the co-processor is done; rd is 0 or an error code."""
    return Effects(command=Command("wait", has_result=True))


@_instruction("cp.get rd 31..15=0 14..12=4 6..0=0x2b")
def cp_get() -> Effects:
    """Take the next xlen bits of the output."""
    return Effects(command=Command("get", has_result=True))

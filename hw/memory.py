"""Memory: area and access time of register files and SRAMs, per port, beside the logic."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from hw.graph import Memory
from hw.technology import Technology

__all__ = ["MemoryCost", "block_rams", "memory_cost", "memory_luts", "register_file", "sram"]

LARGEST_REGISTER_FILE = 128
"""Words up to which a memory is built of flip-flops; a larger one is taken to be an SRAM."""

DRIVERS = 1.07
"""Area with the buffers of a register file's long lines, over that without them."""

NAND2_MM2 = 8.712e-6
"""Area of one NAND2 in a 130 nm library (vsclib013: 5 tracks of 0.44 x 3.96 um), mm2."""

FEATURE_UM = 0.13
FEATURE_FO4_PS = 50.0
"""The process in which the SRAM model is evaluated, and its FO4."""


BLOCK_RAM_PS = 2454.0
"""Clock to data of a 7-series block RAM without its output register, as yosys 0.70 has it
(cells_sim.v of its Xilinx library, from the timings of the prjxray database for Artix-7)."""

LUT_RAM_PS = 942.0
"""Address to data of a LUT used as memory: the slowest pin of a LUT (`hw.fabric`) and routing."""

LUT_RAM_WORDS = 32
"""Words of a LUT used as memory beside others."""


@dataclass(frozen=True)
class MemoryCost:
    """Area in GE and read access time in FO4 of one memory; `error` is a fraction of either.

    `luts` and `brams` are what it takes of a 7-series part: LUTs used as memory, block RAMs of 36
    Kbit, one of 18 Kbit counting half.
    """

    area_ge: float
    access_fo4: float
    error: float
    source: str
    luts: int = 0
    brams: float = 0.0


def register_file(
    words: int, width: int, reads: int, writes: int, technology: Technology
) -> MemoryCost:
    """Return the cost of a register file of flip-flops with multiplexer read ports.

    Each bit is a flip-flop with a multiplexer per write port; each read port is a tree of
    `words` - 1 multiplexers a bit; each write port decodes its address. `DRIVERS` is added for
    the buffers of select and enable lines. Read time is the tree (one multiplexer a level) and
    the buffers of a select line of a whole level. Fitted to the same file built in PyRTL and
    mapped: 14.0 kGE and 11.1 FO4 for 32 x 32 bits with two read ports; within 3 % there and for
    16 words with one port and 32 with three (tests/hw/test_memory.py).
    """
    if min(words, width, reads, writes) < 1:
        raise ValueError(
            "a register file must have at least 1 word, bit, read and write port, "
            f"not {(words, width, reads, writes)!r}"
        )
    bits = words * width
    levels = max(1, math.ceil(math.log2(words)))
    storage = bits * (technology.ff_ge + writes * technology.mux_ge)
    selection = reads * (words - 1) * width * technology.mux_ge
    decoders = writes * words * 2 * technology.and_ge
    level_fo4 = technology.mux_fo4 + technology.load_fo4
    drivers = technology.load_fo4 * math.log2(max(2, (words // 2) * width))
    return MemoryCost(
        DRIVERS * (storage + selection + decoders),
        0.5 + levels * level_fo4 + drivers,
        0.10,
        "flip-flops and multiplexers, fitted to mapped register files",
    )


def sram(words: int, width: int, ports: int, technology: Technology) -> MemoryCost:
    """Return the cost of a compiled SRAM of `words` x `width` bits.

    The fit that PyRTL 1.0.3 uses (pyrtl/analysis.py, after B. Agrawal and T. Sherwood, "Guiding
    architectural SRAM models", ICCD 2006), at t = 0.13 um: area = 0.001 t^2.07 bits^0.9 ports^0.7
    + 0.0048 mm2, access = 270 t^1.38 bits^0.25 ports^1.3 + 1.05 ps. A model of published arrays
    and not a measurement of ours: taken, as an assumption, to be right within a third.
    """
    if min(words, width, ports) < 1:
        raise ValueError(
            f"an SRAM must have at least 1 word, bit and port, not {(words, width, ports)!r}"
        )
    bits = words * width
    area_mm2 = 0.001 * FEATURE_UM**2.07 * bits**0.9 * ports**0.7 + 0.0048
    access_ps = 270 * FEATURE_UM**1.38 * bits**0.25 * ports**1.30 + 1.05
    return MemoryCost(
        area_mm2 / NAND2_MM2, access_ps / FEATURE_FO4_PS, 0.33, "PyRTL SRAM model (ICCD 2006)"
    )


def memory_luts(words: int, width: int, reads: int) -> int:
    """Return the LUTs of a memory with one write port in a 7-series part.

    Four LUTs are a RAM32M: 6 bits for one read port or 2 bits for three.
    """
    copies = reads * math.ceil(width / 6)
    if reads <= 3:
        copies = min(copies, math.ceil(width / 2))
    return 4 * copies * math.ceil(words / LUT_RAM_WORDS)


def block_rams(words: int, width: int) -> float:
    """Return the block RAMs of 36 Kbit that a memory of two ports takes, in steps of a half."""
    shapes = ((1024, 36), (2048, 18), (4096, 9), (8192, 4), (16384, 2), (32768, 1))
    whole = min(math.ceil(words / w) * math.ceil(width / b) for w, b in shapes)
    half = min(math.ceil(2 * words / w) * math.ceil(width / b) for w, b in shapes)
    return min(whole, half / 2)


def memory_cost(memory: Memory, technology: Technology) -> MemoryCost:
    """Return the cost of a memory that bit-blasting left out of the logic.

    Up to `LARGEST_REGISTER_FILE` words it is a register file, or LUTs, else an SRAM whose ports are
    the larger of its reads and writes, or block RAM. With `xc7` the access time is that of the
    part.
    """
    reads, writes = max(1, memory.reads), max(1, memory.writes)
    if memory.words <= LARGEST_REGISTER_FILE:
        cost = register_file(memory.words, memory.width, reads, writes, technology)
        cost = replace(cost, luts=memory_luts(memory.words, memory.width, reads))
        access_ps = LUT_RAM_PS
    else:
        cost = sram(memory.words, memory.width, max(reads, writes), technology)
        cost = replace(cost, brams=block_rams(memory.words, memory.width))
        access_ps = BLOCK_RAM_PS
    if technology.has_luts:
        cost = replace(cost, access_fo4=access_ps / technology.fo4_ps)
    return cost

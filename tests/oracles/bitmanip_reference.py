"""Compares the withdrawn bit-manipulation draft with the C code its authors give as reference.

    python -m tests.oracles.bitmanip_reference CHECKOUT [COUNT]

CHECKOUT is a checkout of riscv/riscv-bitmanip at v0.93, which holds cproofs/common.h (0.94 renamed
bext and bdep and changed no function); it is only read. Needs g++.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from isa.instruction import Instruction
from tests.isa.extensions.execute import Execute
from tests.isa.extensions.operands import operands

EXTENSIONS = ("xzbp", "xzbe", "xzbf", "xzbr", "xzbt")
RENAMED = {"bcompress": "bext", "bdecompress": "bdep"}
ARITY = {
    **dict.fromkeys(("cmix", "cmov", "fsl", "fsr"), 3),
    **dict.fromkeys(("grev", "gorc", "shfl", "unshfl", "bext", "bdep", "bfp"), 2),
    **dict.fromkeys(("andn", "orn", "xnor", "rol", "ror", "pack", "packh", "packu"), 2),
    **dict.fromkeys(("xperm_n", "xperm_b", "xperm_h", "xperm_w", "bmatxor", "bmator"), 2),
    **dict.fromkeys(("bmatflip", "crc32_b", "crc32_h", "crc32_w", "crc32_d"), 1),
    **dict.fromkeys(("crc32c_b", "crc32c_h", "crc32c_w", "crc32c_d"), 1),
}
"""Operands of each reference function."""
ONLY_64 = {"xperm_w", "crc32_d", "crc32c_d", "bmatflip", "bmatxor", "bmator"}

Reference = Callable[[int, int, int], int]


def build(checkout: Path, folder: Path) -> ctypes.CDLL:
    """Compile the reference functions of both widths into a library."""
    lines = ['#include "common.h"', 'extern "C" {']
    for xlen in (32, 64):
        for name, arity in ARITY.items():
            if xlen == 64 or name not in ONLY_64:
                given = ", ".join("abc"[:arity])
                lines.append(
                    f"uint64_t r{xlen}_{name}(uint64_t a, uint64_t b, uint64_t c) "
                    f"{{ return rv{xlen}b::{name}({given}); }}"
                )
    source, library = folder / "reference.cc", folder / "reference.so"
    source.write_text("\n".join([*lines, "}", ""]))
    subprocess.run(
        [
            "g++",
            "-O1",
            "-w",
            "-shared",
            "-fPIC",
            f"-I{checkout / 'cproofs'}",
            source,
            "-o",
            library,
        ],
        check=True,
    )
    return ctypes.CDLL(str(library))


def reference(library: ctypes.CDLL, name: str, xlen: int) -> Reference:
    """The function of rs1, rs2 or the immediate, and rs3, that defines an instruction."""
    plain = name.replace(".", "_")
    on_words = plain not in ARITY and plain.endswith("w")
    plain = plain.removesuffix("w") if on_words else plain
    plain = plain if plain in ARITY or plain in RENAMED else plain.removesuffix("i")
    plain = RENAMED.get(plain, plain)
    function = library[f"r{32 if on_words else xlen}_{plain}"]
    function.restype = ctypes.c_uint64
    function.argtypes = [ctypes.c_uint64] * 3

    def compute(a: int, b: int, c: int) -> int:
        if not on_words:
            return int(function(a, b, c))
        result = int(function(a % 2**32, b % 2**32, c % 2**32)) % 2**32
        return result | (0xFFFFFFFF << 32 if result >> 31 else 0)

    return compute


def differences(execute: Execute, i: Instruction, compute: Reference, count: int) -> int:
    """How many of `count` random and the corner operands differ."""
    wrong = 0
    for a, b, c in operands(execute.xlen, i.name, count):
        values = {"rs1": a, "rs2": b, "rs3": c}
        for m in i.encoding.immediates:
            values[m.name] = b = b % (1 << m.width)
        given = [values[p] for p in i.parameters]
        wrong += execute(i.name, *given) != compute(a, b, c)
    return wrong


def main(checkout: Path, count: int) -> int:
    """Compare all; returns the number of instructions that differ."""
    failed = total = 0
    with tempfile.TemporaryDirectory() as name:
        library = build(checkout, Path(name))
        for xlen in (32, 64):
            execute = Execute(xlen, *EXTENSIONS, *(("xzbm",) if xlen == 64 else ()))
            for i in execute.by_name.values():
                wrong = differences(execute, i, reference(library, i.name, xlen), count)
                total += 1
                if wrong:
                    failed += 1
                    sys.stdout.write(f"RV{xlen} {i.name}: {wrong} results differ\n")
    sys.stdout.write(f"{total - failed} of {total} agree on {count} random operands each\n")
    return failed


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000) > 0)

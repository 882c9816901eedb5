"""How long the compiler takes, in processor time, for every kernel on plain and extended sets.

    python benchmarks/compile_time.py [--only TEXT] [--slice I/N] [--json]

Each kernel is compiled as loops and unrolled, in default mode, for the sets whose instructions it
requires. What a set takes once (the patterns of its instructions) is not counted. `--slice 2/9`
takes every ninth program from the second on, so that a long run can be had in pieces.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator

import workloads
from isa.compiler import compile_kernel
from isa.compiler.repertoire import repertoire_of
from isa.isa_string import instruction_set
from isa.kernel import UnsupportedKernel

SETS = [f"rv{xlen}i{rest}" for xlen in (32, 64) for rest in ("", "_zba_zbb_zbs_zbc_zkn_zks")]
UNROLL: tuple[int | str, ...] = (1, "full")
SLOWEST = 12
"""Programs that are listed."""
Program = tuple[str, str, str, int | str]
"""Workload, kernel, set, unrolling."""


def programs(only: str) -> Iterator[Program]:
    """What is to be compiled, in a fixed order; M is added where a kernel requires it."""
    for name in workloads.workload_names():
        for kernel, variant in workloads.get(name).kernels.items():
            for isa in SETS:
                needs_m = bool({"mul", "mulhu"} & variant.requires)
                isa = isa.replace("i", "im", 1) if needs_m else isa
                known = instruction_set(isa)
                if only in f"{name} {kernel} {isa}" and all(m in known for m in variant.requires):
                    yield from ((name, kernel, isa, unroll) for unroll in UNROLL)


def seconds(program: Program) -> float | None:
    """Processor time of one compilation; None where the kernel does not fit the set."""
    name, kernel, isa, unroll = program
    instructions = instruction_set(isa)
    repertoire_of(instructions)
    build = workloads.get(name).kernels[kernel].build
    start = time.process_time()
    try:
        compile_kernel(build, instructions, unroll=unroll)
    except UnsupportedKernel:
        return None
    return time.process_time() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", default="", help="programs whose name contains this")
    parser.add_argument("--slice", default="1/1", help="I/N: the I-th of N parts")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    part, parts = map(int, options.slice.split("/"))
    chosen = list(programs(options.only))[part - 1 :: parts]
    found = {p: taken for p in chosen if (taken := seconds(p)) is not None}
    slowest = sorted(found, key=lambda p: -found[p])
    if options.json:
        rows = [{"program": " ".join(map(str, p)), "seconds": found[p]} for p in slowest]
        print(json.dumps({"rows": rows}, indent=1))
        return
    print(f"{len(found)} programs, median {statistics.median(found.values()):.3f} s; the slowest:")
    for program in slowest[:SLOWEST]:
        print(f"{found[program]:7.2f} s  {' '.join(map(str, program))}")


if __name__ == "__main__":
    main()

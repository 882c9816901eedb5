"""Measure the enumeration of connected convex subgraphs on the cipher kernels.

    python benchmarks/enumeration.py

Prints for each kernel, fully unrolled, its operations, the subgraphs within 2 inputs and 1 output,
3/1 and 4/2, and the CPU seconds. "Sets" means that sums may be split (what `dse propose` does), "as
written" that every operator has two operands, which is what other enumerators count.

For scale: the C++ enumerator of Giaquinta, Mishra and Pozzi (TCAD 2015; github.com/exg/mvs at
e1d601b) takes 1.34 CPU seconds for all 171,987 convex 4/2 subgraphs, connected or not, of a SHA-1
graph of 1,226 nodes; a plain bit-set enumerator in Python takes 32 s for them.
"""

from __future__ import annotations

import sys
import time

import workloads
from dse.propose.block import blocks
from dse.propose.enumeration import enumerate_subgraphs
from dse.propose.graph import Graph
from isa.kernel import FULL, UnsupportedKernel, trace

KERNELS = (
    ("aes128-encrypt", "ttable"),
    ("aes128-encrypt", "sbox"),
    ("aes128-encrypt", "bitsliced"),
    ("aes128-decrypt", "ttable"),
    ("sha256-block", "plain"),
    ("sha512-block", "plain"),
    ("sm3-block", "plain"),
    ("sm4-encrypt", "sbox"),
    ("present80-encrypt", "bitsliced"),
    ("chacha20-block", "plain"),
    ("keccak-f1600", "interleaved"),
)
PORTS = ((2, 1, True), (3, 1, True), (2, 1, False), (3, 1, False), (4, 2, False))


def unrolled(name: str, kernel: str, *, flatten: bool) -> list[Graph]:
    """Blocks of a kernel with every loop unrolled."""
    workload = workloads.get(name)
    chosen = workload.kernels.get(kernel) or next(iter(workload.kernels.values()))
    found = blocks(trace(chosen.build, 32, FULL), f"{name}/{chosen.name}")
    if flatten:
        return found
    return [
        Graph.of(
            [v.origin for i, v in enumerate(g.vertices) if g.live_out >> i & 1],
            flatten=False,
            name=g.name,
        )
        for g in found
    ]


def main() -> int:
    """Print the table."""
    names = [f"{n}/{m} {'sets' if s else 'as written'}" for n, m, s in PORTS]
    print(f"{'kernel':28}{'nodes':>8}" + "".join(f"{name:>24}" for name in names))
    totals = [0.0] * len(PORTS)
    for name, kernel in KERNELS:
        if name not in workloads.workload_names():
            continue
        try:
            written = unrolled(name, kernel, flatten=False)
            flat = unrolled(name, kernel, flatten=True)
        except UnsupportedKernel:
            continue
        cells = []
        for i, (inputs, outputs, split) in enumerate(PORTS):
            start = time.process_time()
            results = [
                enumerate_subgraphs(g, inputs, outputs, split=split)
                for g in (flat if split else written)
            ]
            seconds = time.process_time() - start
            totals[i] += seconds
            count = sum(len(r.subgraphs) for r in results)
            mark = "+" if any(r.truncated for r in results) else ""
            cells.append(f"{count:>13,}{mark:1} {seconds:7.2f} s")
        nodes = sum(g.size for g in written)
        print(f"{written[0].name:28}{nodes:>8,}" + "".join(f"{c:>24}" for c in cells))
    print(f"{'all':36}" + "".join(f"{seconds:>22.2f} s" for seconds in totals))
    print("+: the budget of search states ran out, some subgraphs are missing")
    return 0


if __name__ == "__main__":
    sys.exit(main())

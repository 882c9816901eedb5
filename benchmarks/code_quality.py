"""Our instructions and bytes beside the best hand-written or compiled kernels of the same set.

    python benchmarks/code_quality.py [--json] [--only TEXT] [--markdown]

Each cell of benchmarks/data/hand_written.yaml is met by every kernel of the workload at several
unrolling factors; each program reproduces its known answers before it counts. `ours` is the one of
fewest instructions, `smallest` the one of fewest code and table bytes.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import yaml

import workloads
from dse.cache import Cache
from dse.measurement import measure
from dse.target import Target
from hw.technology import technology
from isa.instruction_set import InstructionSet
from isa.kernel import KernelError, UnsupportedKernel
from isa.timing import Core

DATA = Path(__file__).parent / "data" / "hand_written.yaml"
UNROLL = (1, 2, 4, 8, "full")
SCALAR_CRYPTO = ("zbb", "zbkb", "zbkc", "zbkx", "zknd", "zkne", "zknh", "zksed", "zksh")
"""What the label `zk` of a cell stands for."""


def instruction_set(label: str) -> InstructionSet:
    """The set of a label such as `rv32i_zbb_zbkb`."""
    base, *extensions = label.split("_")
    names = [n for e in extensions for n in (SCALAR_CRYPTO if e == "zk" else (e,))]
    if "xascon" in names:
        names.insert(0, "zbkb")
    return InstructionSet.of(int(base[2:4]), base, *dict.fromkeys(names))


def met(cell: dict[str, Any]) -> dict[str, Any]:
    """Compile a cell's workload in every way and keep the best."""
    workload = workloads.get(cell["workload"])
    instructions = instruction_set(cell["isa"])
    found = []
    for name, kernel in workload.kernels.items():
        if not kernel.requires <= set(instructions.by_name):
            continue
        for unroll in UNROLL:
            target = Target(
                instructions, Core(xlen=instructions.xlen), (), (), unroll, technology("ge")
            )
            try:
                one = measure(workload, name, target, {}, Cache(None))
            except (UnsupportedKernel, KernelError):
                continue
            size = one.code_bytes + one.data_bytes
            found.append((one.instructions, size, f"{name} x{unroll}"))
    fastest = min(found)
    smallest = min(found, key=lambda f: (f[1], f[0]))
    return {
        "kernel": f"{cell['workload']} ({fastest[2]})",
        "isa": cell["isa"],
        "ours": fastest[0],
        "best": cell["best"],
        "ratio": round(fastest[0] / cell["best"], 3),
        "ours_bytes": fastest[1],
        "best_bytes": cell.get("bytes"),
        "smallest": f"{smallest[2]}: {smallest[1]} bytes, {smallest[0]} instructions",
        "smallest_bytes": smallest[1],
        "least_bytes": cell.get("least_bytes"),
        "source": cell["source"],
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--only", default="", help="cells whose workload or set contains this")
    options = parser.parse_args()
    cells = yaml.safe_load(DATA.read_text())["cells"]
    rows = []
    for cell in cells:
        if options.only in f"{cell['workload']} {cell['isa']}":
            rows.append(met(cell))
            row = rows[-1]
            print(f"{row['kernel']} {row['isa']}: {row['ratio']}", file=sys.stderr)
    if options.json:
        print(json.dumps({"rows": rows}, indent=1))
        return
    columns = ("kernel", "isa", "ours", "best", "ratio", "ours_bytes", "best_bytes", "source")
    print("| " + " | ".join((*columns, "smallest of ours", "least")) + " |")
    print("|" + "---|" * (len(columns) + 2))
    for row in rows:
        cells_of = [str(row[c] if row[c] is not None else "-") for c in columns]
        print(
            "| " + " | ".join([*cells_of, row["smallest"], str(row["least_bytes"] or "-")]) + " |"
        )
    within = sum(row["ratio"] <= 1 for row in rows)
    print(f"\n{within} of {len(rows)} cells at a ratio of at most 1.00.")


if __name__ == "__main__":
    main()

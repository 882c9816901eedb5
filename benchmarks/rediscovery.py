"""Print which known instructions enumeration finds again, started from plain kernels.

    python benchmarks/rediscovery.py

A Markdown table, the one in docs/propose.md: the instruction, the workload in which it ranks best,
how it relates, its rank among all ideas of that workload (by instructions it might save, before
anything is measured), how often it occurs, and whether the relation is proven.
"""

from __future__ import annotations

import sys
import time

import workloads
from dse.propose.report import known_rows
from dse.propose.request import Request
from dse.propose.survey import survey
from isa.timing import Core

WORKLOADS = {
    "rv32i": (
        "aes128-encrypt",
        "aes128-decrypt",
        "sha256-block",
        "sha512-block",
        "sm3-block",
        "sm4-encrypt",
        "sm4-key-schedule",
        "present80-encrypt",
        "chacha20-block",
        "keccak-f1600",
    ),
    "rv64i": ("sha512-block", "keccak-f1600"),
}


def main() -> int:
    """Print the table."""
    start = time.perf_counter()
    best: dict[tuple[str, str], tuple[int, str]] = {}
    for base, names in WORKLOADS.items():
        for name in names:
            workload = workloads.get(name)
            request = Request(((workload, 1.0),), base, Core(xlen=int(base[2:4])))
            found = survey(request)
            for row in known_rows(found):
                proof = "proven" if row["is_proven"] else "vectors only"
                cells = (
                    f"`{row['instruction']}`",
                    row["extension"],
                    base,
                    name,
                    row["relation"],
                    f"{row['rank']} of {len(found.ranked)}",
                    str(row["occurrences"]),
                    proof,
                )
                key = (base, row["instruction"])
                line = (row["rank"], " | ".join(cells))
                best[key] = min(best.get(key, line), line)
    print("instruction | extension | base | workload | relation | rank | places | proof")
    print("---|---|---|---|---|---|---|---")
    for _, (_, line) in sorted(best.items(), key=lambda item: (item[0][0], item[0][1])):
        print(line)
    print(f"\n{len(best)} found in {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Print which known instructions enumeration finds again, started from plain kernels.

    python benchmarks/rediscovery.py

A Markdown table, the one in docs/propose.md: the instruction, the workload in which it ranks best,
how it relates, its rank among all ideas of that workload (by instructions it might save, before
anything is measured), how often it occurs, whether the relation is proven, and the best idea that
has it inside, if one ranks before it. Ends with those of `WANTED` that were not found.
"""

from __future__ import annotations

import sys
import time

import workloads
from dse.propose.formula import shortened
from dse.propose.report import known_rows
from dse.propose.request import Request
from dse.propose.survey import Survey, survey
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

WANTED = {
    "rv32i": (
        "rori rev8 andn orn xnor sha256sig0 sha256sig1 sha256sum0 sha256sum1 sm3p0 sm3p1 aes32esmi "
        "aes32esi aes32dsmi aes32dsi sm4ed sm4ks nnlanf nmu sha512sig0h sha512sig0l sha512sig1h "
        "sha512sig1l sha512sum0r sha512sum1r"
    ),
    "rv64i": "andn rori rev8 sha512sig0 sha512sig1 sha512sum0 sha512sum1",
}
"""What must be found, by base, separated by spaces."""


def fused(found: Survey, name: str, rank: int) -> str:
    """The best idea that has an instruction inside, with its rank, if it ranks before it."""
    for i, entry in enumerate(found.ranked[: rank - 1], start=1):
        if entry.nearest.relation == "contains" and entry.nearest.name == name:
            text = shortened(entry.idea.formula, 70).replace("|", "\\|")
            return f"`{text}` ({i})"
    return ""


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
                    fused(found, row["instruction"], row["rank"]),
                )
                key = (base, row["instruction"])
                line = (row["rank"], " | ".join(cells))
                best[key] = min(best.get(key, line), line)
    print("instruction | extension | base | workload | relation | rank | places | proof | fused")
    print("---|---|---|---|---|---|---|---|---")
    for _, (_, text) in sorted(best.items(), key=lambda item: (item[0][0], item[0][1])):
        print(text)
    missing = [
        f"{n} ({b})" for b, names in WANTED.items() for n in names.split() if (b, n) not in best
    ]
    print(f"\nNot found: {', '.join(missing) or 'none'}")
    print(f"\n{len(best)} found in {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())

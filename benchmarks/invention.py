"""Compare proposed instructions with the ratified scalar cryptography extensions at equal area.

    python benchmarks/invention.py [WORKLOAD...]
    python benchmarks/invention.py --gains [WORKLOAD...]

For each workload: the ratified instructions that its best program uses, their cycles and the area
of one extension block of them; then the best set that `dse propose` finds within just that area,
with as many registers read. With `--gains`: the best three instructions among ten ideas, for the
ciphers of Nisanci, Flikkema and Yalcin (Cryptography 6:41, 2022), against the base set alone.
Base RV32I, default core, rolled loops, area mapped. A row is one JSON line on stdout, the Markdown
table of docs/propose.md is printed at the end.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from dse.propose import pipeline
from dse.propose.pipeline import propose
from dse.propose.request import Request, named_workloads
from dse.propose.score import Scorer
from dse.propose.subject import make_subject
from dse.propose.work import Work
from hw.technology import Technology
from isa.instruction_set import InstructionSet

OWN = ("zkne", "zknd", "zknh", "zksh", "zksed")
GENERAL = ("zbkb", "zbkc", "zbkx")
RIVALS = {
    "aes128-encrypt": (OWN,),
    "aes128-decrypt": (OWN,),
    "sha256-block": (OWN, OWN + GENERAL),
    "sha512-block": (OWN, OWN + GENERAL),
    "sm3-block": (OWN, OWN + GENERAL),
    "sm4-encrypt": (OWN,),
    "present80-encrypt": (GENERAL,),
    "chacha20-block": (GENERAL,),
    "keccak-f1600": (GENERAL,),
    "ascon-p12": (GENERAL,),
}
"""Ratified extensions (RISC-V Cryptography Extensions Volume I, 1.0.1) each is compared with."""
NISANCI = (
    "aes128-encrypt",
    "seed-encrypt",
    "camellia128-encrypt",
    "cast128-encrypt",
    "sha256-block",
    "sha512-block",
    "tdea-encrypt",
    "misty1-encrypt",
    "hight-encrypt",
    "present80-encrypt",
)
"""The ten algorithms that the published text names; the eleventh is not in what could be read."""
IDEAS = 10
ROOM = 1.01
"""Share of the rival area allowed: an encoding in custom space costs a gate or two more."""
TOP = 8
"""Most instructions of a proposed set; no ratified set used here has more."""


def compare(name: str, rivals: tuple[str, ...]) -> dict[str, Any]:
    """One row of the table."""
    request = Request(named_workloads([name]), top=TOP)
    base = request.instructions
    (workload, weight) = request.workloads[0]
    theirs = InstructionSet.of(base.xlen, "rv32i", *rivals)
    subject = make_subject(workload, weight, theirs, Work.of(base))  # with kernels made for them
    assert subject is not None
    scorer = Scorer([subject], base, request.core, Technology("ge", fo4_ps=request.fo4_ps))
    before = scorer.base_score()
    reached = scorer.score(theirs.extras(), {name: tuple(subject.graphs)}, before)
    used = [i for i in theirs.extras() if i.name in reached.used]
    area = scorer.cost(used, "mapped").area_ge if used else 0.0
    start = time.process_time()
    report = propose(Request(named_workloads([name]), top=TOP, area_ge=ROOM * area or None))
    chosen = [p for p in report.proposals if p.is_chosen]
    return {
        "workload": name,
        "base": before.cycles,
        "rivals": sorted(i.name for i in used),
        "rival_cycles": reached.cycles,
        "rival_area_ge": round(area, 1),
        "cycles": report.selection.score.cycles,
        "area_ge": round(report.selection.area_ge, 1),
        "gap": round(report.selection.gap, 4),
        "set": {p.name: p.idea.formula for p in chosen},
        "seconds": round(time.process_time() - start, 1),
    }


def verdict(row: dict[str, Any]) -> str:
    """Who wins at equal area."""
    if not row["rivals"]:
        return f"no ratified instruction helps; {1 - row['cycles'] / row['base']:.0%} fewer cycles"
    if row["cycles"] < row["rival_cycles"]:
        return f"wins, {1 - row['cycles'] / row['rival_cycles']:.0%} fewer cycles"
    if row["cycles"] == row["rival_cycles"]:
        if row["area_ge"] < 0.98 * row["rival_area_ge"]:
            return f"wins, {1 - row['area_ge'] / row['rival_area_ge']:.0%} less area"
        return "does not win: the same"
    return f"does not win, {row['cycles'] / row['rival_cycles'] - 1:.0%} more cycles"


def gain(name: str) -> dict[str, Any]:
    """One row of the table of gains."""
    report = propose(Request(named_workloads([name]), top=3))
    chosen = [p for p in report.proposals if p.is_chosen]
    return {
        "workload": name,
        "base": report.base.cycles,
        "cycles": report.selection.score.cycles,
        "area_ge": round(report.selection.area_ge, 1),
        "set": {p.name: p.idea.formula for p in chosen},
    }


def gains_table(rows: list[dict[str, Any]]) -> str:
    """Markdown."""
    lines = [
        "workload | rv32i | proposed: cycles, GE | gain | best instruction",
        "---|---|---|---|---",
    ]
    for row in rows:
        first = next(iter(row["set"].values()), "none").replace("|", "\\|")
        lines.append(
            f"{row['workload']} | {row['base']:,.0f} | {row['cycles']:,.0f}, "
            f"{row['area_ge']:,.0f} | {1 - row['cycles'] / row['base']:.0%} | `{first}`"
        )
    return "\n".join(lines)


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown."""
    lines = [
        "workload | rv32i | ratified: cycles, GE | proposed: cycles, GE | verdict | gap",
        "---|---|---|---|---|---",
    ]
    for row in rows:
        rivals = ", ".join(f"`{name}`" for name in row["rivals"]) or "none"
        gap = f"at most {row['gap']:.1%}" if row["gap"] else "optimal"
        lines.append(
            f"{row['workload']} | {row['base']:,.0f} | {rivals}: {row['rival_cycles']:,.0f}, "
            f"{row['rival_area_ge']:,.0f} | {row['cycles']:,.0f}, {row['area_ge']:,.0f} | "
            f"{verdict(row)} | {gap}"
        )
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Print the rows, then the table."""
    rows: list[dict[str, Any]] = []
    is_gains = arguments[:1] == ["--gains"]
    names = arguments[is_gains:]
    if is_gains:
        pipeline.SHORTLIST = IDEAS
        for name in names or NISANCI:
            rows.append(gain(name))
            print(json.dumps(rows[-1]), flush=True)
        print(gains_table(rows))
        return 0
    for name in names or RIVALS:
        for rivals in RIVALS[name]:
            rows.append(compare(name, rivals))
            print(json.dumps(rows[-1]), flush=True)
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Measure the area and delay rungs on the sample of modules, and publish their errors.

    python benchmarks/area_calibration.py           # what has changed since the data were written
    python benchmarks/area_calibration.py --all     # everything again, about 10 minutes of CPU
    python benchmarks/area_calibration.py zbb add32 # these modules alone, the rest as it is
    python benchmarks/area_calibration.py --report  # the page and the plot from the data alone

Writes benchmarks/data/area.json (every module on every rung, with the versions of the tools),
docs/area-errors.svg and the generated part of docs/models.md. A module is synthesised again when
its Verilog, a recipe or a tool has changed; the fast rungs are always measured again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import resource
import time
from collections.abc import Callable, Collection
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.area_errors import publish
from benchmarks.modules import Module, modules
from hw.area import bitblast, estimate, mapped, synthesised
from hw.cells import MAPPINGS
from hw.fabric import fabric
from hw.graph import Kind
from hw.liberty import liberty_text
from hw.synthesis import forget
from hw.technology import technology
from hw.verilog import verilog

DATA = Path(__file__).parent / "data" / "area.json"
GE, XC7 = technology("ge"), technology("xc7")
T = TypeVar("T")

REPEATS = 3
"""Runs of the fast rungs, of which the shortest counts: the first starts yosys-abc. A machine that
others use too only adds, so the shortest of all refreshes is kept."""


def cpu_ms() -> float:
    """Return the CPU time so far in milliseconds, of this process and its children (Linux)."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    own = 1000 * sum(u.ru_utime + u.ru_stime for u in used)
    living = Path("/proc/self/task").glob("*/children")
    children = [child for file in living for child in file.read_text().split()]
    times = (Path("/proc", child, "schedstat").read_text() for child in children)
    return own + sum(int(time.split()[0]) for time in times) / 1e6


def timed(run: Callable[[], T]) -> tuple[T, float]:
    """Return the result of `run` and its CPU milliseconds."""
    before = cpu_ms()
    return run(), cpu_ms() - before


def timed_best(run: Callable[[], T]) -> tuple[T, float]:
    """Return the result of `run` and the least CPU milliseconds of some runs from scratch."""
    best = math.inf
    for _ in range(REPEATS):
        forget()
        result, used = timed(run)
        best = min(best, used)
    return result, best


def measure(module: Module, text: str, old: dict[str, Any] | None) -> dict[str, Any]:
    """Return one module on every rung; what synthesis says is taken from `old` if that is given."""
    block = module.build()
    graph, blast_ms = timed_best(lambda: bitblast(block))
    fast, fast_ms = timed_best(lambda: estimate(graph, GE))
    exact, exact_ms = timed_best(lambda: mapped(graph, GE))
    through_luts = mapped(graph, XC7)
    known = old or {}
    if "synthesised" not in known:
        full, full_ms = timed(lambda: synthesised(block, GE))
        known["synthesised"] = {
            "area_ge": round(full.area_ge, 2),
            "delay_fo4": round(full.delay_fo4, 2),
            "ffs": full.ffs,
            "cpu_ms": round(full_ms),
        }
    if "xc7" not in known:
        known["xc7"] = asdict(fabric(verilog(block, initial=False).text, "toplevel"))
    return {
        "name": module.name,
        "family": module.family,
        "digest": digest(text),
        "counts": {
            "and": graph.count(Kind.AND),
            "xor": graph.count(Kind.XOR),
            "mux": graph.count(Kind.MUX),
            "ffs": graph.flip_flops,
        },
        "estimate": {
            "area_ge": round(fast.area_ge, 2),
            "delay_fo4": round(fast.delay_fo4, 2),
            "cpu_ms": least(old, "estimate", blast_ms + fast_ms),
        },
        "mapped": {
            "area_ge": round(exact.area_ge, 2),
            "delay_fo4": round(exact.delay_fo4, 2),
            "luts": exact.luts,
            "lut_delay_ps": round(through_luts.delay_fo4 * XC7.fo4_ps),
            "cpu_ms": least(old, "mapped", exact_ms),
        },
        "synthesised": known["synthesised"],
        "xc7": known["xc7"],
    }


def least(old: dict[str, Any] | None, rung: str, cpu_ms: float) -> float:
    """Return the least CPU time of this and earlier refreshes."""
    known = (old or {}).get(rung, {}).get("cpu_ms", math.inf)
    return round(min(known, cpu_ms), 1)


def digest(text: str) -> str:
    """Return a short digest of a module's Verilog."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def conditions() -> dict[str, str]:
    """Return what the synthesised figures depend on besides the modules."""
    tools = {name: version(name) for name in ("pyrtl", "pyosys")}
    return {**tools, "cells": digest("".join((*MAPPINGS, liberty_text())))}


def refresh(everything: bool, only: Collection[str] = ()) -> list[dict[str, Any]]:
    """Return the data of all modules, synthesising those that are new or have changed.

    With `only` the data of all other modules stay as they are.
    """
    now, known, same = conditions(), {}, False
    if DATA.is_file() and not everything:
        data = json.loads(DATA.read_text(encoding="utf-8"))
        known = {m["name"]: m for m in data["modules"]}
        same = data["conditions"] == now
        if any(data["conditions"].get(tool) != now[tool] for tool in ("pyrtl", "pyosys")):
            known = {}
    found: list[dict[str, Any]] = []
    for module in modules():
        old = known.get(module.name)
        if old and only and module.name not in only:
            found.append(old)
            continue
        text = verilog(module.build()).text
        kept: dict[str, Any] | None = None
        if old and old["digest"] == digest(text):
            wanted = ("estimate", "mapped", "xc7", *(("synthesised",) if same else ()))
            kept = {key: old[key] for key in wanted if key in old}
        started = time.perf_counter()
        found.append(measure(module, text, kept))
        if time.perf_counter() - started > 1:
            print(f"{module.name}: {time.perf_counter() - started:.1f} s", flush=True)
    write(found)
    return found


def write(found: list[dict[str, Any]]) -> None:
    """Write the data, one module a line."""
    DATA.parent.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(m, sort_keys=True) for m in found)
    head = json.dumps(conditions(), sort_keys=True)
    DATA.write_text(f'{{"conditions": {head},\n"modules": [\n{lines}\n]}}\n', encoding="utf-8")


def main() -> None:
    """Measure and publish."""
    parser = argparse.ArgumentParser(description="Measure the area rungs and publish the errors.")
    parser.add_argument("--all", action="store_true", help="measure every module again")
    parser.add_argument("modules", nargs="*", help="measure these alone, by name")
    parser.add_argument("--report", action="store_true", help="publish the data as they are")
    options = parser.parse_args()
    if options.report:
        found = json.loads(DATA.read_text(encoding="utf-8"))["modules"]
    else:
        found = refresh(options.all, options.modules)
    print(publish(found, conditions()))


if __name__ == "__main__":
    main()

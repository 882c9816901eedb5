"""A synthetic vocabulary and evaluator: closed-form metrics, no compiler and no hardware."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from dse.backend import Backend
from dse.cache import Cache
from dse.cli import run
from dse.design import Design, Value
from dse.evaluation import Evaluation
from dse.measure.confirmation import Confirmation
from dse.metrics import Quantity
from dse.space import Space

SPACES = Path(__file__).parent / "spaces"
CYCLES = {"table": 1000, "bitsliced": 3000, "zkne": 300, "nluv": 700}
AREA = {"zbkb": 300, "zbkx": 500, "zkne": 1500, "nluv": 9000}
CIRCUITS = {"table": (900, 20), "composite": (300, 35), "boyar_peralta": (250, 30)}


class SyntheticVocabulary:
    def workload_names(self) -> Sequence[str]:
        return ("aes128-encrypt", "aes128-decrypt", "aes128-ctr")

    def kernel_names(self, workload: str) -> Sequence[str]:
        return tuple(CYCLES)

    def kernel_requirements(self, workload: str, kernel: str) -> Sequence[str]:
        return (kernel,) if kernel in ("zkne", "nluv") else ()

    def kernels_changed(self, workload: str, view: str, xlen: int) -> Sequence[str]:
        return ()

    def size_fault(self, workload: str, size_bytes: int) -> str | None:
        if not workload.endswith("-ctr"):
            return f"workload {workload} must have no message size, not {size_bytes}"
        return None if size_bytes % 16 == 0 else f"must be whole blocks, not {size_bytes} bytes"

    def extension_names(self) -> Sequence[str]:
        return ("nluv", "rv32i", "zbkb", "zbkx", "zkne")

    def extension_parameters(self, extension: str) -> Mapping[str, Sequence[int]]:
        return {"banks": (1, 2, 4)} if extension == "nluv" else {}

    def instructions_of(self, extension: str) -> Sequence[str]:
        members = {"zkne": ("aes32esi", "aes32esmi"), "zbkb": ("rol", "ror"), "rv32i": ("add",)}
        return members.get(extension, ())

    def compressed_of(self, extension: str) -> Sequence[str]:
        return ()

    def table_names(self) -> Sequence[str]:
        return ("aes_sbox",)

    def circuit_names(self, table: str) -> Sequence[str]:
        return tuple(CIRCUITS)

    def coprocessor_kernels(self, workload: str) -> Mapping[str, Sequence[str]]:
        return {"coprocessor": ()}

    def coprocessor_parameters(self) -> Mapping[str, Sequence[Value]]:
        return {"width": (64, 32), "bus_latency": tuple(range(1, 65)), "mover": ("cpu", "dma")}

    def technology_names(self) -> Sequence[str]:
        return ("ge",)

    def core_presets(self) -> Sequence[str]:
        return ("default", "icicle")


VOCABULARY = SyntheticVocabulary()


def evaluate(*, space: Space, design: Design, cache: Cache) -> Evaluation:
    """Closed-form metrics; the environment may slow it, kill its process, or make it raise."""
    time.sleep(float(os.environ.get("SYNTHETIC_SECONDS", "0")))
    trap = os.environ.get("SYNTHETIC_KILL")
    if trap and trap in design.text:
        os.kill(os.getpid(), signal.SIGKILL)
    trap = os.environ.get("SYNTHETIC_HANG")
    if trap and trap in design.text:
        time.sleep(3600)
    trap = os.environ.get("SYNTHETIC_RAISE")
    if trap and trap in design.text:
        raise RuntimeError("told to fail")
    count = os.environ.get("SYNTHETIC_COUNT")
    if count:
        with Path(count).open("a") as file:
            file.write(design.digest + "\n")
    kernels = {use.workload: str(design[f"kernel.{use.workload}"]) for use in space.workloads}
    if not set(kernels.values()) <= {"table", "bitsliced"} | space.provided(design):
        return Evaluation(design, feasible=False, reason="kernel needs an absent extension")
    # zbkx is never used, zbkb always, the others by the kernels that bear their names
    unused = [n for n in ("zkne", "nluv") if n not in kernels.values()]
    changes: dict[str, Value] = {n: False for n in ("zbkx", *unused) if design.get(n)}
    canonical = space.reduce(design.replace(changes))
    uses_sbox = canonical.get("zkne") or canonical.get("nluv")
    if not uses_sbox and "units.aes_sbox" in space.by_name:
        neutral = space.by_name["units.aes_sbox"].neutral
        canonical = canonical.replace({"units.aes_sbox": neutral})
    cycles = 0.0
    workloads = {}
    for use in space.workloads:
        own = CYCLES[kernels[use.workload]] * (1 if not canonical.get("zbkb") else 0.9)
        own *= {2: 0.9, 3: 1.0, 5: 1.2}[int(str(canonical["core.pipeline"]))]
        own *= 1.0 if canonical["core.forwarding"] else 1.3
        own *= {"1": 1.0, "2": 0.95, "full": 0.9}[str(canonical["compiler.unroll"])]
        own /= 1 + 0.1 * int(str(canonical.get("nluv.banks", 1)))  # neutral where nluv is out
        cycles += use.weight * own
        workloads[use.workload] = {"kernel": kernels[use.workload], "cycles": own, "leaks": 0}
    sbox_area, sbox_delay = CIRCUITS[str(canonical.get("units.aes_sbox", "table"))]
    extension = sum(area for name, area in AREA.items() if canonical.get(name))
    extension += sbox_area * 4 if uses_sbox else 0
    core = {2: 9000, 3: 10500, 5: 12500}[int(str(canonical["core.pipeline"]))]
    core += 400 if canonical["core.forwarding"] else 0
    period = {2: 60, 3: 45, 5: 30}[int(str(canonical["core.pipeline"]))]
    period = max(period, sbox_delay + 5 if uses_sbox else 0) * space.technology.fo4_ps / 1000
    code = {"1": 400, "2": 700, "full": 3000}[str(canonical["compiler.unroll"])]
    data = 4096 if "table" in kernels.values() else 0
    leaks = 160 if "table" in kernels.values() else 0
    values = {
        "cycles": ("cycles", cycles, None), "time_ns": ("ns", cycles * period, 0.1),
        "area_ge": ("GE", core + extension, 0.05), "extension_area_ge": ("GE", extension, 0.05),
        "code_bytes": ("bytes", code, None), "data_bytes": ("bytes", data, None),
        "leaks": ("", leaks, None),
        "tap_silicon_ge": ("ns GE", cycles * period * (core + extension), 0.15),
        "tap_ise": ("cycles GE", cycles * extension, 0.05),
        "tap_code": ("cycles bytes", cycles * (code + data), None),
    }  # fmt: skip
    metrics = {name: Quantity(v, unit, "exact", e) for name, (unit, v, e) in values.items()}
    return Evaluation(canonical, feasible=True, metrics=metrics, workloads=workloads)


def confirm(*, space: Space, design: Design, cache: Cache) -> Confirmation:
    """Agrees always, but where `SYNTHETIC_DIFFERS` is part of the design's text."""
    trap = os.environ.get("SYNTHETIC_DIFFERS")
    if trap and trap in design.text:
        return Confirmation(False, 101, 100, "aes128-encrypt: 101 cycles on the netlist, not 100")
    return Confirmation(True, 100, 100)


HERE = "tests.dse.synthetic"
BACKEND = Backend(
    f"{HERE}:evaluate", f"{HERE}:confirm", f"{HERE}:VOCABULARY", version="synthetic", segments=""
)

if __name__ == "__main__":
    sys.exit(run(backend=BACKEND))

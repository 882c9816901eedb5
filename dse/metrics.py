"""The metrics: what each is called, its unit, its definition and its direction.

`tap_*` are four different time-area products; figures of different definitions or technologies are
never divided by one another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Quantity:
    """One number with its meaning.

    `rung` says how it was obtained (`exact`, `estimate`, `mapped`, ...); `error` is the stated
    relative error of that rung (0.1 is 10 %), None where the number is exact.
    """

    value: float
    unit: str
    rung: str
    error: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The four keys of `dse evaluate --json`."""
        return {"value": self.value, "unit": self.unit, "rung": self.rung, "error": self.error}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Quantity:
        """The inverse of `to_json`."""
        return cls(data["value"], data["unit"], data["rung"], data["error"])


@dataclass(frozen=True)
class Metric:
    """A metric's name, unit (empty for a count or a ratio), definition and better direction."""

    name: str
    unit: str
    definition: str
    is_minimised: bool = True
    is_relative: bool = False  # to the baseline; known only beside one

    def format(self, value: float) -> str:
        """The value for a table: whole numbers with separators, others to four figures."""
        if value == int(value) and abs(value) < 1e15:
            return f"{int(value):,}"
        return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"


_MINIMISED = {
    "cycles": ("cycles", "return's retirement minus call's retirement, weighted sum"),
    "cycles_per_byte": ("cycles/byte", "cycles over message bytes, weighted sum"),
    "instructions": ("instructions", "retired from entry to return inclusive, weighted sum"),
    "time_ns": ("ns", "cycles x period_ns"),
    "period_ns": ("ns", "max(core path, operand arrival + unit + writeback)"),
    "critical_path_fo4": ("FO4", "longest register-to-register path; with technology ge"),
    "area_ge": ("GE", "core + one extension block of all chosen units, decode and result mux"),
    "core_area_ge": ("GE", "the part of area_ge that is the host core"),
    "extension_area_ge": ("GE", "the part of area_ge that the chosen instructions add"),
    "luts": ("LUT", "look-up tables of a 7-series part, the register file's among them"),
    "core_luts": ("LUT", "the part of luts that is the host core"),
    "extension_luts": ("LUT", "the part of luts that the chosen instructions add"),
    "ffs": ("bits", "flip-flops of the whole design"),
    "core_ffs": ("bits", "flip-flops of the host core"),
    "extension_ffs": ("bits", "flip-flops that the chosen instructions add"),
    "coprocessor_area_ge": ("GE", "the part of area_ge that is the co-processor"),
    "coprocessor_ffs": ("bits", "flip-flops of the co-processor"),
    "coprocessor_luts": ("LUT", "the part of luts that is the co-processor"),
    "coprocessor_brams": ("BRAM", "the part of brams that is the co-processor"),
    "brams": ("BRAM", "block RAMs of 36 Kbit, but for those of instruction and data memory"),
    "core_brams": ("BRAM", "the part of brams that is the host core"),
    "extension_brams": ("BRAM", "the part of brams that the chosen instructions add"),
    "dsps": ("DSP", "DSP slices; on the mapped rung there are none, a multiplier is LUTs"),
    "core_dsps": ("DSP", "the part of dsps that is the host core"),
    "extension_dsps": ("DSP", "the part of dsps that the chosen instructions add"),
    "code_bytes": ("bytes", "program memory of the kernels"),
    "data_bytes": ("bytes", "constants and tables of the kernels"),
    "stack_bytes": ("bytes", "deepest stack of the kernels"),
    "state_bits": ("bits", "architectural state the extensions add to a context"),
    "state_lost_bits": ("bits", "the part that no instruction can save and put back"),
    "switch_cycles": ("cycles", "saving the rest to memory, and putting it back"),
    "reload_cycles": ("cycles", "loading anew what of the lost part can be loaded"),
    "leaks": ("", "secret-dependent branches, addresses, variable latencies executed"),
    "tap_silicon_ge": ("ns GE", "time_ns x area_ge, with technology ge"),
    "tap_silicon_luts": ("ns LUT", "time_ns x luts, with technology xc7"),
    "tap_ise": ("cycles GE", "cycles x extension_area_ge (TCHES 2021)"),
    "tap_code": ("cycles bytes", "cycles x (code_bytes + data_bytes) (NLU-V 2024)"),
    "switched": (
        "caps",
        "capacitance switched a block, in inputs of a unit inverter; its error is assumed",
    ),
    "energy_rel": (
        "",
        "switched over that of the baseline; no glitches, wires, leakage, memories; error assumed",
    ),
}
ON_REQUEST = frozenset({"switched", "energy_rel"})
"""Metrics that take a run on the netlist; measured where an objective or a constraint asks."""
HARDWARE = frozenset({"period_ns", "critical_path_fo4", "state_bits"}) | frozenset(
    f"{part}{amount}"
    for part in ("", "core_", "extension_", "coprocessor_")
    for amount in ("area_ge", "luts", "ffs", "brams", "dsps")
)
"""Metrics of the hardware alone: no choice of a kernel or of the compiler changes them."""
_RELATIVE = frozenset({"energy_rel"})
_MAXIMISED = {
    "gain": ("", "1 - time_ns / time_ns of the baseline"),
    "geomean_speedup": ("", "geometric mean over the workloads of baseline cycles / cycles"),
}
_SHARES = {
    "bus_utilisation": "cycles with data on the bus or port over those from start to last output",
    "unit_utilisation": "cycles in which an engine works over those from start to last output",
}
METRICS: dict[str, Metric] = (
    {
        name: Metric(name, unit, definition, is_relative=name in _RELATIVE)
        for name, (unit, definition) in _MINIMISED.items()
    }
    | {name: Metric(name, "", text, is_minimised=False) for name, text in _SHARES.items()}
    | {
        name: Metric(name, unit, definition, is_minimised=False, is_relative=True)
        for name, (unit, definition) in _MAXIMISED.items()
    }
)

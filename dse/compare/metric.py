"""The metrics a ledger may hold, the units of each and what it depends on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LedgerMetric:
    """A quantity that papers publish.

    Attributes:
        name: As in the ledger; where `dse.metrics` has the same quantity, its name.
        units: The accepted units of an absolute figure.
        definition: What it is.
        is_of_hardware: It belongs to a technology, which an absolute figure must name.
        is_of_core: It belongs to a host core; absolute figures of different cores do not compare.
        is_of_program: It belongs to a program, whose key schedule is in or out.
        is_of_run: It belongs to one run of a program, so it is per block or per something else.
    """

    name: str
    units: tuple[str, ...]
    definition: str
    is_of_hardware: bool = False
    is_of_core: bool = False
    is_of_program: bool = False
    is_of_run: bool = False


def _run(
    name: str, unit: str, definition: str, *others: str, is_of_core: bool = True
) -> LedgerMetric:
    return LedgerMetric(name, (unit, *others), definition, False, is_of_core, True, True)


def _size(name: str, unit: str, definition: str) -> LedgerMetric:
    return LedgerMetric(name, (unit,), definition, is_of_program=True)


_SOFTWARE = (
    _run("cycles", "cycles", "clock cycles"),
    _run("instructions", "instructions", "instructions retired", is_of_core=False),
    _run("cpi", "cycles/instruction", "cycles / instructions retired"),
    _run("cycles_per_byte", "cycles/byte", "cycles / message bytes"),
    _run("throughput", "kB/s", "message bytes / time", "Mbit/s"),
    _size("code_bytes", "bytes", "program memory of the code"),
    _size("data_bytes", "bytes", "constants and tables"),
    _size("program_bytes", "bytes", "code, constants and tables"),
    _size("image_bytes", "bytes", "whole program image, start-up code included"),
    _size("code_lines", "lines", "lines of assembly source without comments"),
    _size("static_instructions", "instructions", "machine instructions of the code"),
)
_HARDWARE = (
    LedgerMetric("area", ("GE", "um2", "gates", "transistors"), "silicon area", True),
    LedgerMetric("luts", ("LUT",), "look-up tables", True),
    LedgerMetric("ffs", ("FF",), "flip-flops", True),
    LedgerMetric("brams", ("BRAM",), "block memories", True),
    LedgerMetric("slices", ("slice",), "FPGA slices", True),
    LedgerMetric("muxes", ("MUX",), "wide-multiplexer primitives", True),
    LedgerMetric("depth", ("levels", "gate delays"), "longest path through the logic", True),
    LedgerMetric("slack", ("ns",), "timing slack", True, True),
    LedgerMetric("frequency", ("MHz",), "clock frequency", True, True),
    LedgerMetric("power", ("W",), "power drawn", True, True),
    LedgerMetric("energy_efficiency", ("Mbit/s/W",), "throughput / power", True, True),
)
_PRODUCTS = (
    _run("tap_code", "cycles bytes", "cycles x (code + table bytes)"),
    LedgerMetric("tap_ise", ("cycles GE",), "cycles x extension area", True, True, True, True),
    LedgerMetric("tap_silicon_ge", ("ns GE",), "time x whole area in GE", True, True, True, True),
    LedgerMetric(
        "tap_silicon_luts",
        ("cycles LUT",),
        "cycles x LUTs of core and units",
        True,
        True,
        True,
        True,
    ),
)
_OTHER = (
    LedgerMetric(
        "latency", ("cycles",), "cycles of the step that the scope names", is_of_core=True
    ),
    LedgerMetric("pipeline_stages", ("stages",), "stages of one unit"),
    LedgerMetric("words", ("words",), "capacity or transfer length that the scope names"),
    LedgerMetric("count", ("1",), "number of what the scope names"),
)

LEDGER_METRICS: dict[str, LedgerMetric] = {
    metric.name: metric for metric in (*_SOFTWARE, *_HARDWARE, *_PRODUCTS, *_OTHER)
}

FORM_UNITS = {
    "ratio": "ratio",  # this / baseline
    "factor": "x",  # baseline / this: a speed-up, a reduction
    "gain": "%",  # 100 x (1 - this / baseline)
    "increase": "%",  # 100 x (this / baseline - 1)
}
"""The ways to print a figure relative to a baseline, and the unit each must have."""

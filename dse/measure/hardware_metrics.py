"""Metrics of a design's hardware: area, flip-flops, LUTs, clock, and products with time."""

from __future__ import annotations

from dse.metrics import METRICS, Quantity
from hw.composition import Hardware
from hw.hosted import Hosted
from hw.technology import Technology

__all__ = ["hardware_metrics"]


def hardware_metrics(
    hardware: Hardware, beside: Hosted | None, technology: Technology, cycles: float
) -> dict[str, Quantity]:
    """Return what a design costs, and its products with the time of `cycles`.

    Gates and LUTs are two targets and never converted: both are given, but the clock and what it
    is a factor of are those of the technology. On the mapped rung a multiplier is LUTs.

    Args:
        hardware: Core and extension.
        beside: The same with a co-processor, if there is one.
        technology: What the clock is of.
        cycles: Of the programs.
    """
    found: dict[str, Quantity] = {}

    def put(name: str, value: float | None, rung: str, error: float | None = None) -> None:
        if value is not None:
            found[name] = Quantity(value, METRICS[name].unit, rung, error)

    rung, area_error, delay_error = hardware.rung, hardware.area_error, hardware.delay_error
    whole: Hardware | Hosted = beside or hardware
    put("area_ge", whole.area_ge, rung, whole.area_error)
    put("core_area_ge", hardware.core_area_ge, rung, area_error)
    put("extension_area_ge", hardware.extension_area_ge, rung, area_error)
    put("luts", whole.luts, rung, hardware.luts_error)
    put("core_luts", hardware.core_luts, rung, hardware.luts_error)
    put("extension_luts", hardware.extension_luts, rung, hardware.luts_error)
    put("ffs", whole.ffs, "exact")
    put("core_ffs", hardware.core_ffs, "exact")
    put("extension_ffs", hardware.extension_ffs, "exact")
    put("brams", beside.coprocessor.brams if beside else 0, "exact")
    put("core_brams", 0, "exact")
    put("extension_brams", 0, "exact")
    for name in ("dsps", "core_dsps", "extension_dsps"):
        put(name, 0, rung)
    time_ns = cycles * whole.period_ns
    put("period_ns", whole.period_ns, rung, delay_error)
    put("time_ns", time_ns, rung, delay_error)
    put("tap_ise", cycles * hardware.extension_area_ge, rung, area_error)
    if technology.has_luts:
        error = (hardware.luts_error or 0.0) + delay_error
        put("tap_silicon_luts", whole.luts and time_ns * whole.luts, rung, error)
    else:
        put("critical_path_fo4", whole.period_fo4, rung, delay_error)
        put("tap_silicon_ge", time_ns * whole.area_ge, rung, whole.area_error + delay_error)
    if beside:
        cost = beside.coprocessor
        put("coprocessor_area_ge", cost.area_ge, cost.rung, cost.area_error)
        put("coprocessor_luts", cost.luts, cost.rung, cost.luts_error)
        put("coprocessor_ffs", cost.ffs, "exact")
        put("coprocessor_brams", cost.brams, "exact")
    return found

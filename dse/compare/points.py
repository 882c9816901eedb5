"""Published points on the axes of a Pareto plot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dse.compare.ledger import Entry, Ledger, find_paper, load_ledger, paper_names

_AXES: dict[str, tuple[tuple[str, str, str], ...]] = {
    # metric of a run: the ledger's (metric, scope, unit) that may stand on its axis
    "cycles": (("cycles", "", "cycles"),),
    "time_ns": (("cycles", "", "cycles"),),  # through the period handed in
    "instructions": (("instructions", "", "instructions"),),
    "code_bytes": (("code_bytes", "", "bytes"),),
    "data_bytes": (("data_bytes", "", "bytes"),),
    "tap_code": (("tap_code", "", "cycles bytes"),),
    "area_ge": (("area", "whole", "GE"),),
    "extension_area_ge": (("area", "extension", "GE"),),
    "luts": (("luts", "whole", "LUT"),),
    "extension_luts": (("luts", "extension", "LUT"),),
    "ffs": (("ffs", "whole", "FF"),),
    "extension_ffs": (("ffs", "extension", "FF"),),
}
_HARDWARE_UNITS = {"ge": "GE", "xc7": "LUT"}


@dataclass(frozen=True)
class PublishedPoint:
    """A published design on two or three axes; never on our technology or host core.

    `values` are in the order of the metrics asked for. `label` is short enough for a plot;
    `note` says what was assumed to put it there.
    """

    paper: str
    label: str
    values: tuple[float, ...]
    technology: str
    core: str
    source: str
    note: str = ""


def published_points(
    technology: str,
    metrics: Sequence[str],
    *,
    algorithm: str = "aes128-encrypt",
    period_ns: float | None = None,
    ledgers: Iterable[Ledger] | None = None,
) -> list[PublishedPoint]:
    """Published designs that have a value for every one of `metrics`.

    Only printed figures and artefacts are points, never our re-measurements.

    Args:
        technology: `ge` or `xc7`: the unit that area must be in.
        metrics: Names of `dse.metrics`, one an axis.
        algorithm: The ledger's name for what was run.
        period_ns: Clock period that turns published cycles into `time_ns`; without it nothing
            published has a time, for the papers here print cycles.
        ledgers: By default all that are bundled.
    """
    if any(metric not in _AXES for metric in metrics) or technology not in _HARDWARE_UNITS:
        return []
    if "time_ns" in metrics and period_ns is None:
        return []
    if ledgers is None:
        ledgers = [load_ledger(find_paper(name)) for name in paper_names()]
    points: list[PublishedPoint] = []
    for ledger in ledgers:
        groups: dict[tuple[str, str], list[Entry]] = {}
        for entry in ledger.file.entries:
            is_theirs = ledger.kind(entry) != "remeasured" and entry.form == "absolute"
            if is_theirs and entry.algorithm == algorithm:
                groups.setdefault((entry.configuration, entry.core), []).append(entry)
        for (configuration, core), entries in groups.items():
            chosen = [_value(entries, metric, technology) for metric in metrics]
            found = [entry for entry in chosen if entry is not None]
            if len(found) < len(metrics) or not any(entry.technology for entry in found):
                continue
            values = tuple(
                float(entry.value) * (period_ns or 1) if metric == "time_ns" else float(entry.value)
                for entry, metric in zip(found, metrics, strict=True)
            )
            note = ""
            if "time_ns" in metrics:
                note = f"published cycles at a period of {period_ns:g} ns, not a published time"
            points.append(
                PublishedPoint(
                    ledger.paper, configuration, values,
                    next(entry.technology for entry in found if entry.technology), core,
                    "; ".join(dict.fromkeys(ledger.cite(entry) for entry in found)), note,
                )
            )  # fmt: skip
    return points


def _value(entries: Sequence[Entry], metric: str, technology: str) -> Entry | None:
    for name, scope, unit in _AXES[metric]:
        if name in ("area", "luts") and unit != _HARDWARE_UNITS[technology]:
            continue
        for entry in entries:
            if (entry.metric, entry.scope, entry.unit) == (name, scope, unit):
                return entry
    return None

"""Published points on the axes of a Pareto plot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dse.compare.ledger import Entry, Ledger, find_paper, load_ledger, paper_names

_AXES: dict[str, tuple[str, str]] = {
    # metric of a run: the ledger's metric and scope that may stand on its axis
    "cycles": ("cycles", ""),
    "time_ns": ("cycles", ""),  # through the period handed in
    "cycles_per_byte": ("cycles_per_byte", ""),
    "instructions": ("instructions", ""),
    "code_bytes": ("code_bytes", ""),
    "data_bytes": ("data_bytes", ""),
    "tap_code": ("tap_code", ""),
    "area_ge": ("area", "whole"),
    "core_area_ge": ("area", "core"),
    "extension_area_ge": ("area", "extension"),
    "luts": ("luts", "whole"),
    "extension_luts": ("luts", "extension"),
    "ffs": ("ffs", "whole"),
    "extension_ffs": ("ffs", "extension"),
}
_AREA_UNITS = {"ge": "GE", "xc7": "LUT"}


@dataclass(frozen=True)
class PublishedPoint:
    """A published design on the axes of a plot; its host core and technology are its own.

    Attributes:
        paper: Short name of the paper.
        label: Paper and configuration, short enough for a plot.
        values: By metric, all that were asked for.
        technology: What priced the hardware; not the run's.
        core: Host core.
        source: Where each value was read.
        note: What was assumed to put it there, else empty.
    """

    paper: str
    label: str
    values: Mapping[str, float]
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
    """Published designs that have a value for every one of `metrics`, hardware among them.

    Printed figures and artefacts become points, our re-measurements never.

    Args:
        technology: `ge` or `xc7`: the unit that area must be in.
        metrics: Names of `dse.metrics`, one an axis.
        algorithm: The ledger's name for what was run; round keys given where it is a cipher.
        period_ns: Clock period that turns published cycles into `time_ns`; without it nothing has
            a time, for papers print cycles.
        ledgers: By default all that are bundled.
    """
    if any(metric not in _AXES for metric in metrics) or technology not in _AREA_UNITS:
        return []
    if "time_ns" in metrics and period_ns is None:
        return []
    if ledgers is None:
        ledgers = [load_ledger(find_paper(name)) for name in paper_names()]
    points = []
    for ledger in ledgers:
        for configuration, core, entries in _designs(ledger, algorithm):
            found = [_entry(entries, metric, _AREA_UNITS[technology]) for metric in metrics]
            chosen = [entry for entry in found if entry is not None]
            hardware = [entry.technology for entry in chosen if entry.technology]
            if len(chosen) < len(metrics) or not hardware:
                continue
            values = {
                metric: float(entry.value) * ((period_ns or 1.0) if metric == "time_ns" else 1.0)
                for metric, entry in zip(metrics, chosen, strict=True)
            }
            note = ""
            if "time_ns" in metrics:
                note = f"published cycles at a period of {period_ns:g} ns, not a published time"
            source = "; ".join(dict.fromkeys(ledger.cite(entry) for entry in chosen))
            label = f"{ledger.paper} {configuration}"
            point = PublishedPoint(ledger.paper, label, values, hardware[0], core, source, note)
            points.append(point)
    return points


def _designs(ledger: Ledger, algorithm: str) -> Iterator[tuple[str, str, list[Entry]]]:
    """Configuration, host core and entries; entries that name no core belong to every one."""
    groups: dict[str, list[Entry]] = {}
    for entry in ledger.file.entries:
        is_theirs = ledger.kind(entry) != "remeasured" and entry.form == "absolute"
        if is_theirs and entry.algorithm == algorithm and entry.key_schedule != "included":
            groups.setdefault(entry.configuration, []).append(entry)
    for configuration, entries in groups.items():
        cores = list(dict.fromkeys(entry.core for entry in entries if entry.core)) or [""]
        for core in cores:
            yield configuration, core, [e for e in entries if e.core in (core, "")]


def _entry(entries: Sequence[Entry], metric: str, area_unit: str) -> Entry | None:
    name, scope = _AXES[metric]
    for entry in entries:
        if (entry.metric, entry.scope) != (name, scope):
            continue
        if name in ("area", "luts") and entry.unit != area_unit:
            continue
        return entry
    return None

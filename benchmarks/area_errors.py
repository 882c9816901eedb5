"""How far the area and delay rungs are from full synthesis, by the data of the calibration."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.modules import FAMILIES

DOCS = Path(__file__).parent.parent / "docs"
BEGIN, END = "<!-- area errors: generated -->", "<!-- end of area errors -->"

FLIP_FLOP_GE = 5.67
FEATURES = ("and", "xor", "mux")

Record = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """One figure of one rung against synthesis.

    `predict` fits what is to be fitted on the first list and predicts the second; `actual` is what
    synthesis says of a module, None where it says nothing comparable.
    """

    name: str
    predict: Callable[[Sequence[Record], Sequence[Record]], list[float]]
    actual: Callable[[Record], float | None]


def fit_weights(records: Sequence[Record]) -> dict[str, float]:
    """Return GE for each feature: least squares of the relative error of the synthesised area."""
    counts = np.array([[r["counts"][f] for f in FEATURES] for r in records], dtype=float)
    area = np.array([r["synthesised"]["area_ge"] for r in records])
    logic = area - FLIP_FLOP_GE * np.array([r["counts"]["ffs"] for r in records])
    found, *_ = np.linalg.lstsq(counts / area[:, None], logic / area, rcond=None)
    return dict(zip(FEATURES, map(float, found), strict=True))


def _weighted(records: Sequence[Record], weights: dict[str, float]) -> list[float]:
    return [
        sum(weights[f] * r["counts"][f] for f in FEATURES) + FLIP_FLOP_GE * r["counts"]["ffs"]
        for r in records
    ]


def _own(rung: str, key: str) -> Callable[..., list[float]]:
    """Return what the rung itself says; nothing is fitted."""
    return lambda known, asked: [r[rung][key] for r in asked]


def _luts(record: Record, carries: bool) -> float | None:
    """Return the LUTs of a module that has carry chains or has none, and no DSP or memory."""
    part = record["xc7"]
    if part["dsps"] or part["memory_luts"] or part["brams"] or bool(part["carries"]) != carries:
        return None
    return float(part["luts"])


def _synthesised(key: str) -> Callable[[Record], float]:
    return lambda record: float(record["synthesised"][key])


FIGURES = (
    Figure(
        "estimate: area",
        lambda known, asked: _weighted(asked, fit_weights(known)),
        _synthesised("area_ge"),
    ),
    Figure("mapped: area", _own("mapped", "area_ge"), _synthesised("area_ge")),
    Figure("estimate: delay", _own("estimate", "delay_fo4"), _synthesised("delay_fo4")),
    Figure("mapped: delay", _own("mapped", "delay_fo4"), _synthesised("delay_fo4")),
    Figure("mapped: LUTs", _own("mapped", "luts"), lambda r: _luts(r, carries=False)),
    Figure("mapped: LUTs, with adders", _own("mapped", "luts"), lambda r: _luts(r, carries=True)),
    Figure(
        "mapped: delay of LUTs",
        _own("mapped", "lut_delay_ps"),
        lambda r: None if r["xc7"]["dsps"] else float(r["xc7"]["delay_ps"]),
    ),
)


def errors(figure: Figure, records: Sequence[Record]) -> dict[str, float]:
    """Return the relative error of each module, fitted with its family left out."""
    found = {}
    for family in FAMILIES:
        known = [r for r in records if r["family"] != family]
        asked = [r for r in records if r["family"] == family]
        for record, predicted in zip(asked, figure.predict(known, asked), strict=True):
            actual = figure.actual(record)
            if actual:
                found[record["name"]] = predicted / actual - 1
    return found


def quantiles(values: Iterable[float]) -> tuple[float, float, float]:
    """Return median, 90th percentile and maximum of the absolute values."""
    sizes = sorted(map(abs, values))
    return (
        statistics.median(sizes),
        float(np.quantile(sizes, 0.9)),
        sizes[-1],
    )


def rank_correlation(figure: Figure, records: Sequence[Record]) -> float:
    """Return Spearman's coefficient between the rung's figure and that of synthesis."""
    compared = [r for r in records if figure.actual(r)]
    predicted = figure.predict(records, compared)
    return float(np.corrcoef(_ranks(predicted), _ranks(map(figure.actual, compared)))[0, 1])


def _ranks(values: Iterable[Any]) -> list[float]:
    """Return ranks, equal values sharing their mean rank."""
    listed = list(values)
    ordered = sorted(listed)
    return [ordered.index(v) + (ordered.count(v) - 1) / 2 for v in listed]


def table(records: Sequence[Record]) -> str:
    """Return the errors as Markdown."""
    lines = [
        "| figure | family | modules | median | 90th percentile | maximum | worst module | rank |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for figure in FIGURES:
        found = errors(figure, records)
        for family in ("all", *FAMILIES):
            chosen = [r for r in records if family in ("all", r["family"]) and r["name"] in found]
            if len(chosen) < 2:
                continue
            own = {r["name"]: found[r["name"]] for r in chosen}
            cells = [f"{100 * q:.1f} %" for q in quantiles(own.values())]
            worst = max(own, key=lambda name: abs(own[name]))
            rank = rank_correlation(figure, chosen)
            name = f"**{figure.name}**" if family == "all" else ""
            lines.append(
                f"| {name} | {family} | {len(chosen)} | {' | '.join(cells)} | "
                f"{worst} {100 * own[worst]:+.0f} % | {rank:.3f} |"
            )
    return "\n".join(lines)


def sample(records: Sequence[Record]) -> str:
    """Return every module on every rung as Markdown."""
    lines = [
        "| module | estimate GE / FO4 | mapped GE / FO4 / LUT | synthesised GE / FO4 | "
        "xc7 LUT + MUXF, CARRY4, DSP, FF |",
        "|---|---|---|---|---|",
    ]
    for r in records:
        fast, exact, full, part = r["estimate"], r["mapped"], r["synthesised"], r["xc7"]
        extra = "".join(
            f" + {part[key]} {unit}"
            for key, unit in (
                ("wide_muxes", "MUXF"),
                ("carries", "CARRY4"),
                ("dsps", "DSP"),
                ("ffs", "FF"),
                ("memory_luts", "memory LUT"),
            )
            if part[key]
        )
        lines.append(
            f"| {r['name']} | {fast['area_ge']:.0f} / {fast['delay_fo4']:.1f} | "
            f"{exact['area_ge']:.0f} / {exact['delay_fo4']:.1f} / {exact['luts']} | "
            f"{full['area_ge']:.0f} / {full['delay_fo4']:.1f} | {part['luts']}{extra} |"
        )
    return "\n".join(lines)


def weights_line(records: Sequence[Record]) -> str:
    """Return the fitted weights and how far they move when a family is left out."""
    whole = fit_weights(records)
    parts = [fit_weights([r for r in records if r["family"] != f]) for f in FAMILIES]
    shown = []
    for feature in FEATURES:
        low, high = min(p[feature] for p in parts), max(p[feature] for p in parts)
        shown.append(f"{feature} {whole[feature]:.2f} ({low:.2f} to {high:.2f})")
    return ", ".join(shown)


def generated(records: Sequence[Record], conditions: Mapping[str, str]) -> str:
    """Return the generated part of docs/models.md."""

    def median_ms(rung: str) -> float:
        return statistics.median(r[rung]["cpu_ms"] for r in records)

    head = (
        f"{len(records)} modules; pyrtl {conditions['pyrtl']}, pyosys {conditions['pyosys']}. "
        f"Median CPU time a module: estimate with bit-blasting {median_ms('estimate'):.1f} ms, "
        f"mapped {median_ms('mapped'):.0f} ms, synthesised {median_ms('synthesised'):.0f} ms. "
        f"Weights in GE, and their range when a family is left out: {weights_line(records)}."
    )
    plotted = "![Errors of area and delay by size of the module](area-errors.svg)"
    return "\n\n".join((BEGIN, head, table(records), plotted, sample(records), END))


def publish(records: Sequence[Record], conditions: Mapping[str, str]) -> str:
    """Write the plot and the generated part of docs/models.md; return the table of errors."""
    page = DOCS / "models.md"
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(before + generated(records, conditions) + after, encoding="utf-8")
    plot(records, DOCS / "area-errors.svg")
    return table(records)


def plot(records: Sequence[Record], path: Path) -> None:
    """Draw the errors of both fast rungs over the size of the module."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Sheet

    mpl.rcParams["svg.hashsalt"] = "dse"
    sheet = Sheet(figsize=(9, 6), layout="constrained")
    axes = sheet.subplots(2, 2, sharex=True, sharey="row")
    area = {r["name"]: r["synthesised"]["area_ge"] for r in records}
    for figure, axis in zip(FIGURES[:4], axes.flat, strict=True):
        found = errors(figure, records)
        for i, family in enumerate(FAMILIES):
            names = [r["name"] for r in records if r["family"] == family and r["name"] in found]
            axis.plot(
                [area[n] for n in names],
                [100 * found[n] for n in names],
                "osD^vP"[i],
                color=f"C{i}",
                label=family,
                markersize=4,
            )
        axis.set(xscale="log", title=figure.name)
        axis.axhline(0, color="0.6", linewidth=0.8)
    for axis in axes[:, 0]:
        axis.set_ylabel("error, %")
    for axis in axes[1]:
        axis.set_xlabel("synthesised area, GE")
    axes[0, 0].legend(fontsize=7)
    sheet.savefig(path, metadata={"Date": None})

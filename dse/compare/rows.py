"""Rows of a comparison: published, ours, ratio and a verdict with its reason."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from dse.compare.definition import Figure, UnlikeFiguresError, ratio, unlike
from dse.compare.ledger import Entry, Ledger, Reproduction
from dse.compare.reproduce import Reproduced, relative

_BOUNDS = {"max": "published is the most of several", "min": "published is the least of several"}
AGREES, DIFFERS, NOT_COMPARABLE = "agrees", "differs", "not comparable"
TAP_TOLERANCE = 0.15
TOLERANCE = 0.25
KINDS = ("printed", "artefact", "remeasured")


@dataclass(frozen=True)
class Row:
    """One published figure beside ours.

    `published` is the ledger's figure, or a ratio of two; `kind` says whether it was `printed`,
    read from an `artefact` or `remeasured` on one, and is empty where there is none. `scope` names
    the part of program or hardware.
    `ratio` is ours over published, and empty unless the two have one definition.
    """

    paper: str
    configuration: str
    metric: str
    definition: str
    unit: str
    published: float | None
    ours: float | None
    ratio: float | None
    verdict: str
    reason: str
    source: str
    kind: str = ""
    scope: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain data, one key an attribute."""
        return asdict(self)


@dataclass(frozen=True)
class Summary:
    """How one paper stands: rows that could be compared, the share that agrees, the ratios.

    `worst` is the ratio furthest from 1, by factor. The last three are None without such rows.
    """

    paper: str
    rows: int
    compared: int
    agreeing_share: float | None
    median: float | None
    worst: float | None


def tolerance(metric: str) -> float:
    """How far a ratio may be from 1 and still agree: 15 % for time-area products, else 25 %."""
    return TAP_TOLERANCE if metric.startswith("tap_") else TOLERANCE


def compare(ledger: Ledger, reproduced: Mapping[str, Reproduced]) -> list[Row]:
    """Every row of a paper, in the order of its reproductions and entries."""
    rows: list[Row] = []
    for reproduction in ledger.file.reproductions:
        ours = reproduced[reproduction.id]
        entries = _entries(ledger, reproduction)
        rows += _absolute_rows(ledger, ours, [e for e in entries if e.form == "absolute"])
        baselines = [reproduced[name] for name in reproduction.baselines]
        printed = [e for e in entries if e.form != "absolute"]
        rows += _printed_ratio_rows(ledger, ours, baselines, printed)
        rows += _derived_ratio_rows(ledger, ours, baselines)
    return rows


def summarise(paper: str, rows: list[Row]) -> Summary:
    """The summary row of a paper."""
    ratios = [row.ratio for row in rows if row.ratio is not None and row.ratio > 0]
    compared = [row for row in rows if row.verdict != NOT_COMPARABLE]
    agreeing = sum(row.verdict == AGREES for row in compared)
    return Summary(
        paper,
        len(rows),
        len(compared),
        agreeing / len(compared) if compared else None,
        statistics.median(ratios) if ratios else None,
        max(ratios, key=lambda r: abs(math.log(r))) if ratios else None,
    )


def is_of(entry: Entry, reproduction: Reproduction) -> bool:
    """Whether an entry is of the configuration that a design of ours stands for."""
    algorithm = reproduction.published_as or reproduction.algorithm
    if reproduction.only and entry.metric not in reproduction.only:
        return False
    return (entry.algorithm, entry.configuration) == (algorithm, reproduction.configuration)


def _entries(ledger: Ledger, reproduction: Reproduction) -> list[Entry]:
    """The entries of a configuration; of figures published for many sizes, those of its size."""
    entries = [e for e in ledger.file.entries if is_of(e, reproduction)]
    sized = {_quantity(e) for e in entries if e.per == reproduction.per}
    return [e for e in entries if e.per == reproduction.per or _quantity(e) not in sized]


def _quantity(entry: Entry) -> tuple[str, ...]:
    return (entry.metric, entry.scope, entry.form, entry.relative_to)


def _absolute_rows(ledger: Ledger, ours: Reproduced, entries: list[Entry]) -> Iterator[Row]:
    reasons = ours.reproduction.reasons
    for entry in entries:
        mine = ours.figure(entry.metric, entry.scope)
        row = _row(ledger, ours, entry.metric, entry.figure(), mine, reasons)
        row = _bounded(entry, row, ours)
        yield replace(row, source=ledger.cite(entry), kind=ledger.kind(entry))
    published = {(entry.metric, entry.scope) for entry in entries}
    for shown in ours.reproduction.figures:
        metric, _, scope = shown.partition("/")
        if (metric, scope) not in published:
            yield _row(ledger, ours, metric, None, ours.figure(metric, scope), reasons)


def _printed_ratio_rows(
    ledger: Ledger, ours: Reproduced, baselines: list[Reproduced], entries: list[Entry]
) -> Iterator[Row]:
    by_configuration = {b.reproduction.configuration: b for b in baselines}
    for entry in entries:
        published = entry.figure()
        baseline = by_configuration.get(entry.relative_to)
        mine = _relative(ours, baseline, entry.metric, entry.scope, published.definition.form)
        row = _row(ledger, ours, entry.metric, published, mine, ours.reproduction.ratio_reasons)
        row = _bounded(entry, row, ours)
        cited = ledger.cite(entry)
        if entry.form in ("gain", "increase"):
            cited += f"; stands there as {entry.form} of {entry.value:g} %"
        label = f"{row.configuration} over {entry.relative_to}"
        yield replace(row, source=cited, kind=ledger.kind(entry), configuration=label)


def _derived_ratio_rows(
    ledger: Ledger, ours: Reproduced, baselines: list[Reproduced]
) -> Iterator[Row]:
    reproduction = ours.reproduction
    for baseline in baselines:
        against = baseline.reproduction.configuration
        for shown in reproduction.ratios:
            metric, _, scope = shown.partition("/")
            mine = _relative(ours, baseline, metric, scope, "ratio")
            reasons = reproduction.ratio_reasons
            label = f"{reproduction.algorithm} {reproduction.configuration} over {against}"
            pairs = list(_pairs(ledger, reproduction, baseline.reproduction, (metric, scope)))
            for this, other in pairs:
                published = relative(this.figure(), other.figure(), "ratio", against)
                row = _row(ledger, ours, metric, published, mine, reasons)
                cited = dict.fromkeys((ledger.cite(this), ledger.cite(other)))
                source = f"ratio of absolute figures, {'; '.join(cited)}"
                kind = max(ledger.kind(this), ledger.kind(other), key=KINDS.index)
                yield replace(row, configuration=label, source=source, kind=kind)
            if not pairs:
                row = _row(ledger, ours, metric, None, mine, reasons)
                yield replace(row, configuration=label)


def _pairs(
    ledger: Ledger, this: Reproduction, baseline: Reproduction, shown: tuple[str, str]
) -> Iterator[tuple[Entry, Entry]]:
    """Absolute entries of both configurations in one table that share one definition."""

    def absolute(reproduction: Reproduction) -> list[Entry]:
        entries = _entries(ledger, reproduction)
        return [e for e in entries if e.form == "absolute" and (e.metric, e.scope) == shown]

    for mine in absolute(this):
        for other in absolute(baseline):
            apart = unlike(mine.figure().definition, other.figure().definition)
            if mine.table == other.table and other.value and not apart:
                yield mine, other


def _relative(
    ours: Reproduced, baseline: Reproduced | None, metric: str, scope: str, form: str
) -> Figure | str:
    """Our relative figure, or why there is none."""
    if baseline is None:
        return "no design of ours stands for the baseline"
    this, other = ours.figure(metric, scope), baseline.figure(metric, scope)
    if this is None or other is None:
        return _absent(ours if this is None else baseline, metric)
    try:
        return relative(this, other, form, baseline.reproduction.configuration)
    except (UnlikeFiguresError, ZeroDivisionError) as error:
        return str(error)


def _row(
    ledger: Ledger,
    ours: Reproduced,
    metric: str,
    published: Figure | None,
    mine: Figure | str | None,
    reasons: Mapping[str, str],
) -> Row:
    reproduction = ours.reproduction
    note = reproduction.note
    reason = _joined(reasons.get(metric, ""), note)
    label = f"{reproduction.algorithm} {reproduction.configuration}"
    figure = mine if isinstance(mine, Figure) else None
    shown = published or figure
    row = Row(
        ledger.paper, label, metric,
        str(shown.definition) if shown else "", shown.definition.unit if shown else "",
        published.value if published else None, figure.value if figure else None,
        None, NOT_COMPARABLE, reason, "our model" if published is None else "",
        scope=shown.definition.scope if shown else "",
    )  # fmt: skip
    if figure is None:
        absent = mine if isinstance(mine, str) else _absent(ours, metric)
        return replace(row, reason=_joined(absent, reason))
    if published is None:
        return replace(row, reason=_joined("no published figure", reason))
    apart = unlike(figure.definition, published.definition)
    if apart:
        units = (published.definition.unit, figure.definition.unit)
        unit = units[0] if units[0] == units[1] else f"{units[0]}; ours {units[1]}"
        return replace(row, unit=unit, reason=_joined(apart, reason))
    try:
        value = ratio(figure, published)
    except ZeroDivisionError as error:
        return replace(row, verdict=DIFFERS, reason=_joined(str(error), reason))
    limit = tolerance(metric)
    if abs(value - 1) <= limit:
        return replace(row, ratio=value, verdict=AGREES, reason=note)
    cause = "" if reasons.get(metric) else f"outside {limit:.0%}, and no cause is written down"
    return replace(row, ratio=value, verdict=DIFFERS, reason=_joined(cause, reason))


def _bounded(entry: Entry, row: Row, ours: Reproduced) -> Row:
    """The row of a figure "up to" or "from": it is no figure of one design, so nothing compares."""
    bound = _BOUNDS.get(entry.bound)
    if bound is None or row.ratio is None:
        return row
    return replace(
        row, ratio=None, verdict=NOT_COMPARABLE, reason=_joined(bound, ours.reproduction.note)
    )


def _absent(ours: Reproduced, metric: str) -> str:
    if not ours.evaluation.metrics:
        return f"our design cannot be evaluated: {ours.evaluation.reason}"
    return f"our model has no {metric}"


def _joined(*texts: str) -> str:
    return "; ".join(text for text in texts if text)

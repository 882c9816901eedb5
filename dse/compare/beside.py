"""A front of one's own beside published designs, on the same axes."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence

from dse.compare.ledger import Ledger
from dse.compare.points import PublishedPoint, published_points
from dse.compare.report import number, table
from dse.compare.reproduce import core_name
from dse.front import Front, short_design
from dse.space import Space

_COLUMNS = ("technology", "host core", "source", "note")


def beside(front: Front, space: Space, ledgers: Sequence[Ledger]) -> list[PublishedPoint]:
    """The designs of a front, then those published with a value for each of its objectives."""
    baseline = front.baseline.canonical
    ours = []
    for row in front.rows:
        design, metrics = row.evaluation.canonical, row.evaluation.metrics
        values = {name: metrics[name].value for name in front.objectives}
        label = short_design(space, design, baseline)
        technology = space.technology.name
        ours.append(PublishedPoint("", label, values, technology, core_name(design), "our model"))
    return ours + published_beside(front, space, ledgers)


def published_beside(
    front: Front, space: Space, ledgers: Sequence[Ledger] | None = None
) -> list[PublishedPoint]:
    """Published designs in the units of a front's axes; of all bundled papers by default."""
    period = front.baseline.metrics.get("period_ns")
    return published_points(
        space.technology.name,
        front.objectives,
        algorithm=space.workloads[0].workload,
        period_ns=period.value if period else None,
        ledgers=ledgers,
    )


def beside_text(points: Sequence[PublishedPoint], objectives: Sequence[str], form: str) -> str:
    """The points in one of `dse.compare.report.FORMATS`; never a ratio between them."""
    columns = ("design", *objectives, *_COLUMNS)
    if form in ("json", "csv"):
        lines = [(p.label, *(p.values[name] for name in objectives), *_origin(p)) for p in points]
        if form == "json":
            rows = [dict(zip(columns, line, strict=True)) for line in lines]
            return json.dumps({"points": rows}, indent=1)
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(lines)
        return out.getvalue().rstrip("\n")
    texts = [
        (p.label, *(number(p.values[name]) for name in objectives), *_origin(p)) for p in points
    ]
    return table(columns, texts, form)


def _origin(point: PublishedPoint) -> tuple[str, ...]:
    return (point.technology, point.core, point.source, point.note)

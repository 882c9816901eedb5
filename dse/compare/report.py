"""Comparison rows as a table for people, Markdown, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from dse.compare.rows import Row, Summary

FORMATS = ("table", "md", "csv", "json")
_COLUMNS = (
    "configuration",
    "metric",
    "unit",
    "published",
    "re-measured",
    "ours",
    "ratio",
    "verdict",
)
_SUMMARY = ("paper", "rows", "compared", "agree", "median ratio", "worst ratio")
_KEYS = (
    "paper", "configuration", "metric", "definition", "unit", "published", "ours", "ratio",
    "verdict", "reason", "source", "kind",
)  # fmt: skip
_STYLES = {"agrees": "green", "differs": "red"}


def rows_text(rows: Sequence[Row], form: str, *, title: str = "", width: int | None = None) -> str:
    """All rows in one of `FORMATS`; the two for people number the reasons and sources below."""
    if form == "json":
        return json.dumps({"rows": [row.to_json() for row in rows]}, indent=1)
    if form == "csv":
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(_KEYS)
        for row in rows:
            data = row.to_json()
            writer.writerow(["" if data[key] is None else data[key] for key in _KEYS])
        return out.getvalue().rstrip("\n")
    notes: dict[str, int] = {}
    sources: dict[str, int] = {}
    lines = []
    for row in rows:
        note = notes.setdefault(row.reason, len(notes) + 1) if row.reason else ""
        source = sources.setdefault(row.source, len(sources) + 1)
        lines.append((*_cells(row), str(note), _letter(source)))
    columns = (*_COLUMNS, "why", "source")
    below = [f"{number}. {text}" for text, number in notes.items()]
    below += [f"{_letter(number)}. {text}" for text, number in sources.items()]
    if form == "md":
        return "\n".join([_markdown(columns, lines), "", *_spaced(below)])
    return "\n".join([_table(columns, lines, title, width), *below])


def summary_text(summaries: Sequence[Summary], form: str, *, width: int | None = None) -> str:
    """One line a paper."""
    lines = [
        (
            s.paper, str(s.rows), str(s.compared),
            "" if s.agreeing_share is None else f"{s.agreeing_share:.0%}",
            _number(s.median), _number(s.worst),
        )
        for s in summaries
    ]  # fmt: skip
    if form == "md":
        return _markdown(_SUMMARY, lines)
    return _table(_SUMMARY, lines, "", width)


def _cells(row: Row) -> tuple[str, ...]:
    is_ours = row.kind in ("remeasured", "derived")
    return (
        row.configuration,
        row.metric,
        row.unit,
        "" if is_ours else _number(row.published),
        _number(row.published) if is_ours else "",
        _number(row.ours),
        _number(row.ratio),
        row.verdict,
    )


def _number(value: float | None) -> str:
    if value is None:
        return ""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def _letter(number: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters


def _spaced(lines: Sequence[str]) -> list[str]:
    return [part for line in lines for part in (line, "")][:-1]


def _markdown(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [columns, ["---"] * len(columns), *lines]
    return "\n".join("| " + " | ".join(c.replace("|", "\\|") for c in row) + " |" for row in rows)


def _table(
    columns: Sequence[str], lines: Sequence[Sequence[str]], title: str, width: int | None
) -> str:
    table = Table(title=title or None, title_justify="left")
    for column in columns:
        is_number = column in ("published", "re-measured", "ours", "ratio", *_SUMMARY[1:])
        table.add_column(column, justify="right" if is_number else "left")
    for line in lines:
        style = next((_STYLES[cell] for cell in line if cell in _STYLES), "")
        table.add_row(*line, style=style)
    console = Console(width=width or 100, file=io.StringIO(), force_terminal=False)
    with console.capture() as captured:
        console.print(table)
    return captured.get().rstrip("\n")

"""Comparisons as tables for people, Markdown, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
import textwrap
from collections.abc import Sequence
from typing import Any

from dse.compare.ledger import Ledger
from dse.compare.rows import Row, Summary, is_of, summarise

FORMATS = ("table", "md", "csv", "json")
_COLUMNS = (
    "configuration", "metric", "unit", "published", "re-measured", "ours", "ratio", "verdict",
    "why", "source",
)  # fmt: skip
_SUMMARY = ("paper", "rows", "compared", "agree", "median ratio", "worst ratio")
_TEXT_COLUMNS = {
    "paper", "configuration", "metric", "unit", "verdict",
    "design", "technology", "host core", "source", "note",
}  # fmt: skip
_KEYS = (
    "paper", "configuration", "metric", "definition", "unit", "published", "ours", "ratio",
    "verdict", "reason", "source", "kind", "scope",
)  # fmt: skip
WIDTH = 120
_PAGE_TEXT = """\
Published figures beside ours. This page is written by
`dse compare --all --output docs/reproductions.md`; [Add a paper](papers.md) explains the columns
and the verdicts. `agrees` means within 15 % for a time-area product and within 25 % for everything
else. Figures of another definition, technology or host core stand side by side without a ratio."""

Comparison = tuple[Ledger, list[Row]]


def comparison_text(
    comparisons: Sequence[Comparison], form: str, *, is_summary: bool = False, width: int = WIDTH
) -> str:
    """Comparisons in one of `FORMATS`; for people, a summary may take the place of the rows.

    `width` is that of a `table`, in characters.
    """
    rows = [row for _, found in comparisons for row in found]
    if form == "csv":
        return _csv(rows)
    if form == "json":
        papers = [_summary_json(summarise(ledger.paper, found)) for ledger, found in comparisons]
        return json.dumps({"rows": [row.to_json() for row in rows], "papers": papers}, indent=1)
    if is_summary:
        return _summary_text(comparisons, form)
    return "\n\n".join(_paper_text(ledger, found, form, width) for ledger, found in comparisons)


def page(comparisons: Sequence[Comparison], plot: str) -> str:
    """Every row of every comparison as one page in Markdown, the summary first.

    `plot` is the file that draws the ratios, relative to the page.
    """
    picture = f"![Ours over published, every comparable row]({plot})"
    parts = ["# Reproductions", _PAGE_TEXT, _summary_text(comparisons, "md"), picture]
    parts += [
        _paper_text(ledger, found, "md", WIDTH)
        for ledger, found in comparisons
        if ledger.file.reproductions
    ]
    return "\n\n".join(parts) + "\n"


def _csv(rows: Sequence[Row]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_KEYS)
    for row in rows:
        data = row.to_json()
        writer.writerow(["" if data[key] is None else data[key] for key in _KEYS])
    return out.getvalue().rstrip("\n")


def _summary_json(summary: Summary) -> dict[str, Any]:
    return {
        "paper": summary.paper,
        "rows": summary.rows,
        "compared": summary.compared,
        "agreeing_share": summary.agreeing_share,
        "median_ratio": summary.median,
        "worst_ratio": summary.worst,
    }


def _paper_text(ledger: Ledger, rows: Sequence[Row], form: str, width: int) -> str:
    """Title, rows, the numbered reasons, the lettered sources, and what could not be had."""
    file = ledger.file
    title = f"{file.paper}: {file.authors}, {file.title}, {file.year}. {file.doi or file.url}"
    reasons: dict[str, int] = {}
    sources: dict[str, int] = {}
    lines = []
    for row in rows:
        reason = str(reasons.setdefault(row.reason, len(reasons) + 1)) if row.reason else ""
        source = _letters(sources.setdefault(row.source, len(sources) + 1))
        lines.append((*_cells(row), reason, source))
    parts = [f"## {title}" if form == "md" else title]
    if rows:
        parts.append(table(_COLUMNS, lines, form) if form == "md" else _grouped(_COLUMNS, lines))
        parts.append(_listed([(str(n), text) for text, n in reasons.items()], form, width))
        parts.append(_listed([(_letters(n), text) for text, n in sources.items()], form, width))
        parts.append(_sentence(summarise(file.paper, list(rows))))
    others = [e for e in file.entries if not any(is_of(e, r) for r in file.reproductions)]
    if others:
        parts.append(f"No design of ours stands for {len(others)} more of its figures yet.")
    if file.missing:
        parts.append(f"Not in the ledger: {'; '.join(file.missing)}.")
    return ("\n\n" if form == "md" else "\n").join(part for part in parts if part)


def _summary_text(comparisons: Sequence[Comparison], form: str) -> str:
    lines = []
    idle = []
    for ledger, rows in comparisons:
        if not ledger.file.reproductions:
            idle.append(f"{ledger.paper} ({len(ledger.file.entries)})")
            continue
        s = summarise(ledger.paper, rows)
        share = "" if s.agreeing_share is None else f"{s.agreeing_share:.0%}"
        counts = (str(s.rows), str(s.compared), share)
        lines.append((s.paper, *counts, number(s.median), number(s.worst)))
    text = table(_SUMMARY, lines, form)
    if idle:
        text += f"\n\nFigures recorded, no design of ours yet: {', '.join(idle)}."
    return text


def _sentence(s: Summary) -> str:
    if s.agreeing_share is None:
        return f"None of {s.rows} rows can be compared."
    ratios = f"; ratio ours / published: median {number(s.median)}, worst {number(s.worst)}"
    return (
        f"{s.compared} of {s.rows} rows can be compared; {s.agreeing_share:.0%} of them agree"
        f"{ratios if s.median is not None else ''}."
    )


def _cells(row: Row) -> tuple[str, ...]:
    is_ours = row.kind == "remeasured"
    published = number(row.published)
    return (
        row.configuration,
        f"{row.metric} ({row.scope})" if row.scope else row.metric,
        row.unit,
        "" if is_ours else published,
        published if is_ours else "",
        number(row.ours),
        number(row.ratio),
        row.verdict,
    )


def number(value: float | None) -> str:
    """A figure for people, to four digits; empty where there is none."""
    if value is None:
        return ""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def _letters(number: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters


def _listed(items: Sequence[tuple[str, str]], form: str, width: int) -> str:
    """Numbered or lettered notes; as a list in Markdown, wrapped in a table."""
    lines = [f"{name}. {text}" for name, text in items]
    if form == "md":
        return "  \n".join(lines)
    wrap = textwrap.TextWrapper(
        width, subsequent_indent="   ", break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(wrap.fill(line) for line in lines)


def table(columns: Sequence[str], lines: Sequence[Sequence[str]], form: str) -> str:
    """Lines under their columns, in Markdown or aligned."""
    if form == "md":
        rows = [columns, ["---"] * len(columns), *lines]
        return "\n".join("| " + " | ".join(_escaped(cell) for cell in row) + " |" for row in rows)
    widths = [max(map(len, cells)) for cells in zip(columns, *lines, strict=True)]
    texts = []
    for line in (columns, *lines):
        cells = [
            cell.ljust(width) if column in _TEXT_COLUMNS else cell.rjust(width)
            for column, cell, width in zip(columns, line, widths, strict=True)
        ]
        texts.append("  ".join(cells).rstrip())
    return "\n".join(texts)


def _grouped(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table of all but the first column, whose value stands above the lines that share it."""
    head, *texts = table(columns[1:], [line[1:] for line in lines], "table").splitlines()
    out = [f"  {head}"]
    above = ""
    for line, text in zip(lines, texts, strict=True):
        if line[0] != above:
            above = line[0]
            out.append(above)
        out.append(f"  {text}")
    return "\n".join(out)


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")

"""Every comparable row of every paper as a point: our figure over the published one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dse.compare.ledger import Ledger
from dse.compare.rows import AGREES, DIFFERS, TAP_TOLERANCE, TOLERANCE, Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ratio_figure"]

_COLOURS = {AGREES: "#2a6f97", DIFFERS: "#c1440e"}


def ratio_figure(comparisons: Sequence[tuple[Ledger, Sequence[Row]]]) -> Figure:
    """Draw ratios on a logarithmic axis, a line a paper; the bands are what agrees."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FormatStrFormatter, NullFormatter

    points = [
        (ledger.paper, row.ratio, row.verdict)
        for ledger, rows in comparisons
        for row in rows
        if row.ratio is not None and row.ratio > 0
    ]
    papers = list(dict.fromkeys(paper for paper, _, _ in points))
    figure = Figure(figsize=(7.0, 1.2 + 0.32 * len(papers)), layout="constrained")
    axes = figure.subplots()
    axes.axvspan(1 - TOLERANCE, 1 + TOLERANCE, color="#e8eef2", label="within 25 %")
    axes.axvspan(1 - TAP_TOLERANCE, 1 + TAP_TOLERANCE, color="#d0dde5", label="within 15 %")
    for verdict, colour in _COLOURS.items():
        shown = [(paper, ratio) for paper, ratio, found in points if found == verdict]
        axes.scatter(
            [ratio for _, ratio in shown],
            [papers.index(paper) for paper, _ in shown],
            s=14, color=colour, alpha=0.6, linewidths=0, label=verdict,
        )  # fmt: skip
    axes.axvline(1, color="#555555", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xticks([0.4, 0.5, 0.75, 1, 1.25, 1.5, 2])
    axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks(range(len(papers)), papers)
    axes.invert_yaxis()
    axes.set_xlabel("ours / published")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return figure

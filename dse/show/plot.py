"""Pareto plots as matplotlib figures; the same front gives the same bytes."""

from __future__ import annotations

import io
import itertools
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dse.front import Front
from dse.metrics import METRICS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TRIAL, _FRONT, _BASELINE, _PUBLISHED = "#b8b8b8", "#0b5fa5", "#c0392b", "#7d3c98"
_STYLE: dict[Any, Any] = {"svg.hashsalt": "dse", "svg.fonttype": "path", "font.size": 9.0}


@dataclass(frozen=True)
class Marker:
    """A point from elsewhere, such as a published design, with its name."""

    name: str
    values: Mapping[str, float]


def front_figure(
    front: Front, trials: Sequence[tuple[float, ...]], markers: Sequence[Marker] = ()
) -> Figure:
    """The front over all feasible trials, one panel for each pair of objectives.

    A marker appears in the panels whose two metrics it has.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    names = front.objectives
    pairs = [(0, 1)] if len(names) == 2 else [(0, 1), (0, 2), (1, 2)]
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(6.4 * len(pairs), 4.6), layout="constrained")
        for position, (x, y) in enumerate(pairs):
            axes = figure.add_subplot(1, len(pairs), position + 1)
            _panel(axes, front, trials, markers, x, y, is_chain=len(names) == 2)
        kind = "exact front" if front.is_exact else "front"
        figure.suptitle(f"{front.space}: {kind}, {len(front.rows)} designs")
    return figure


def render(figure: Figure, kind: str) -> bytes:
    """The figure as a `png`, `svg` or `pdf` file, without dates or random identifiers."""
    import matplotlib as mpl

    metadata: dict[str, Any] = {
        "svg": {"Date": None, "Creator": None},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
        "png": {"Software": None},
    }[kind]
    buffer = io.BytesIO()
    with mpl.rc_context(_STYLE):
        figure.savefig(buffer, format=kind, dpi=150, metadata=metadata)
    return buffer.getvalue()


def _panel(
    axes: Axes,
    front: Front,
    trials: Sequence[tuple[float, ...]],
    markers: Sequence[Marker],
    x: int,
    y: int,
    *,
    is_chain: bool,
) -> None:
    names = front.objectives
    axes.scatter(
        [t[x] for t in trials], [t[y] for t in trials], s=9, color=_TRIAL, label="evaluated"
    )
    points = sorted(
        (row.evaluation.metrics[names[x]].value, row.evaluation.metrics[names[y]].value)
        for row in front.rows
    )
    horizontal, vertical = [p[0] for p in points], [p[1] for p in points]
    if is_chain:
        axes.step(horizontal, vertical, where="post", color=_FRONT, linewidth=1.0)
    axes.scatter(horizontal, vertical, s=22, color=_FRONT, zorder=3, label="front")
    for number, row in enumerate(front.rows, start=1):
        metrics = row.evaluation.metrics
        at = (metrics[names[x]].value, metrics[names[y]].value)
        axes.annotate(str(number), at, xytext=(4, 4), textcoords="offset points", fontsize=7)
        if row.is_knee:
            axes.scatter(
                [at[0]], [at[1]], s=90, facecolors="none", edgecolors=_FRONT, zorder=4, label="knee"
            )
    base = front.baseline.metrics
    if names[x] in base and names[y] in base:
        axes.scatter(
            base[names[x]].value, base[names[y]].value,
            marker="s", color=_BASELINE, zorder=3, label="baseline",
        )  # fmt: skip
    shown = [m for m in markers if names[x] in m.values and names[y] in m.values]
    for letter, marker in zip(_letters(), shown, strict=False):
        at = (marker.values[names[x]], marker.values[names[y]])
        label = f"{letter}: {marker.name} (published)"
        axes.scatter([at[0]], [at[1]], s=18, marker="^", color=_PUBLISHED, zorder=3, label=label)
        axes.annotate(letter, at, xytext=(3, 3), textcoords="offset points", fontsize=7)
    for axis, name in (("x", names[x]), ("y", names[y])):
        unit = METRICS[name].unit
        label = f"{name} [{unit}]" if unit else name
        axes.set(**{f"{axis}label": label})
        values = [t[x if axis == "x" else y] for t in trials]
        if values and min(values) > 0 and max(values) > 20 * min(values):
            axes.set(**{f"{axis}scale": "log"})
    axes.grid(visible=True, color="#e6e6e6", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, fontsize=7 if shown else 8)


def _letters() -> Iterator[str]:
    """The letters a to z, then aa, ab, ..."""
    for length in itertools.count(1):
        for letters in itertools.product(string.ascii_lowercase, repeat=length):
            yield "".join(letters)

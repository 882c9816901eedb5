"""The files a run can be exported to; one function a format."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from dse.design import format_value
from dse.front import Front
from dse.metrics import METRICS
from dse.run import Run, to_text
from dse.show.plot import front_figure, render
from dse.suggestion import one_of, suggest


def _csv(run: Run, front: Front) -> list[Path]:
    return [
        run.write("front.csv", front_csv(front)),
        run.write("trials.csv", trials_csv(run)),
    ]


def _json(run: Run, front: Front) -> list[Path]:
    return [run.write("front.json", to_text(front.to_json()))]


def _png(run: Run, front: Front) -> list[Path]:
    return [run.write("pareto.png", render(_figure(run, front), "png"))]


def _svg(run: Run, front: Front) -> list[Path]:
    return [run.write("pareto.svg", render(_figure(run, front), "svg"))]


def _journal(run: Run, front: Front) -> list[Path]:
    from dse.show.journal import write_journal  # brings Optuna in

    return [write_journal(run, front)]


def _instructions(name: str) -> Callable[[Run, Front], list[Path]]:
    """The writer of a format that describes instructions."""

    def write(run: Run, front: Front) -> list[Path]:
        from dse.show.front_hardware import front_files

        return [run.write(file, text) for file, text in front_files(run, front, name)]

    return write


FORMATS: dict[str, Callable[[Run, Front], list[Path]]] = {
    "csv": _csv,
    "json": _json,
    "png": _png,
    "svg": _svg,
    "journal": _journal,
    **{name: _instructions(name) for name in ("c", "coredsl", "opcodes", "pyrtl", "verilog")},
}


class FormatError(ValueError):
    """A format that there is not."""


def write_exports(run: Run, front: Front, formats: Sequence[str]) -> list[Path]:
    """Write each format into the run folder; the files written.

    Raises:
        FormatError: A format is not known.
    """
    for name in formats:
        if name not in FORMATS:
            raise FormatError(
                f"format must be {one_of(list(FORMATS))}, not {name!r}{suggest(name, FORMATS)}"
            )
    return [path for name in formats for path in FORMATS[name](run, front)]


def front_csv(front: Front) -> str:
    """One row a design of the front: a column a parameter, a column a metric, and `status`."""
    names = front.metric_names
    parameters = list(front.rows[0].evaluation.canonical) if front.rows else []
    rows = (
        [
            *(format_value(row.evaluation.canonical[p]) for p in parameters),
            *(format_number(row.evaluation.metrics[n].value) for n in names),
            row.confirmation.status,
        ]
        for row in front.rows
    )
    return _table([*parameters, *names, "status"], rows)


def trials_csv(run: Run) -> str:
    """One row a distinct design, in the order of the search."""
    trials = list(run.trials())
    parameters = sorted({name for trial in trials for name in trial["design"]})
    measured = {name for trial in trials for name in trial["metrics"]}
    names = [name for name in METRICS if name in measured]

    def row(trial: dict[str, Any]) -> list[str]:
        metrics = trial["metrics"]
        return [
            str(trial["trial"]),
            trial["origin"],
            *(format_value(trial["design"][p]) for p in parameters),
            *(format_number(metrics[n]["value"]) if n in metrics else "" for n in names),
            format_value(trial["feasible"]),
            trial["reason"],
        ]

    header = ["trial", "origin", *parameters, *names, "feasible", "reason"]
    return _table(header, map(row, trials))


def format_number(value: float) -> str:
    """A number in twelve significant figures, whole ones without a point."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.12g}"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def _figure(run: Run, front: Front) -> Any:
    return front_figure(front, trial_points(run, front))


def trial_points(run: Run, front: Front) -> list[tuple[float, ...]]:
    """The objective values of every feasible trial."""
    names = front.objectives
    return [
        tuple(trial["metrics"][name]["value"] for name in names)
        for trial in run.trials()
        if trial["feasible"] and all(name in trial["metrics"] for name in names)
    ]

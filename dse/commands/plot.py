"""`dse plot`: draw the front of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dse.backend import Backend

if TYPE_CHECKING:
    from dse.front import Front
    from dse.run import Run
    from dse.show.plot import Marker


@click.command("plot")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--baselines", is_flag=True, help="Mark published designs where units agree.")
@click.pass_obj
def command(backend: Backend, /, run: Path, baselines: bool) -> int:
    """Draw the Pareto front of RUN again as pareto.png and pareto.svg in its folder."""
    from dse.front import Front
    from dse.run import FRONT, Run
    from dse.show.export import trial_points
    from dse.show.plot import front_figure, render

    opened = Run.open(run)
    front = Front.from_json(opened.read(FRONT))
    markers = _published(opened, front, backend) if baselines else []
    points = trial_points(opened, front)
    for kind in ("png", "svg"):
        figure = front_figure(front, points, markers)  # rendering one alters its layout
        click.echo(opened.write(f"pareto.{kind}", render(figure, kind)))
    return 0


def _published(run: Run, front: Front, backend: Backend) -> list[Marker]:
    """Published designs in the units of the front's axes; says so where there are none."""
    from dse.compare.beside import published_beside
    from dse.show.plot import Marker

    points = published_beside(front, run.space(Backend.load(backend.vocabulary)))
    for note in sorted({point.note for point in points if point.note}):
        click.echo(f"note: {note}", err=True)
    if not points:
        axes = " and ".join(front.objectives)
        click.echo(f"note: no published design has {axes} in this technology", err=True)
    return [Marker(point.label, point.values) for point in points]

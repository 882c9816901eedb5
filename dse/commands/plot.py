"""`dse plot`: draw the front of a run."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("plot")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--baselines", is_flag=True, help="Mark published designs where units agree.")
def command(run: Path, baselines: bool) -> int:
    """Draw the Pareto front of RUN again as pareto.png and pareto.svg in its folder."""
    from dse.export import trial_points
    from dse.front import Front
    from dse.plot import Marker, front_figure, render
    from dse.run import FRONT, Run

    opened = Run.open(run)
    front = Front.from_json(opened.read(FRONT))
    markers: list[Marker] = []
    if baselines:
        from dse.compare.markers import published_markers

        markers = published_markers(front.objectives)
        if not markers:
            click.echo(
                f"note: no published figure is in the units of {' and '.join(front.objectives)}",
                err=True,
            )
    points = trial_points(opened, front)
    for kind in ("png", "svg"):
        figure = front_figure(front, points, markers)  # rendering one alters its layout
        click.echo(opened.write(f"pareto.{kind}", render(figure, kind)))
    return 0

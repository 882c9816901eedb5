"""`dse export`: write a run in other formats."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("export")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--format", "formats", default="csv,json,png,svg", show_default=True, help="Comma-separated."
)
def command(run: Path, formats: str) -> int:
    """Write the front and trials of RUN into its folder in each format."""
    from dse.export import write_exports
    from dse.front import Front
    from dse.run import FRONT, Run

    opened = Run.open(run)
    front = Front.from_json(opened.read(FRONT))
    try:
        files = write_exports(opened, front, [name.strip() for name in formats.split(",")])
    except ValueError as error:
        raise click.UsageError(f"--format: {error}") from None
    for file in files:
        click.echo(file)
    return 0

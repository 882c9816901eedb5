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
    """Write the front and trials of RUN into its folder in each format.

    c, coredsl, opcodes and pyrtl describe the instructions of the front, verilog the extension
    block of each design on it. RUN may also be a folder of proposals, which has these five.
    """
    from dse.front import Front
    from dse.propose.delivery import REPORT, export
    from dse.run import FRONT, Run
    from dse.show.export import FormatError, write_exports

    names = [name.strip() for name in formats.split(",")]
    try:
        if (run / REPORT).is_file():
            files = export(run, names)
        else:
            opened = Run.open(run)
            files = write_exports(opened, Front.from_json(opened.read(FRONT)), names)
    except FormatError as error:
        raise click.UsageError(f"--format: {error}") from None
    for file in files:
        click.echo(file)
    return 0

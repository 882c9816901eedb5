"""`dse verify`: confirm the front of a run on the netlist again."""

from __future__ import annotations

from pathlib import Path

import click

from dse.arguments import default_jobs, liberty_option
from dse.backend import Backend


@click.command("verify")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--jobs",
    type=click.IntRange(0, 1024),
    default=default_jobs,
    show_default="all processors",
    help="Worker processes; 0 verifies in this process.",
)
@liberty_option
@click.pass_obj
def command(backend: Backend, /, run: Path, jobs: int, liberty: Path | None) -> int:
    """Run every design on the front of RUN on its netlist, and compare outputs and cycles.

    Nothing is taken from the cache; the front's files are rewritten with the verdicts.
    """
    from dataclasses import replace

    from dse.evaluator import Evaluator
    from dse.front import Front
    from dse.run import FRONT, Run
    from dse.search import Progress
    from dse.show.display import ProgressBar
    from dse.show.export import write_exports

    opened = Run.open(run)
    front = Front.from_json(opened.read(FRONT))
    space = opened.space(Backend.load(backend.vocabulary))
    evaluator = Evaluator(space, backend, None, jobs)
    done = 0
    try:
        with ProgressBar() as bar:

            def on_result() -> None:
                nonlocal done
                done += 1
                bar(Progress("confirming", done, len(front.rows)))

            designs = [row.evaluation.canonical for row in front.rows]
            verdicts = evaluator.confirm(designs, is_fresh=True, on_result=on_result)
    finally:
        evaluator.close()
    rows = zip(front.rows, verdicts, strict=True)
    front = replace(front, rows=tuple(replace(row, confirmation=v) for row, v in rows))
    write_exports(opened, front, ("csv", "json"))
    for number, verdict in enumerate(verdicts, start=1):
        cycles = f"{verdict.netlist_cycles} cycles on the netlist, {verdict.model_cycles} modelled"
        click.echo(f"{number}: {verdict.status}, {verdict.reason or cycles}")
    if liberty is not None:
        from dse.library import LibraryError, price_front

        try:
            click.echo("\n".join(price_front(opened, liberty, backend, jobs)))
        except LibraryError as error:
            raise click.UsageError(str(error)) from None
    return 0 if all(verdict.ok for verdict in verdicts) else 1

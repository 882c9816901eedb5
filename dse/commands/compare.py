"""`dse compare`: published figures beside ours."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from dse.arguments import cache_folder, cache_options
from dse.backend import Backend


@click.command("compare")
@click.argument("papers", metavar="[PAPER]...", nargs=-1)
@click.option(
    "--with",
    "beside_papers",
    metavar="PAPER",
    multiple=True,
    help="Set the front of a run, given in place of PAPER, beside this paper. Repeatable.",
)
@click.option("--all", "is_all", is_flag=True, help="Every bundled paper, one summary row each.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "md", "csv", "json"]),
    default="table",
    show_default=True,
    help="How to print the rows.",
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write every row as a page in Markdown to this file instead, and its plot beside it.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@cache_options
@click.pass_obj
def command(
    backend: Backend,
    papers: tuple[str, ...],
    beside_papers: tuple[str, ...],
    is_all: bool,
    form: str,
    as_json: bool,
    output: Path | None,
    cache: Path | None,
    no_cache: bool,
) -> int:
    """Compare with PAPER, a bundled paper (see `dse list papers`) or a ledger file of one's own.

    Each row holds a published figure, ours, their ratio and a verdict. Figures of different
    definitions, technologies or host cores stand side by side without a ratio. Exit code 1: one
    of our designs could not be evaluated.

    `dse compare RUN --with PAPER` sets the front of a search beside the designs of the paper that
    have a value on each of its axes.
    """
    if beside_papers:
        if is_all or output is not None or len(papers) != 1:
            raise click.UsageError("give one run before --with, and neither --all nor --output")
        _compare_run(backend, Path(papers[0]), beside_papers, "json" if as_json else form)
        return 0
    if is_all == bool(papers):
        raise click.UsageError("give papers or --all, one of the two")
    folder = cache_folder(cache, no_cache)
    form = "json" if as_json else form
    if output is not None and form != "table":
        raise click.UsageError("give --output or a format, one of the two; the page is Markdown")

    from dse.compare.ledger import find_paper, load_ledger, paper_names
    from dse.compare.report import WIDTH, comparison_text, page
    from dse.compare.reproduce import evaluator, reproduce
    from dse.compare.rows import compare
    from dse.compare.unit import unit_pricer

    try:
        files = [find_paper(name) for name in (paper_names() if is_all else papers)]
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    evaluate, price_unit = evaluator(backend, folder), unit_pricer(backend, folder)
    vocabulary = Backend.load(backend.vocabulary)
    found = []
    failed = 0
    for file in files:
        ledger = load_ledger(file)
        if is_all and ledger.file.reproductions:
            click.echo(f"{ledger.paper} ...", err=True)
        reproduced = reproduce(ledger, evaluate, vocabulary, price_unit)
        for name, ours in reproduced.items():
            if not ours.evaluation.feasible:
                reason = ours.evaluation.reason
                click.echo(f"{ledger.paper}: {name} cannot be evaluated: {reason}", err=True)
                failed += 1
        found.append((ledger, compare(ledger, reproduced)))
    if output is not None:
        from dse.compare.ratio_plot import ratio_figure
        from dse.show.plot import render

        try:
            plot = output.with_suffix(".svg")
            output.write_text(page(found, plot.name), encoding="utf-8", newline="\n")
            plot.write_bytes(render(ratio_figure(found), "svg"))
        except OSError as error:
            raise click.UsageError(f"--output cannot be written: {error.strerror}") from None
        click.echo(f"wrote {output} and {plot}", err=True)
        return 1 if failed else 0
    width = max(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns)
    click.echo(comparison_text(found, form, is_summary=is_all, width=width))
    return 1 if failed else 0


def _compare_run(backend: Backend, folder: Path, papers: tuple[str, ...], form: str) -> None:
    """Print the front of a run beside the points of papers."""
    from dse.compare.beside import beside, beside_text
    from dse.compare.ledger import find_paper, load_ledger
    from dse.front import Front
    from dse.run import FRONT, Run

    try:
        ledgers = [load_ledger(find_paper(name)) for name in papers]
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    opened = Run.open(folder)
    front = Front.from_json(opened.read(FRONT))
    points = beside(front, opened.space(Backend.load(backend.vocabulary)), ledgers)
    if not any(point.paper for point in points):
        axes = " and ".join(front.objectives)
        click.echo(f"note: no design of theirs has {axes} in this technology", err=True)
    click.echo(beside_text(points, front.objectives, form))

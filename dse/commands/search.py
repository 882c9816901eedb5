"""`dse search`: find the Pareto front of a space."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dse.arguments import cache_folder, cache_options, default_jobs, liberty_option, open_space
from dse.backend import Backend
from dse.sampler import SAMPLERS

if TYPE_CHECKING:
    from dse.space import Space

_MAX_TRIALS = 1_000_000
_MAX_SEED = 2**32 - 1
_MAX_SECONDS = 1_000_000


@click.command("search")
@click.argument("space")
@click.option("--trials", type=click.IntRange(1, _MAX_TRIALS), help="Distinct designs to evaluate.")
@click.option("--seed", type=click.IntRange(0, _MAX_SEED), help="Seed of every random choice.")
@click.option(
    "--jobs",
    type=click.IntRange(0, 1024),
    default=default_jobs,
    show_default="all processors",
    help="Worker processes; 0 evaluates in this process.",
)
@click.option(
    "--dask",
    "cluster",
    metavar="ADDRESS",
    help="Evaluate on the Dask cluster of this scheduler, as in tcp://host:8786.",
)
@click.option(
    "--batch",
    type=click.IntRange(1, 100_000),
    show_default="8",
    help="Designs proposed together; for many workers, more of them.",
)
@click.option("--sampler", type=click.Choice(list(SAMPLERS)), help="What proposes designs.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the run (default: runs/<space>).",
)
@click.option("--resume", is_flag=True, help="Continue the run in that folder.")
@click.option("--exhaustive", is_flag=True, help="Evaluate every design: the front is exact.")
@click.option(
    "--prove",
    is_flag=True,
    help="Evaluate the exact front of the model too, and bound the gap (extra: exact).",
)
@click.option(
    "--prove-seconds",
    "proof_seconds",
    type=click.IntRange(1, _MAX_SECONDS),
    default=60,
    show_default=True,
    help="Seconds after which the solver of --prove stops.",
)
@click.option(
    "--exact-seconds",
    type=click.IntRange(0, _MAX_SECONDS),
    default=None,
    help="Enumerate the exact front for comparison if that takes at most so long (default: 60).",
)
@click.option(
    "--plateau",
    type=click.IntRange(1, _MAX_TRIALS),
    help="Stop when so many designs in a row add less than 0.1 % to the hypervolume.",
)
@click.option(
    "--time-limit",
    "limit_seconds",
    type=click.IntRange(1, _MAX_SECONDS),
    default=600,
    show_default=True,
    help="Seconds after which a design that does not finish is given up.",
)
@click.option(
    "--propose",
    "is_proposing",
    is_flag=True,
    help="Choose among instructions proposed for the workloads too (see dse propose).",
)
@liberty_option
@cache_options
@click.option("--json", "as_json", is_flag=True, help="Print the front and summary as JSON.")
@click.option("--live", "is_live", is_flag=True, help="Show the front as it grows.")
@click.option("--profile", is_flag=True, help="Say where the time went.")
@click.pass_obj
def command(
    backend: Backend,
    /,
    space: str,
    cache: Path | None,
    no_cache: bool,
    as_json: bool,
    profile: bool,
    is_proposing: bool,
    is_live: bool,
    exact_seconds: int | None,
    out: Path | None,
    liberty: Path | None,
    **settings: Any,
) -> int:
    """Search SPACE, a file or a bundled space, for its Pareto front.

    Ends with the front as a table, every design on it confirmed on the netlist, how random
    sampling did at equal budget, and the exact front where enumerating it fits the budget.
    """
    opened = open_space(space, backend)
    folder = cache_folder(cache, no_cache)

    from dse.evaluator import SearchError
    from dse.explore import EXACT_BUDGET_SECONDS, Options, explore
    from dse.run import MANIFEST
    from dse.show.display import ProgressBar
    from dse.show.live import LiveFront
    from dse.show.report import print_exploration, print_profile

    options = Options(
        out=out or Path("runs") / opened.name,
        cache_folder=folder,
        exact_budget_seconds=EXACT_BUDGET_SECONDS if exact_seconds is None else exact_seconds,
        command=shlex.join(["dse", *sys.argv[1:]]),
        **settings,
    )
    is_refused = (options.out / MANIFEST).exists() and not options.resume
    if is_proposing and not is_refused:
        opened = _joined(opened, options.out, backend)
    try:
        with LiveFront(opened) if is_live else ProgressBar() as observer:
            exploration = explore(opened, options, backend, observer)
    except SearchError as error:
        raise click.UsageError(str(error)) from error
    for note in exploration.notes:
        click.echo(f"note: {note}", err=True)
    if as_json:
        content = {"front": exploration.front.to_json(), "result": exploration.result}
        click.echo(json.dumps(content, indent=1))
    else:
        print_exploration(opened, exploration)
    if liberty is not None:
        _price(options.out, liberty, backend, options.jobs, as_json=as_json)
    if profile:
        print_profile(exploration.result)
    return 0 if exploration.is_confirmed and not exploration.is_interrupted else 1


def _price(out: Path, liberty: Path, backend: Backend, jobs: int, *, as_json: bool) -> None:
    """Price the front in a library of the user's; with --json the run's library.json says it."""
    from dse.library import LibraryError, price_front
    from dse.run import Run

    try:
        lines = price_front(Run.open(out), liberty, backend, jobs)
    except LibraryError as error:
        raise click.UsageError(str(error)) from None
    click.echo("\n".join(lines), err=as_json)


def _joined(space: Space, out: Path, backend: Backend) -> Space:
    """The space with the proposals in the folder of the run, which are made if it has none."""
    from dse.propose.joined import with_proposals
    from dse.propose.request import RequestError

    vocabulary = Backend.load(backend.vocabulary)
    try:
        return with_proposals(
            space, out / "proposals", vocabulary, lambda text: click.echo(text, err=True)
        )
    except RequestError as error:
        raise click.UsageError(f"--propose: {error}") from None

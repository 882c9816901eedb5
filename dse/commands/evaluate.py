"""`dse evaluate`: one design, explained."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dse.arguments import cache_folder, cache_options, liberty_option, open_space
from dse.backend import Backend

if TYPE_CHECKING:
    from dse.cache import Cache
    from dse.design import Design, Value
    from dse.evaluation import Evaluation
    from dse.measure.timeline import Timeline
    from dse.space import Space


@click.command("evaluate")
@click.argument("space")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="A parameter by its dotted name: zkne=true, core.pipeline=3. Others are the baseline's.",
)
@liberty_option
@cache_options
@click.option(
    "--timeline",
    "with_timeline",
    is_flag=True,
    help="Show when the co-processor loads, computes and stores.",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.pass_obj
def command(
    backend: Backend,
    /,
    space: str,
    settings: tuple[str, ...],
    liberty: Path | None,
    cache: Path | None,
    no_cache: bool,
    with_timeline: bool,
    as_json: bool,
) -> int:
    """Evaluate one design of SPACE and explain its numbers.

    A kernel that is not set is the one of fewest cycles, then fewest bytes.
    """
    opened = open_space(space, backend)
    chosen = parse_settings(opened, settings)
    folder = cache_folder(cache, no_cache)

    from dse.evaluator import Evaluator, SearchError
    from dse.library import LibraryError, library_lines, priced
    from dse.measure.coprocessor_parts import coprocessor_cost, part_lines
    from dse.measure.lower_bounds import with_bounds
    from dse.show.explain import print_evaluation

    evaluator = Evaluator(opened, backend, folder, jobs=0)
    try:
        baseline = evaluator.set_baseline()
        design = complete(opened, chosen)
        fixed = {name for name, value in chosen.items() if value != "auto"}
        design = evaluator.best_kernels(design, dict.fromkeys(fixed))
        evaluation = with_bounds(opened, evaluator.evaluate([design])[0], evaluator.cache)
        drawn = _timelines(opened, evaluation, evaluator.cache) if with_timeline else []
        design = evaluation.canonical
        cost = coprocessor_cost(opened, design, evaluator.cache) if evaluation.feasible else None
        designs = [evaluation.canonical] if liberty and evaluation.feasible else []
        prices = priced(opened, designs, liberty, evaluator.cache, 1) if liberty else []
    except (SearchError, LibraryError) as error:
        raise click.UsageError(str(error)) from error
    finally:
        evaluator.close()
    for note in evaluator.notes:
        click.echo(f"note: {note}", err=True)
    if as_json:
        data = evaluation.to_json()
        if with_timeline:
            data["timeline"] = {timeline.workload: timeline.to_json() for timeline in drawn}
        if cost:
            data["coprocessor"] = asdict(cost)
        if prices:
            data["library"] = prices[0].to_json()
        click.echo(json.dumps(data, indent=1))
    else:
        print_evaluation(opened, evaluation, baseline)
        if cost:
            click.echo("\n" + "\n".join(part_lines(cost)))
        for timeline in drawn:
            click.echo("\n" + "\n".join(timeline.lines()))
        if liberty and prices:
            click.echo("\n" + "\n".join(library_lines(liberty, prices)))
    return 1 if evaluator.failures else 0


def _timelines(space: Space, evaluation: Evaluation, cache: Cache) -> list[Timeline]:
    """What the co-processor of an evaluated design does, if it has one.

    Raises:
        UsageError: It has none that anything uses.
    """
    from dse.measure.timeline import timelines

    found = timelines(space, evaluation.canonical, cache) if evaluation.feasible else []
    if not found:
        raise click.UsageError("--timeline needs a feasible design that uses a co-processor")
    return found


def parse_settings(space: Space, settings: tuple[str, ...]) -> dict[str, Value]:
    """The values that `--set` gives.

    Raises:
        UsageError: A name or a value is not one of the space's, or makes no difference.
    """
    from dse.suggestion import one_of, suggest

    chosen: dict[str, Value] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise click.UsageError(f"--set must be key=value, not {setting!r}")
        if name not in space.by_name:
            accepted = one_of(list(space.by_name))
            hint = suggest(name, space.by_name)
            raise click.UsageError(f"--set key must be {accepted}, not {name!r}{hint}")
        if name in chosen:
            raise click.UsageError(f"--set {name} must be given once, not twice")
        if name.startswith("kernel.") and text == "auto":
            chosen[name] = "auto"
            continue
        try:
            chosen[name] = space.by_name[name].parse(text)
        except ValueError as error:
            raise click.UsageError(f"--set {error}") from None
    _refuse_idle(space, chosen, complete(space, chosen))
    return chosen


def _refuse_idle(space: Space, chosen: Mapping[str, Value], design: Design) -> None:
    """Refuse a setting that the other settings leave without effect, or without its needs."""
    from dse.suggestion import one_of

    provided = space.provided(design)
    for use in space.workloads:
        name = f"kernel.{use.workload}"
        absent = sorted(set(use.requires.get(str(chosen.get(name)), ())) - provided)
        if absent:
            raise click.UsageError(
                f"--set {name}={chosen[name]} needs {', '.join(absent)}; choose what provides them"
            )
    for name in chosen:
        condition = space.by_name[name].condition
        if condition and design[condition.parameter] not in condition.values:
            accepted = one_of([str(value).lower() for value in condition.values])
            raise click.UsageError(
                f"--set {name} has no effect unless {condition.parameter} is "
                f"{accepted or 'in the space'}; set that too"
            )


def complete(space: Space, chosen: dict[str, Value]) -> Design:
    """The baseline with the chosen values; kernels left to choose are the first."""
    given = {name: value for name, value in chosen.items() if value != "auto"}
    return space.neutral.replace(space.baseline).replace(given)

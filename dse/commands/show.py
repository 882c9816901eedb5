"""`dse show`: the one-page card of anything that `dse list` names."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dse.arguments import cache_folder, cache_options
from dse.backend import Backend


@click.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print the card as JSON.")
@click.option(
    "--effort",
    metavar="default|search|exact",
    help="Of the compiler, for a workload: search tries more orders, exact asks a solver as well.",
)
@cache_options
@click.pass_obj
def command(
    backend: Backend,
    /,
    name: str,
    as_json: bool,
    effort: str | None,
    cache: Path | None,
    no_cache: bool,
) -> int:
    """Show all that is known of NAME, whatever kind of thing it is."""
    folder = cache_folder(cache, no_cache)
    _check_effort(effort)

    from dse.cache import Cache
    from dse.show.catalog import KINDS
    from dse.show.explain import print_card
    from dse.suggestion import suggest

    vocabulary = Backend.load(backend.vocabulary)
    names = {kind: KINDS[kind].names(vocabulary) for kind in KINDS}
    kinds = [kind for kind in KINDS if name in names[kind]]
    if not kinds:
        hint = suggest(name, [n for known in names.values() for n in known])
        raise click.UsageError(f"NAME must be something `dse list` names, not {name!r}{hint}")
    if effort is not None and "workloads" not in kinds:
        raise click.UsageError(f"--effort is for workloads; {name!r} is of {kinds[0]}")
    memory = Cache(folder, backend.digest)
    given = {"workloads": {"effort": effort}} if effort is not None else {}
    cards = {
        kind: dict(KINDS[kind].card(vocabulary, name, memory, **given.get(kind, {})))
        for kind in kinds
    }
    memory.close()
    if as_json:
        click.echo(json.dumps(cards, indent=1))
        return 0
    for kind, card in cards.items():
        print_card(f"{name} ({kind})", card)
    return 0


def _check_effort(effort: str | None) -> None:
    """Refuse an effort that the compiler does not know or cannot make here."""
    if effort is None:
        return

    from dse.suggestion import one_of, suggest
    from isa.compiler.exact_order import MISSING, has_solver
    from isa.compiler.schedule import EFFORTS

    if effort not in EFFORTS:
        known = list(EFFORTS)
        hint = suggest(effort, known)
        raise click.UsageError(f"--effort must be {one_of(known)}, not {effort!r}{hint}")
    if effort == "exact" and not has_solver():
        raise click.UsageError(MISSING)

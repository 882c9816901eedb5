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
@cache_options
@click.pass_obj
def command(
    backend: Backend, /, name: str, as_json: bool, cache: Path | None, no_cache: bool
) -> int:
    """Show all that is known of NAME, whatever kind of thing it is."""
    folder = cache_folder(cache, no_cache)

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
    memory = Cache(folder, backend.digest)
    cards = {kind: dict(KINDS[kind].card(vocabulary, name, memory)) for kind in kinds}
    memory.close()
    if as_json:
        click.echo(json.dumps(cards, indent=1))
        return 0
    for kind, card in cards.items():
        print_card(f"{name} ({kind})", card)
    return 0

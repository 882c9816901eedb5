"""`dse list`: the names of everything there is to choose from."""

from __future__ import annotations

import json

import click

from dse.backend import Backend


@click.command("list")
@click.argument("kind", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the names as JSON.")
@click.pass_obj
def command(backend: Backend, /, kind: str | None, as_json: bool) -> int:
    """List the names of one KIND: workloads, extensions, instructions, units, ...; or of all."""
    from dse.show.catalog import KINDS
    from dse.suggestion import one_of, suggest

    if kind is not None and kind not in KINDS:
        hint = suggest(kind, KINDS)
        raise click.UsageError(f"KIND must be {one_of(list(KINDS))}, not {kind!r}{hint}")
    vocabulary = Backend.load(backend.vocabulary)
    found = {name: list(KINDS[name].names(vocabulary)) for name in ([kind] if kind else KINDS)}
    if as_json:
        click.echo(json.dumps(found, indent=1))
    elif kind:
        click.echo("\n".join(found[kind]))
    else:
        for name, names in found.items():
            click.echo(f"{name}: {', '.join(names)}")
    return 0

"""`dse propose`: the instructions that workloads are missing."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from dse.backend import Backend

if TYPE_CHECKING:
    from dse.propose.request import Request

_Item = TypeVar("_Item")


@click.command("propose")
@click.argument("subjects", metavar="WORKLOAD... | SPACE", nargs=-1, required=True)
@click.option("--base", help="Instruction set to start from, such as rv32i or rv32i+zbkb.")
@click.option("--inputs", type=int, default=2, show_default=True, help="Registers read at most.")
@click.option(
    "--outputs",
    type=int,
    default=1,
    show_default=True,
    help="Results at most, 1 or 2; for two, proposals are pairs of instructions.",
)
@click.option("--area", type=float, metavar="GE", help="Area of the chosen set at most.")
@click.option("--top", type=int, default=5, show_default=True, help="Proposals to deliver.")
@click.option("--known", is_flag=True, help="List known instructions found; measure nothing.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the proposals (default: runs/propose-<names>).",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.pass_obj
def command(
    backend: Backend,
    /,
    subjects: tuple[str, ...],
    base: str | None,
    inputs: int,
    outputs: int,
    area: float | None,
    top: int,
    known: bool,
    out: Path | None,
    as_json: bool,
) -> int:
    """Propose instructions for WORKLOADs, or for the workloads of one SPACE.

    Each is proven equal to what it replaces, measured by compiling and running the workloads with
    it, priced as hardware, and written to a file that a space's `choose` can name, with C, CoreDSL,
    PyRTL, Verilog and riscv-opcodes beside it.
    """
    from dse.propose.request import RequestError

    try:
        request = _request(backend, subjects, base, inputs, outputs, area, top)
        if known:
            return _known(request, as_json)
        return _propose(request, out or Path("runs") / f"propose-{_slug(subjects)}", as_json)
    except RequestError as error:
        raise click.UsageError(str(error)) from None


def _propose(request: Request, folder: Path, as_json: bool) -> int:
    from dse.propose.delivery import check, deliver
    from dse.propose.pipeline import propose
    from dse.propose.report import print_report, to_json

    check(folder)
    report = propose(request, lambda text: click.echo(text, err=True), _progress)
    files = deliver(report, folder)
    if as_json:
        click.echo(json.dumps(to_json(report), indent=1))
    else:
        print_report(report)
        click.echo("Written: " + " ".join(map(str, files[:1])) + f" and {len(files) - 1} files")
        data = [str(f) for f in files[1:] if f.suffix == ".json"]
        click.echo(f"In a space: choose: [{', '.join(data)}]")
    return 0


def _progress(items: list[_Item]) -> Iterator[_Item]:
    """Shows a bar on stderr, where that is a terminal."""
    with click.progressbar(items, label=f"measuring {len(items)} ideas", file=sys.stderr) as bar:
        yield from bar


def _known(request: Request, as_json: bool) -> int:
    from dse.propose.report import known_rows, print_known, survey_json
    from dse.propose.survey import survey

    found = survey(request)
    if as_json:
        click.echo(json.dumps({**survey_json(found), "known": known_rows(found)}, indent=1))
    else:
        print_known(found)
    return 0


def _request(
    backend: Backend,
    subjects: tuple[str, ...],
    base: str | None,
    inputs: int,
    outputs: int,
    area: float | None,
    top: int,
) -> Request:
    import workloads
    from dse.arguments import open_space
    from dse.propose.request import Request, base_set, from_space, named_workloads
    from isa.timing import Core

    names = workloads.workload_names()
    is_space = len(subjects) == 1 and subjects[0] not in names and _is_space(subjects[0])
    fo4_ps = 50.0
    if is_space:
        space = open_space(subjects[0], backend)
        chosen = from_space(space)
        fo4_ps = space.technology.fo4_ps
        base = base or space.base
    else:
        chosen = named_workloads(subjects)
    core = Core(xlen=base_set(base or "rv32i").xlen)
    return Request(chosen, base or "rv32i", core, inputs, outputs, area, top, fo4_ps=fo4_ps)


def _is_space(name: str) -> bool:
    from dse.bundled import bundled_names

    return name in bundled_names() or name.endswith((".yaml", ".yml")) or Path(name).is_file()


def _slug(subjects: tuple[str, ...]) -> str:
    return "-".join(Path(name).stem for name in subjects)

"""`dse run`: one program on a core, with outputs, cycles and profile."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

LIMIT = 100_000_000_000


class _Integer(click.ParamType[int]):
    name = "integer"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Read a decimal, 0x or 0b number."""
        try:
            return int(str(value), 0)
        except ValueError:
            self.fail(f"{value!r} is not an integer", param, ctx)


class _Range(click.ParamType[tuple[int, int]]):
    name = "range"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Read ADDRESS:BYTES."""
        if isinstance(value, tuple):
            return value
        address, _, size = str(value).partition(":")
        try:
            return int(address, 0), int(size, 0)
        except ValueError:
            self.fail(f"{value!r} must be ADDRESS:BYTES", param, ctx)


@click.command("run")
@click.argument("program", type=click.Path(path_type=Path))
@click.argument("args", nargs=-1, type=_Integer())
@click.option("--isa", "isa_string", help="ISA string; by default what an ELF tells, or rv32im.")
@click.option("--core", default="default", show_default=True, help="A core of `dse list cores`.")
@click.option("--pipeline", type=click.Choice(["2", "3", "5"]), help="Stages of the default core.")
@click.option("--no-forwarding", is_flag=True, help="The default core without forwarding.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=LIMIT,
    show_default=True,
    help="Instructions after which the program is taken to be in an endless loop.",
)
@click.option("--profile", "with_profile", is_flag=True, help="Where the instructions went.")
@click.option(
    "--secret",
    "secrets",
    multiple=True,
    type=_Range(),
    metavar="ADDRESS:BYTES",
    help="Memory that is secret: report what depends on it in time. May be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    program: Path,
    args: tuple[int, ...],
    isa_string: str | None,
    core: str,
    pipeline: str | None,
    no_forwarding: bool,
    limit: int,
    with_profile: bool,
    secrets: tuple[tuple[int, int], ...],
    as_json: bool,
) -> int:
    """Run PROGRAM, an ELF, hex (.hex, .mem) or assembly (.S, .s) file, with ARGS in a0, a1, ...

    Programs end by an exit call (a7 = 93, code in a0) or ebreak, and print by a write call (a7 =
    64, buffer in a1, size in a2). Exit code 1: the program trapped, or its own exit code is not 0.
    """
    from dse.simulate.profile import profile
    from dse.simulate.program_file import (
        ProgramFileError,
        default_isa,
        load_program,
        without_atomics,
    )
    from dse.simulate.simulation import Trap, leaks, simulate
    from isa.core import Core
    from isa.isa_string import instruction_set

    if len(args) > 8:
        raise click.UsageError(f"ARGS must be at most 8, not {len(args)}")
    try:
        isa_string, note = without_atomics(isa_string or default_isa(program))
        instructions = instruction_set(isa_string)
        stages = int(pipeline) if pipeline else 5
        host = Core(core, instructions.xlen, stages, not no_forwarding).canonical()
        loaded = load_program(program, instructions)
    except ProgramFileError as error:
        raise click.UsageError(str(error)) from error
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if note:
        click.echo(f"note: {note}", err=True)
    try:
        done = simulate(instructions, loaded, host, args, limit)
        shown = leaks(instructions, loaded, args, secrets, limit) if secrets else []
    except Trap as trap:
        click.echo(trap.output, nl=False)
        click.echo(f"dse run: error: {program}: {trap}", err=True)
        return 1
    except ValueError as error:  # the core cannot run the set, or memory is elsewhere
        raise click.UsageError(str(error)) from error
    found = profile(done.outcome, loaded, instructions) if with_profile else None
    if as_json:
        content = {
            "exit_code": done.exit_code,
            "instructions": done.outcome.instructions,
            "cycles": done.cycles,
            "stdout": done.outcome.output.decode("utf-8", "replace"),
            "cpi": round(done.cycles_per_instruction, 4),
            "registers": [f"{value:#x}" for value in done.outcome.registers],
        }
        if found is not None:
            content["profile"] = found.to_json()
        if secrets:
            content["leaks"] = [asdict(leak) for leak in shown]
        click.echo(json.dumps(content, indent=1))
    else:
        from dse.simulate.run_report import print_leaks, print_simulation

        print_simulation(done, found)
        if secrets:
            print_leaks(shown)
    return 1 if done.exit_code else 0

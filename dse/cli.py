"""The command line: `dse COMMAND ...`. Results go to stdout, progress and errors to stderr.

Exit codes: 0 done, 1 a check failed, 2 wrong use.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import click

from dse.backend import Backend
from dse.run import RunError
from dse.yaml_source import SourceError


class Commands(click.Group):
    """Finds each command in its own file of `dse/commands/`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the command files, sorted."""
        files = Path(__file__).with_name("commands").glob("*.py")
        return sorted(file.stem for file in files if file.stem != "__init__")

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the file of one command."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(f"dse.commands.{cmd_name}").command
        return command


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show tracebacks of internal errors.")
@click.version_option(package_name="riscv-dse", prog_name="dse")
@click.pass_context
def dse(ctx: click.Context, debug: bool) -> None:
    """Explore the design space of RISC-V cryptography hardware.

    Start with: dse search aes
    """


def run(arguments: Sequence[str] | None = None, backend: Backend | None = None) -> int:
    """Run one command line and return its exit code; tests pass another backend."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    # matrices here are small, and every processor has a worker of its own
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        code = dse.main(
            args=words, prog_name="dse", standalone_mode=False, obj=backend or Backend()
        )
    except click.Abort:
        return _fail("interrupted", 1)
    except click.ClickException as error:
        _trace(words)
        context = getattr(error, "ctx", None)
        name = context.command_path if context else "dse"
        return _fail(" ".join(error.format_message().split()), 2, name)
    except SourceError as error:
        for line in error.lines():
            click.echo(line, err=True)
        return 2
    except RunError as error:
        return _fail(str(error), 2)
    except BrokenPipeError:
        return 1
    except Exception as error:
        _trace(words)
        summary = " ".join(f"{type(error).__name__}: {error}".split())
        return _fail(f"internal error: {summary} (dse --debug shows where)", 1)
    return code if isinstance(code, int) else 0


def main() -> None:
    """The `dse` program."""
    sys.exit(run())


def _trace(words: Sequence[str]) -> None:
    if "--debug" in words:
        click.echo(traceback.format_exc(), err=True)


def _fail(message: str, code: int, name: str = "dse") -> int:
    click.echo(f"{name}: error: {message}", err=True)
    return code

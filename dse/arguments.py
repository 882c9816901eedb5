"""Arguments and options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dse.backend import Backend
from dse.cache import default_folder

if TYPE_CHECKING:
    from dse.space import Space

_Function = TypeVar("_Function", bound=Callable[..., Any])


def cache_options(function: _Function) -> _Function:
    """Add `--cache DIR` and `--no-cache`."""
    function = click.option(
        "--no-cache", is_flag=True, help="Neither read nor write the shared cache."
    )(function)
    return click.option(
        "--cache",
        type=click.Path(file_okay=False, path_type=Path),
        help="Folder of the shared cache (default: DSE_CACHE, or dse in the user's cache folder).",
    )(function)


liberty_option = click.option(
    "--liberty",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Synthesise to the cells of this liberty file too.",
)
"""Add `--liberty FILE`."""


def cache_folder(cache: Path | None, no_cache: bool) -> Path | None:
    """The folder the two options ask for; None is no cache.

    Raises:
        UsageError: They contradict each other.
    """
    if no_cache and cache is not None:
        raise click.UsageError("--cache and --no-cache must not be given together")
    return None if no_cache else cache or default_folder(os.environ)


def default_jobs() -> int:
    """The processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def open_space(name: str, backend: Backend) -> Space:
    """The space given by path or bundled name.

    Raises:
        UsageError: There is none.
        SourceError: It has mistakes.
    """
    from dse.bundled import find_space
    from dse.space import load_space

    try:
        path = find_space(name)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    return load_space(path, Backend.load(backend.vocabulary))

"""Workloads: algorithms to run, one file each, found without a list of them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from difflib import get_close_matches
from functools import cache

from workloads.workload import Buffer, Kernel, Values, Vector, Workload

__all__ = ["Buffer", "Kernel", "Values", "Vector", "Workload", "get", "register", "workload_names"]

_FACTORIES: dict[str, tuple[Callable[..., Workload], int | None]] = {}


def register(
    name: str, *, default_bytes: int | None = None
) -> Callable[[Callable[..., Workload]], Callable[..., Workload]]:
    """Decorate the function that makes workload `name`.

    Args:
        name: Name of the workload.
        default_bytes: Message size where none is given; None where the size is fixed.
    """

    def add(factory: Callable[..., Workload]) -> Callable[..., Workload]:
        _FACTORIES[name] = (factory, default_bytes)
        return factory

    return add


@cache
def _discover() -> None:
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        importlib.import_module(f"{__name__}.{module.name}")


def workload_names() -> tuple[str, ...]:
    """Names of all workloads, sorted."""
    _discover()
    return tuple(sorted(_FACTORIES))


def is_sized(name: str) -> bool:
    """Whether the workload takes a message size."""
    _discover()
    return _FACTORIES[name][1] is not None


@cache
def get(name: str, message_bytes: int | None = None) -> Workload:
    """Make a workload, for a message size in bytes where it takes one.

    Args:
        name: Its name; the size may stand there too, as in `sha256@1480`.
        message_bytes: The size; else that of the name, else the workload's own.

    Raises:
        ValueError: No such workload, or a size it does not accept.
    """
    _discover()
    name, _, size = name.partition("@")
    if message_bytes is None and size.isdecimal():
        message_bytes = int(size)
    if name not in _FACTORIES or (size and str(message_bytes) != size):
        near = get_close_matches(name, _FACTORIES, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"workload must be one of {list(workload_names())}, not {name!r}{hint}")
    factory, default = _FACTORIES[name]
    if default is None:
        if message_bytes is not None:
            raise ValueError(f"workload {name} must have no message size, not {message_bytes}")
        return factory()
    return factory(default if message_bytes is None else message_bytes)

"""Engines: the units of the co-processor, one file each, found without a list of them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from hw.coprocessors.engines.engine import Algorithm, Engine

__all__ = ["algorithm", "algorithm_names", "engine_of", "engines"]


@cache
def engines() -> Mapping[str, Engine]:
    """Return all engines by name, sorted: the `ENGINE` of each file of this folder that has one."""
    found: dict[str, Engine] = {}
    for module in pkgutil.iter_modules(__path__):
        engine = getattr(importlib.import_module(f"{__name__}.{module.name}"), "ENGINE", None)
        if isinstance(engine, Engine):
            found[engine.name] = engine
    return MappingProxyType(dict(sorted(found.items())))


def algorithm_names() -> tuple[str, ...]:
    """Return the algorithms of all engines, sorted."""
    return tuple(sorted(name for engine in engines().values() for name in engine.algorithms))


def engine_of(name: str) -> Engine:
    """Return the engine that has the algorithm `name`.

    Raises:
        ValueError: when none has; the message lists those there are.
    """
    for engine in engines().values():
        if name in engine.algorithms:
            return engine
    names = ", ".join(algorithm_names())
    raise ValueError(f"algorithm must be one of {names}, not {name!r}")


def algorithm(name: str) -> Algorithm:
    """Return the algorithm `name` of whichever engine has it."""
    return engine_of(name).algorithms[name]

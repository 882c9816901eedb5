"""Reproductions: designs of ours that stand for a paper's configurations, and their figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dse.backend import Backend
from dse.compare.definition import Definition, Figure, ratio
from dse.compare.ledger import Ledger, Reproduction
from dse.compare.metric import LEDGER_METRICS
from dse.design import Design
from dse.evaluation import Evaluation
from dse.evaluator import Evaluator
from dse.space import Space, parse_space
from dse.vocabulary import Vocabulary
from dse.yaml_source import Path as KeyPath
from dse.yaml_source import Problem, SourceError

Evaluate = Callable[[Space, Design], Evaluation]
"""Evaluates a design of a space where only kernels are left open, taking the best of those."""

_OURS: dict[tuple[str, str], tuple[str, str, str]] = {
    # (metric, scope): metric of the evaluation, and the ledger metric and unit that it is
    ("cycles", ""): ("cycles", "cycles", "cycles"),
    ("instructions", ""): ("instructions", "instructions", "instructions"),
    ("cycles_per_byte", ""): ("cycles_per_byte", "cycles_per_byte", "cycles/byte"),
    ("code_bytes", ""): ("code_bytes", "code_bytes", "bytes"),
    ("data_bytes", ""): ("data_bytes", "data_bytes", "bytes"),
    ("tap_code", ""): ("tap_code", "tap_code", "cycles bytes"),
    ("tap_ise", ""): ("tap_ise", "tap_ise", "cycles GE"),
    ("tap_silicon_ge", ""): ("tap_silicon_ge", "tap_silicon_ge", "ns GE"),
    ("area", "whole"): ("area_ge", "area", "GE"),
    ("area", "core"): ("core_area_ge", "area", "GE"),
    ("area", "extension"): ("extension_area_ge", "area", "GE"),
    ("ffs", "whole"): ("ffs", "ffs", "FF"),
    ("ffs", "core"): ("core_ffs", "ffs", "FF"),
    ("ffs", "extension"): ("extension_ffs", "ffs", "FF"),
    ("luts", "whole"): ("luts", "luts", "LUT"),
    ("luts", "core"): ("core_luts", "luts", "LUT"),
    ("luts", "extension"): ("extension_luts", "luts", "LUT"),
    ("tap_silicon_luts", ""): ("tap_silicon_luts", "tap_silicon_luts", "cycles LUT"),
}
_STAND_INS = {
    "luts": "area",
    "tap_silicon_luts": "tap_silicon_ge",
    "code_lines": "static_instructions",
}
"""What is shown beside a figure that this design has not: never divided, for the names differ."""


@dataclass(frozen=True)
class Reproduced:
    """A reproduction and what its design was measured to do."""

    reproduction: Reproduction
    evaluation: Evaluation
    technology: str
    core: str

    def figure(self, metric: str, scope: str = "") -> Figure | None:
        """Our figure for a ledger metric, its stand-in where we have none, or None."""
        found = self._measured(metric, scope)
        if found is None and metric in _STAND_INS:
            metric = _STAND_INS[metric]
            found = self._measured(metric, scope)
        if found is None:
            return None
        value, unit = found
        known = LEDGER_METRICS[metric]
        return Figure(
            value,
            Definition(
                metric, unit, "absolute",
                per=self.reproduction.per if known.is_of_run else "",
                key_schedule=self.reproduction.key_schedule if known.is_of_program else "",
                scope=scope,
                technology=self.technology if known.is_of_hardware else "",
                core=self.core,
            ),
        )  # fmt: skip

    def _measured(self, metric: str, scope: str) -> tuple[float, str] | None:
        metrics = self.evaluation.metrics
        if (metric, scope) in _OURS:
            name, _, unit = _OURS[metric, scope]
            return (metrics[name].value, unit) if name in metrics else None
        parts = {
            "program_bytes": ("code_bytes", "data_bytes"),
            "static_instructions": ("code_bytes",),
            "cpi": ("cycles", "instructions"),
        }.get(metric, ())
        if scope or not parts or any(part not in metrics for part in parts):
            return None
        values = [metrics[part].value for part in parts]
        if metric == "program_bytes":
            return sum(values), "bytes"
        if metric == "static_instructions":
            return values[0] / 4, "instructions"
        return (values[0] / values[1], "cycles/instruction") if values[1] else None


def relative(this: Figure, baseline: Figure, form: str, against: str) -> Figure:
    """A figure relative to a baseline: `ratio` is this over the baseline, `factor` the inverse.

    Raises:
        UnlikeFiguresError: The two are not of one definition, technology and host core.
        ZeroDivisionError: The divisor is zero.
    """
    over, under = (baseline, this) if form == "factor" else (this, baseline)
    value = ratio(over, under)
    definition = this.definition
    return Figure(
        value,
        Definition(
            definition.metric, "x" if form == "factor" else "ratio", form, definition.per,
            definition.key_schedule, definition.scope, against,
        ),
    )  # fmt: skip


def evaluator(backend: Backend, cache_folder: Path | None) -> Evaluate:
    """The normal machinery as an `Evaluate`, in this process and with the shared cache."""

    def evaluate(space: Space, design: Design) -> Evaluation:
        engine = Evaluator(space, backend, cache_folder, jobs=0)
        try:
            return engine.evaluate([engine.best_kernels(design, fixed={})])[0]
        finally:
            engine.close()

    return evaluate


def reproduction_space(ledger: Ledger, index: int, vocabulary: Vocabulary) -> Space:
    """The space of a reproduction: everything fixed but kernels, every entry of `choose` in.

    Raises:
        SourceError: located in the ledger's file.
    """
    reproduction = ledger.file.reproductions[index]
    path: KeyPath = ("reproductions", index, "space")
    text = json.dumps({"name": reproduction.id, **reproduction.space}, indent=1)
    try:
        space = parse_space(text, Path(ledger.source.name), vocabulary)
    except SourceError as error:
        problems = [_relocated(ledger, path, problem.message) for problem in error.problems]
        raise SourceError(ledger.source.name, problems) from None
    entries = {entry.name for entry in space.entries}
    open_parameters = [
        p.name for p in space.free if p.name not in entries and not p.name.startswith("kernel.")
    ]
    if open_parameters:
        message = f"must leave nothing to choose, not {', '.join(open_parameters)}"
        raise SourceError(ledger.source.name, [_relocated(ledger, path, message)])
    return space


def reproduce(ledger: Ledger, evaluate: Evaluate, vocabulary: Vocabulary) -> dict[str, Reproduced]:
    """Evaluate every reproduction of a ledger, by id.

    Raises:
        SourceError: A reproduction's space is wrong, located in the ledger's file.
    """
    found = {}
    spaces = [
        reproduction_space(ledger, index, vocabulary)
        for index in range(len(ledger.file.reproductions))
    ]
    for reproduction, space in zip(ledger.file.reproductions, spaces, strict=True):
        design = space.neutral.replace({entry.name: True for entry in space.entries})
        evaluation = evaluate(space, design)
        own = f"our {design.get('core.pipeline')}-stage core"
        core = str(design.get("core.preset", own))
        found[reproduction.id] = Reproduced(reproduction, evaluation, space.technology.name, core)
    return found


def _relocated(ledger: Ledger, path: KeyPath, message: str) -> Problem:
    """A problem of the inner space at its own key in the ledger, as far as the message names it."""
    named: Sequence[str] = message.split(": ", 1)[0].split(".") if ": " in message else ()
    for part in named:
        below = (*path, int(part) if part.isdigit() else part)
        if below not in ledger.source.values:
            break
        path = below
    line, column = ledger.source.position(path)
    return Problem(line, column, f"reproductions.{path[1]}.space: {message}")

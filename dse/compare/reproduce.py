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
from dse.compare.unit import TECHNOLOGY, PriceUnit
from dse.design import Design
from dse.evaluation import Evaluation
from dse.evaluator import Evaluator
from dse.space import Space, parse_space
from dse.vocabulary import Vocabulary
from dse.yaml_source import Path as KeyPath
from dse.yaml_source import Problem, SourceError

Evaluate = Callable[[Space, Design], Evaluation]
"""Evaluates a design of a space where only kernels are left open, taking the best of those."""

_OURS: dict[tuple[str, str], tuple[str, str]] = {
    # the ledger's metric and scope: metric of the evaluation, and its unit in the ledger
    ("cycles", ""): ("cycles", "cycles"),
    ("instructions", ""): ("instructions", "instructions"),
    ("cycles_per_byte", ""): ("cycles_per_byte", "cycles/byte"),
    ("code_bytes", ""): ("code_bytes", "bytes"),
    ("data_bytes", ""): ("data_bytes", "bytes"),
    ("tap_code", ""): ("tap_code", "cycles bytes"),
    ("tap_ise", ""): ("tap_ise", "cycles GE"),
    ("tap_silicon_ge", ""): ("tap_silicon_ge", "ns GE"),
    ("area", "unit"): ("unit_area_ge", "GE"),
    ("area", "whole"): ("area_ge", "GE"),
    ("area", "core"): ("core_area_ge", "GE"),
    ("area", "extension"): ("extension_area_ge", "GE"),
    ("ffs", "whole"): ("ffs", "FF"),
    ("ffs", "core"): ("core_ffs", "FF"),
    ("ffs", "extension"): ("extension_ffs", "FF"),
    ("luts", "whole"): ("luts", "LUT"),
    ("luts", "core"): ("core_luts", "LUT"),
    ("luts", "extension"): ("extension_luts", "LUT"),
    ("luts", "co-processor"): ("coprocessor_luts", "LUT"),
    ("ffs", "co-processor"): ("coprocessor_ffs", "FF"),
    ("brams", "co-processor"): ("coprocessor_brams", "BRAM"),
    ("brams", "whole"): ("brams", "BRAM"),
}
MAPPED_LUTS = "7 series, our mapping"
_STAND_INS = {
    "luts": "area",
    "tap_silicon_luts": "tap_silicon_ge",
    "code_lines": "static_instructions",
}
"""What is shown beside a figure that this design has not: never divided, for the names differ."""


@dataclass(frozen=True)
class Reproduced:
    """A reproduction and what its design was measured to do.

    `mnemonics` are those of the instructions that `choose` adds.
    """

    reproduction: Reproduction
    evaluation: Evaluation
    technology: str
    core: str
    mnemonics: frozenset[str] = frozenset()

    def figure(self, metric: str, scope: str = "") -> Figure | None:
        """Our figure for a ledger metric, what comes closest where we have none, or None."""
        candidates = [(metric, scope), (_STAND_INS.get(metric, metric), scope)]
        if LEDGER_METRICS[metric].is_of_program:
            candidates.append((metric, ""))
        for name, part in candidates:
            found = self._measured(name, part)
            if found is not None:
                break
        else:
            return None
        value, unit = found
        known = LEDGER_METRICS[name]
        return Figure(
            value,
            Definition(
                name, unit, "absolute",
                per=self.reproduction.per if known.is_of_run else "",
                key_schedule=self.reproduction.key_schedule if known.is_of_program else "",
                scope=part,
                technology=self._technology(name) if known.is_of_hardware else "",
                core=self.core,
            ),
        )  # fmt: skip

    def _technology(self, metric: str) -> str:
        """What priced the hardware: a design of any technology is mapped to LUTs too."""
        return MAPPED_LUTS if metric in ("luts", "brams", "tap_silicon_luts") else self.technology

    def _measured(self, metric: str, scope: str) -> tuple[float, str] | None:
        metrics = self.evaluation.metrics
        if (metric, scope) in _OURS:
            name, unit = _OURS[metric, scope]
            return (metrics[name].value, unit) if name in metrics else None
        if metric == "frequency" and scope == "whole" and "period_ns" in metrics:
            return 1000 / metrics["period_ns"].value, "MHz"
        if "cycles" not in metrics or (scope and metric != "instructions"):
            return None
        if metric == "instructions":
            return self._executed(scope)
        values = {name: quantity.value for name, quantity in metrics.items()}
        if metric == "program_bytes":
            return values["code_bytes"] + values["data_bytes"], "bytes"
        if metric == "static_instructions":
            return values["code_bytes"] / 4, "instructions"
        if metric == "cpi":
            return values["cycles"] / values["instructions"], "cycles/instruction"
        if metric == "tap_silicon_luts" and "luts" in values:
            return values["cycles"] * values["luts"], "cycles LUT"
        return None

    def _executed(self, mnemonic: str) -> tuple[float, str] | None:
        """How often one of the design's own instructions is executed."""
        if mnemonic not in self.mnemonics:
            return None
        workloads = self.evaluation.workloads.values()
        return float(sum(data["counts"].get(mnemonic, 0) for data in workloads)), "instructions"


def core_name(design: Design) -> str:
    """The host core of a design, in the words of a ledger."""
    return str(design.get("core.preset", f"our {design.get('core.pipeline')}-stage core"))


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


def reproduction_space(ledger: Ledger, index: int, vocabulary: Vocabulary) -> Space | None:
    """The space of a reproduction: everything fixed but kernels, every entry of `choose` in.

    None where the reproduction is a unit.

    Raises:
        SourceError: located in the ledger's file.
    """
    reproduction = ledger.file.reproductions[index]
    if reproduction.space is None:
        return None
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


def reproduce(
    ledger: Ledger, evaluate: Evaluate, vocabulary: Vocabulary, price_unit: PriceUnit
) -> dict[str, Reproduced]:
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
        if space is None:
            assert reproduction.unit is not None
            priced = price_unit(reproduction.unit)
            found[reproduction.id] = Reproduced(reproduction, priced, TECHNOLOGY, "")
            continue
        design = space.neutral.replace({entry.name: True for entry in space.entries})
        evaluation = evaluate(space, design)
        core = core_name(design)
        added = frozenset(name for entry in space.entries for name in entry.provides)
        found[reproduction.id] = Reproduced(
            reproduction, evaluation, space.technology.name, core, added
        )
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

"""What a figure means, and the one place where a figure is divided by another."""

from __future__ import annotations

from dataclasses import dataclass

from dse.compare.metric import LEDGER_METRICS


class UnlikeFiguresError(ValueError):
    """Two figures that must not be divided by each other."""


@dataclass(frozen=True)
class Definition:
    """All that two figures must share before one may be divided by the other.

    Attributes:
        metric: A name of `LEDGER_METRICS`; each time-area product has its own.
        unit: Of the value; `ratio` or `x` for a relative figure.
        form: `absolute`, `ratio` (this / baseline) or `factor` (baseline / this).
        per: What the figure is of: `block`, `key schedule`, `byte`, ...
        key_schedule: `included`, `excluded` or empty where there is none.
        scope: Which part of program or hardware: `extension`, `core`, ...
        against: Configuration of the baseline of a relative figure.
        technology: What prices the hardware; binds absolute figures only.
        core: Host core; binds absolute figures only.
    """

    metric: str
    unit: str
    form: str = "absolute"
    per: str = ""
    key_schedule: str = ""
    scope: str = ""
    against: str = ""
    technology: str = ""
    core: str = ""

    def __str__(self) -> str:
        """One line: the metric's meaning and every qualification."""
        known = LEDGER_METRICS[self.metric]
        parts = [f"{self.metric} = {known.definition}"]
        if self.form != "absolute":
            order = "baseline over this" if self.form == "factor" else "this over baseline"
            parts.append(f"{order} ({self.against})")
        parts += [f"of the {self.scope}"] if self.scope else []
        parts += [f"per {self.per}"] if self.per else []
        parts += [f"key schedule {self.key_schedule}"] if self.key_schedule else []
        if self.form == "absolute":
            parts += [f"in {self.technology}"] if known.is_of_hardware and self.technology else []
            parts += [f"on {self.core}"] if binds_core(self) and self.core else []
        return ", ".join(parts)


@dataclass(frozen=True)
class Figure:
    """A value and its meaning."""

    value: float
    definition: Definition


def binds_core(definition: Definition) -> bool:
    """Whether an absolute figure belongs to one host core: its cycles, or its area as a whole."""
    known = LEDGER_METRICS[definition.metric]
    return known.is_of_core or (known.is_of_hardware and definition.scope in ("whole", "core"))


def unlike(one: Definition, other: Definition) -> str:
    """Why figures of two definitions must not be divided; empty where they may."""
    known = LEDGER_METRICS[other.metric]
    shared = ["metric", "unit", "form", "per", "key_schedule", "scope", "against"]
    if other.form == "absolute":
        shared += ["technology"] if known.is_of_hardware else []
        shared += ["core"] if binds_core(other) else []
    for name in shared:
        mine, theirs = getattr(one, name), getattr(other, name)
        label = {"against": "baseline", "core": "host core"}.get(name, name.replace("_", " "))
        if mine != theirs:
            nothing = "everything" if name == "scope" else "not stated"
            return f"unlike {label}: {mine or nothing} and {theirs or nothing}"
        if name in ("technology", "core") and not mine:
            return f"{label} is stated on neither side"
    return ""


def ratio(over: Figure, under: Figure) -> float:
    """One value over another of the same definition; 1 where both are zero.

    Raises:
        UnlikeFiguresError: The definitions, technologies or host cores differ.
        ZeroDivisionError: The second value alone is zero.
    """
    reason = unlike(over.definition, under.definition)
    if reason:
        raise UnlikeFiguresError(
            f"figures must have one definition to be divided, not two ({reason})"
        )
    if under.value == 0:
        if over.value == 0:
            return 1.0
        raise ZeroDivisionError(f"{over.value:g} must not be divided by a figure of 0")
    return over.value / under.value

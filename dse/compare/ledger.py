"""The ledger of one paper: its published figures, each with unit, definition and source.

A ledger is one YAML file, `baselines/<paper>.yaml`. It holds facts (what was printed, read from an
artefact, or re-measured on one) and, under `reproductions`, the designs of ours that stand for the
paper's configurations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict

from dse.bundled import bundled_folder
from dse.compare.definition import Definition, Figure
from dse.compare.metric import FORM_UNITS, LEDGER_METRICS
from dse.suggestion import one_of, suggest
from dse.validation import validate
from dse.yaml_source import Path as KeyPath
from dse.yaml_source import Problem, Source, SourceError, dotted, read_yaml

LedgerError = SourceError


def _text(value: str) -> str:
    if not value.strip():
        raise ValueError("must be text, not empty")
    return value


def _metric(value: str) -> str:
    if value not in LEDGER_METRICS:
        names = list(LEDGER_METRICS)
        raise ValueError(f"must be {one_of(names)}, not {value!r}{suggest(value, names)}")
    return value


def _shown(value: str) -> str:
    _metric(value.partition("/")[0])
    return value


Text = Annotated[str, AfterValidator(_text)]
MetricName = Annotated[str, AfterValidator(_metric)]
Shown = Annotated[str, AfterValidator(_shown)]
KeySchedule = Literal["", "included", "excluded"]


class Strict(BaseModel):
    """A mapping with exactly the keys it declares, each of exactly its type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Origin(Strict):
    """Where figures were read.

    `printed`: by the authors, in the paper or its repository; `artefact`: read off what they
    published (sizes of their binaries); `remeasured`: by us, running their artefact as `how` says.
    Beside a printed figure `how` is what the authors say of their tools; it is not cited.
    """

    seen: Text
    kind: Literal["printed", "artefact", "remeasured"]
    how: str = ""


class Entry(Strict):
    """One published figure."""

    algorithm: Text
    configuration: Text
    metric: MetricName
    value: int | float
    unit: Text
    source: Text
    table: str = ""
    form: Literal["absolute", "ratio", "factor", "gain", "increase"] = "absolute"
    relative_to: str = ""
    bound: Literal["", "min", "max", "about", "estimate"] = ""
    per: str = ""
    key_schedule: KeySchedule = ""
    scope: str = ""
    technology: str = ""
    core: str = ""
    note: str = ""

    def figure(self) -> Figure:
        """The figure to compare: a gain of 68 % as a ratio of 0.32, everything else as printed."""
        form, value = self.form, float(self.value)
        if form in ("gain", "increase"):
            value = (100 - value if form == "gain" else 100 + value) / 100
            form = "ratio"
        unit = self.unit if form == "absolute" else FORM_UNITS[form]
        return Figure(
            value,
            Definition(
                self.metric, unit, form, self.per, self.key_schedule, self.scope,
                self.relative_to, self.technology, self.core,
            ),
        )  # fmt: skip


class Unit(Strict):
    """A functional unit alone: the merged datapaths of some instructions, counted in NAND2.

    Attributes:
        xlen: Register width.
        instructions: Mnemonics.
        circuits: By table, the circuit that looks it up.
        cycles: How many they take; of several, those of `hw.serial`.
    """

    xlen: Literal[32, 64] = 32
    instructions: list[Text]
    circuits: dict[str, str] = {}
    cycles: int = 1


class Reproduction(Strict):
    """A design of ours that stands for a configuration of the paper.

    It has either a `space` or a `unit`.

    Attributes:
        id: Its name in this file.
        algorithm: As in the entries.
        published_as: The entries' algorithm, where it is another: one figure for several.
        only: Metrics of entries to compare with, if not all: one figure for several is shown once.
        configuration: As in the entries; one that has none gets rows without published figures.
        space: A search space without a choice left in it: what `choose` lists is in the design.
        unit: A functional unit, for its area alone.
        per: What the workload's figures are of, in the ledger's words.
        key_schedule: Whether the workload's figures include it.
        baselines: Ids that relative figures are counted against.
        figures: Metrics (`cycles`, `area/extension`) shown even where nothing is published.
        ratios: Metrics shown relative to each baseline; the published side is worked out from
            the paper's absolute figures.
        note: What this design is.
        reasons: By metric, why an absolute figure differs or what the row says.
        ratio_reasons: The same for relative figures.
    """

    id: Text
    algorithm: Text
    configuration: Text
    published_as: str = ""
    only: list[Text] = []
    space: dict[str, Any] | None = None
    unit: Unit | None = None
    per: str = ""
    key_schedule: KeySchedule = ""
    baselines: list[Text] = []
    figures: list[Shown] = []
    ratios: list[Shown] = []
    note: str = ""
    reasons: dict[MetricName, Text] = {}
    ratio_reasons: dict[MetricName, Text] = {}


class LedgerFile(Strict):
    """The whole file."""

    paper: Text
    title: Text
    authors: Text
    year: int
    url: Text
    doi: str = ""
    missing: list[Text] = []  # what of the paper could not be read
    sources: dict[str, Origin]
    entries: list[Entry] = []
    reproductions: list[Reproduction] = []


@dataclass(frozen=True)
class Ledger:
    """A checked ledger file; `source` keeps the position of every value."""

    file: LedgerFile
    source: Source

    @property
    def paper(self) -> str:
        """The paper's short name."""
        return self.file.paper

    def cite(self, entry: Entry) -> str:
        """Kind, place, how it was measured and what qualifies it: the words beside a figure."""
        origin = self.file.sources[entry.source]
        table = f", {entry.table}" if entry.table else ""
        is_told = origin.how and origin.kind != "printed"
        how = f" ({origin.how})" if is_told else ""
        kind = {"remeasured": "re-measured", "artefact": "read from artefact"}
        bound = f", {entry.bound}" if entry.bound else ""
        note = f"; {entry.note}" if entry.note else ""
        return f"{kind.get(origin.kind, origin.kind)}: {origin.seen}{table}{how}{bound}{note}"

    def kind(self, entry: Entry) -> str:
        """`printed`, `artefact` or `remeasured`."""
        return self.file.sources[entry.source].kind


def paper_names() -> tuple[str, ...]:
    """Short names of the bundled ledgers, sorted."""
    return tuple(sorted(file.stem for file in bundled_folder("baselines").glob("*.yaml")))


def find_paper(name: str) -> Path:
    """The file of a ledger given by path, or by the name of a bundled one.

    Raises:
        ValueError: There is no such file and no such bundled ledger.
    """
    path = Path(name)
    if path.is_file():
        return path
    names = paper_names()
    if name in names:
        return bundled_folder("baselines") / f"{name}.yaml"
    hint = suggest(path.stem, names)
    raise ValueError(
        f"PAPER must be a ledger file or a bundled paper ({one_of(names)}), not {name!r}{hint}"
    )


@lru_cache
def load_ledger(file: Path) -> Ledger:
    """Read and check a ledger file.

    Raises:
        LedgerError: with one located line for every mistake.
    """
    try:
        text = file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        problem = Problem(1, 1, f"file must be UTF-8 text ({error.reason})")
        raise LedgerError(str(file), [problem]) from None
    except OSError as error:
        problem = Problem(1, 1, f"cannot be read: {error.strerror}")
        raise LedgerError(str(file), [problem]) from None
    return parse_ledger(text, str(file))


def parse_ledger(text: str, name: str) -> Ledger:
    """Turn the text of a ledger file into a `Ledger`; `name` stands in its messages.

    Raises:
        LedgerError: with one located line for every mistake.
    """
    source = read_yaml(text, name)
    file = validate(LedgerFile, source)
    problems = []
    for path, message in (*_entry_problems(file), *_reproduction_problems(file)):
        line, column = source.position(path)
        problems.append(Problem(line, column, f"{dotted(path)}: {message}"))
    if problems:
        raise LedgerError(name, problems)
    return Ledger(file, source)


def _entry_problems(file: LedgerFile) -> Iterator[tuple[KeyPath, str]]:
    seen: dict[Entry, int] = {}
    for index, entry in enumerate(file.entries):
        path: KeyPath = ("entries", index)
        metric = LEDGER_METRICS[entry.metric]
        if entry.source not in file.sources:
            hint = suggest(entry.source, file.sources)
            names = one_of(list(file.sources)) or "declared under `sources`"
            yield (*path, "source"), f"must be {names}, not {entry.source!r}{hint}"
        if entry.form == "absolute":
            if entry.unit not in metric.units:
                message = f"{entry.metric} must be in {one_of(metric.units)}, not {entry.unit!r}"
                yield (*path, "unit"), message
            if metric.is_of_hardware and not entry.technology:
                yield path, f"key 'technology' must be given, for {entry.metric} depends on it"
            if metric.is_of_hardware and not metric.is_of_core and not entry.scope:
                yield path, f"key 'scope' must be given: which part has this {entry.metric}"
            if entry.relative_to != "":
                message = "must be left out, for the figure is absolute; give `form` otherwise"
                yield (*path, "relative_to"), message
        else:
            if not entry.relative_to:
                yield path, f"key 'relative_to' must be given, for the form is {entry.form}"
            if entry.unit != FORM_UNITS[entry.form]:
                wanted = FORM_UNITS[entry.form]
                yield (*path, "unit"), f"a {entry.form} must be in {wanted!r}, not {entry.unit!r}"
        if entry.per and not metric.is_of_run:
            yield (*path, "per"), f"must be left out, for {entry.metric} is not of one run"
        if entry.key_schedule and not metric.is_of_program:
            yield (*path, "key_schedule"), f"must be left out, for {entry.metric} has none"
        same = entry.model_copy(update={"value": 0, "note": ""})
        if same in seen:
            yield path, f"is given twice (first as entries.{seen[same]})"
        seen.setdefault(same, index)


def _reproduction_problems(file: LedgerFile) -> Iterator[tuple[KeyPath, str]]:
    ids = [reproduction.id for reproduction in file.reproductions]
    for index, reproduction in enumerate(file.reproductions):
        path: KeyPath = ("reproductions", index)
        if reproduction.id in ids[:index]:
            yield (*path, "id"), f"{reproduction.id!r} is given twice"
        if (reproduction.space is None) == (reproduction.unit is None):
            yield path, "either key 'space' or key 'unit' must be given"
        for position, baseline in enumerate(reproduction.baselines):
            where = (*path, "baselines", position)
            others = [name for name in ids if name != reproduction.id]
            if baseline not in others:
                names = one_of(others) or "another reproduction, of which there is none"
                yield where, f"must be {names}, not {baseline!r}{suggest(baseline, others)}"

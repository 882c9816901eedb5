"""`Space`: what may be chosen, what is run, what is better; read from a YAML file."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from dse.constraint import Constraint
from dse.coprocessor import ENTRY, without_idle_choices
from dse.design import Design, Value
from dse.metrics import ON_REQUEST
from dse.parameter import Parameter
from dse.vocabulary import REGISTRIES, Vocabulary
from dse.yaml_source import Problem, SourceError, read_yaml

SpaceError = SourceError


@dataclass(frozen=True)
class Technology:
    """Name of the technology, and picoseconds in one FO4 delay."""

    name: str = "ge"
    fo4_ps: float = 50.0


@dataclass(frozen=True)
class WorkloadUse:
    """A workload of the mix.

    `kernels` are the variants a design may choose from; one alone is pinned. `bytes` is the
    message size, None for workloads without one; where a mix has several of one workload, their
    names end in "@<bytes>". `requires` names, by kernel, the instructions and extensions it cannot
    be compiled without, and the co-processor where it drives it.
    """

    workload: str
    weight: float
    kernels: tuple[str, ...]
    bytes: int | None = None
    requires: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Entry:
    """What may be in or out: an entry of `choose`, or the co-processor.

    An entry of `choose` is an extension, a single instruction, or a proposal's file; `provides` are
    its own name and the mnemonics it brings, for a proposal also `view_need` of its `views`: other
    views of kernels (`isa.view`), offered with it.
    """

    name: str
    kind: str  # "extension", "instruction", "proposal" or "coprocessor"
    provides: tuple[str, ...] = ()
    file: Path | None = None
    file_digest: str = ""
    views: tuple[str, ...] = ()


def view_need(view: str) -> str:
    """What a kernel in a view requires: a proposal with that view."""
    return f"a proposal in the {view} view"


@dataclass(frozen=True)
class Objective:
    """A metric to optimise, and which way is better."""

    metric: str
    is_minimised: bool

    def loss(self, value: float) -> float:
        """The value turned so that smaller is better."""
        return value if self.is_minimised else -value


@dataclass(frozen=True)
class SearchSettings:
    """Sampler, number of distinct designs to evaluate, and seed."""

    sampler: str
    trials: int
    seed: int


@dataclass(frozen=True)
class Space:
    """A search space.

    `parameters` holds every parameter a design has, fixed ones with a single choice, in the order
    of the file; `text` and `file` are what it was read from; `base_provides` are the mnemonics of
    the base set; `points` are settings of designs that have a name, such as that of a paper.
    """

    name: str
    workloads: tuple[WorkloadUse, ...]
    baseline: Mapping[str, Value]
    technology: Technology
    base: str
    entries: tuple[Entry, ...]
    parameters: tuple[Parameter, ...]
    objectives: tuple[Objective, ...]
    constraints: tuple[Constraint, ...]
    search: SearchSettings
    text: str
    file: Path
    base_provides: tuple[str, ...] = ()
    points: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)

    @cached_property
    def by_name(self) -> dict[str, Parameter]:
        """Parameters by name."""
        return {parameter.name: parameter for parameter in self.parameters}

    @property
    def free(self) -> tuple[Parameter, ...]:
        """Parameters with more than one choice."""
        return tuple(p for p in self.parameters if len(p.choices) > 1)

    @property
    def raw_size(self) -> int:
        """Number of raw combinations."""
        return math.prod(len(p.choices) for p in self.parameters)

    @cached_property
    def neutral(self) -> Design:
        """Every parameter at its neutral choice."""
        return Design({p.name: p.neutral for p in self.parameters})

    def provided(self, design: Mapping[str, Value]) -> frozenset[str]:
        """Names of the extensions and instructions that a design has."""
        names = {self.base, *self.base_provides}
        for entry in self.entries:
            if design[entry.name]:
                names.update((entry.name, *entry.provides))
        return frozenset(names)

    def reduce(self, design: Mapping[str, Value]) -> Design:
        """The design with what cannot matter made neutral, decided without evaluating.

        Parameters whose condition does not hold take their neutral choice, a kernel that the
        chosen instructions do not admit becomes the first that they do, and a co-processor that
        nothing uses is left out.
        """
        values = dict(design)
        provided = self.provided(design)
        for use in self.workloads:
            name = f"kernel.{use.workload}"
            if not set(use.requires.get(str(values.get(name)), ())) <= provided:
                admitted = (k for k in use.kernels if set(use.requires.get(k, ())) <= provided)
                values[name] = next(admitted, use.kernels[0])
        if values.get(ENTRY):
            values.update(without_idle_choices(self.workloads, self.parameters, values))
        for parameter in self.parameters:
            condition = parameter.condition
            if condition and values[condition.parameter] not in condition.values:
                values[parameter.name] = parameter.neutral
        return Design(values)

    def designs(self) -> Iterator[Design]:
        """Every design of the space once, reduced, in a fixed order."""
        seen: set[str] = set()
        names = [p.name for p in self.parameters]
        for choice in itertools.product(*(p.choices for p in self.parameters)):
            design = self.reduce(dict(zip(names, choice, strict=True)))
            if design.digest not in seen:
                seen.add(design.digest)
                yield design

    def for_workload(self, workload: str) -> Space:
        """This space with one workload alone."""
        others = {f"kernel.{use.workload}" for use in self.workloads if use.workload != workload}
        return replace(
            self,
            workloads=tuple(use for use in self.workloads if use.workload == workload),
            parameters=tuple(p for p in self.parameters if p.name not in others),
        )

    def asks_for(self, metrics: frozenset[str]) -> bool:
        """Whether an objective or a constraint is one of `metrics`."""
        asked = {o.metric for o in self.objectives} | {c.metric for c in self.constraints}
        return not asked.isdisjoint(metrics)

    @cached_property
    def evaluation_digest(self) -> str:
        """Digest of all that an evaluation depends on beside the design.

        Objectives and constraints are part of it only where they ask for a metric that is not
        measured otherwise, baseline and search settings not at all; the choices are, because the
        first of each decides what a design is reduced to.
        """
        content = {
            "on request": self.asks_for(ON_REQUEST),
            "workloads": [[u.workload, u.weight, u.bytes] for u in self.workloads],
            "technology": [self.technology.name, self.technology.fo4_ps],
            "base": self.base,
            "parameters": [[p.name, p.choices] for p in self.parameters],
            "entries": [[e.name, e.kind, e.file_digest] for e in self.entries],
        }
        text = json.dumps(content, sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    @property
    def digest(self) -> str:
        """Digest of the text and of the proposal files it names."""
        content = self.text + "".join(entry.file_digest for entry in self.entries)
        return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()


def load_space(file: Path, vocabulary: Vocabulary | None = None) -> Space:
    """Read a space file.

    Raises:
        SpaceError: with one located line for every mistake.
    """
    try:
        text = file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise SpaceError(
            str(file), [Problem(1, 1, f"file must be UTF-8 text ({error.reason})")]
        ) from None
    except OSError as error:
        raise SpaceError(str(file), [Problem(1, 1, f"cannot be read: {error.strerror}")]) from None
    return parse_space(text, file, vocabulary)


def parse_space(text: str, file: Path, vocabulary: Vocabulary | None = None) -> Space:
    """Turn the text of a space file into a `Space`; `file` names it and anchors relative paths.

    Raises:
        SpaceError: with one located line for every mistake.
    """
    from dse.space_resolver import resolve  # brings pydantic in

    return resolve(read_yaml(text, str(file)), vocabulary or REGISTRIES, text, file)

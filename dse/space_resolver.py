"""From the text of a space file to a `Space`: what lies between its keys is checked here."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dse.constraint import Constraint, parse_constraint
from dse.coprocessor import ENTRY
from dse.design import Value, format_value
from dse.metrics import METRICS
from dse.parameter import Condition, Parameter
from dse.space import (
    Entry,
    Objective,
    SearchSettings,
    Space,
    SpaceError,
    Technology,
    WorkloadUse,
    view_need,
)
from dse.space_file import SpaceFile, read_space_file
from dse.suggestion import one_of, suggest
from dse.validation import shown as _shown
from dse.vocabulary import Vocabulary
from dse.yaml_source import Path as KeyPath
from dse.yaml_source import Problem, Source, dotted
from isa.compiler.exact_order import MISSING, has_solver
from isa.proposal import ProposalError, load_proposal

MAX_PROPOSAL_BYTES = 1_048_576


def resolve(source: Source, vocabulary: Vocabulary, text: str, file: Path) -> Space:
    """Build the `Space` that parsed YAML describes; `text` and `file` are what it was read from.

    Raises:
        SpaceError: with one located line for every mistake.
    """
    shape = read_space_file(source, vocabulary)
    return _Resolver(source, shape, vocabulary, file).space(text)


class _Resolver:
    """Checks what lies between the keys of a well-formed file, and builds the `Space`."""

    def __init__(self, source: Source, shape: SpaceFile, names: Vocabulary, file: Path) -> None:
        self.source = source
        self.shape = shape
        self.names = names
        self.file = file
        self.base = f"rv{shape.core.xlen[0]}i"
        self.problems: list[Problem] = []

    def problem(self, path: KeyPath, message: str, *, of_key: bool = False) -> None:
        line, column = self.source.position(path, of_key=of_key)
        self.problems.append(Problem(line, column, f"{dotted(path)}: {message}"))

    def space(self, text: str) -> Space:
        shape = self.shape
        if shape.instructions.base not in (None, self.base):
            message = f"must be {self.base}, as xlen of the core is {shape.core.xlen[0]}, "
            self.problem(("instructions", "base"), f"{message}not {shape.instructions.base!r}")
        entries, entry_parameters = self.entries()
        coprocessor, coprocessor_parameters = self.coprocessor()
        entries += coprocessor
        workloads = self.workloads(entries)
        parameters = (
            *self.core_parameters(),
            Parameter("instructions.base", (self.base,)),
            *entry_parameters,
            *self.unit_parameters(),
            *coprocessor_parameters,
            *self.compiler_parameters(),
            *(Parameter(f"kernel.{use.workload}", use.kernels) for use in workloads),
        )
        objectives = self.objectives()
        constraints = self.constraints()
        baseline = self.baseline(parameters, entries, workloads)
        points = self.points(parameters)
        if self.problems:
            raise SpaceError(self.source.name, self.problems)
        return Space(
            name=shape.name,
            workloads=workloads,
            baseline=baseline,
            technology=Technology(shape.technology.name, float(shape.technology.fo4_ps)),
            base=self.base,
            entries=entries,
            parameters=parameters,
            objectives=objectives,
            constraints=constraints,
            search=SearchSettings(shape.search.sampler, shape.search.trials, shape.search.seed),
            text=text,
            file=self.file,
            base_provides=tuple(self.names.instructions_of(self.base)),
            points=points,
        )

    def compiler_parameters(self) -> list[Parameter]:
        """Unrolling, and the effort where the file states one."""
        compiler = self.shape.compiler
        found = [Parameter("compiler.unroll", tuple(compiler.unroll))]
        if "exact" in compiler.effort and not has_solver():
            self.problem(("compiler", "effort"), MISSING)
        if "effort" in compiler.model_fields_set:
            found.append(Parameter("compiler.effort", tuple(compiler.effort)))
        return found

    def workloads(self, entries: Sequence[Entry]) -> tuple[WorkloadUse, ...]:
        views = dict.fromkeys(view for entry in entries for view in entry.views)
        uses: dict[str, WorkloadUse] = {}
        written = [entry.workload for entry in self.shape.workloads]
        if not self.shape.workloads:
            self.problem(("workloads",), "must name at least one workload, not an empty list")
        for index, entry in enumerate(self.shape.workloads):
            name = entry.workload
            if written.count(name) > 1 and entry.bytes:
                name = f"{name}@{entry.bytes}"
            if name in uses:
                self.problem(("workloads", index), f"workload {name} is given twice")
            requires = {
                k: tuple(self.names.kernel_requirements(entry.workload, k))
                for k in self.names.kernel_names(entry.workload)
            }
            derived: dict[str, list[str]] = {}  # kernels in other views, by that as written
            for view in views:
                for k in self.names.kernels_changed(entry.workload, view, self.shape.core.xlen[0]):
                    derived.setdefault(k, []).append(f"{k}-{view}")
                    requires[f"{k}-{view}"] = (*requires[k], view_need(view))
            if self.has_coprocessor:
                drivers = self.names.coprocessor_kernels(entry.workload)
                requires.update((k, (ENTRY, *needs)) for k, needs in drivers.items())
            kernels = self.kernels(index, entry.kernel, tuple(requires))
            others = (other for k in kernels for other in derived.get(k, ()))
            kernels = tuple(dict.fromkeys((*kernels, *others)))
            fault = self.names.size_fault(entry.workload, entry.bytes) if entry.bytes else None
            if fault:
                self.problem(("workloads", index, "bytes"), fault)
            needs = {k: requires[k] for k in kernels}
            uses[name] = WorkloadUse(name, float(entry.weight), kernels, entry.bytes, needs)
        return tuple(uses.values())

    def kernels(self, index: int, written: list[str], every: tuple[str, ...]) -> tuple[str, ...]:
        """The variants that a workload's `kernel` names; `auto` stands for all."""
        for position, kernel in enumerate(written):
            if kernel not in ("auto", *every):
                is_list = isinstance(self.source.data["workloads"][index]["kernel"], list)
                place: KeyPath = ("workloads", index, "kernel")
                path = (*place, position) if is_list else place
                accepted = f"must be {one_of(['auto', *every])}"
                self.problem(path, f"{accepted}, not {kernel!r}{suggest(kernel, every)}")
        if "auto" in written:
            return every
        return tuple(kernel for kernel in written if kernel in every)

    def core_parameters(self) -> list[Parameter]:
        core = self.shape.core
        if core.preset is not None:
            return [Parameter("core.preset", tuple(core.preset))]
        stages = tuple(core.pipeline)
        bypassed = Condition("core.pipeline", tuple(s for s in stages if s > 2))
        found = [
            Parameter("core.xlen", tuple(core.xlen)),
            Parameter("core.pipeline", stages),
            Parameter("core.forwarding", tuple(core.forwarding), bypassed),
        ]
        decoding = Condition("core.pipeline", tuple(s for s in stages if s == 5))
        for name in type(core).model_fields:
            if name in core.model_fields_set and f"core.{name}" not in {p.name for p in found}:
                condition = decoding if name == "branch" else None
                found.append(Parameter(f"core.{name}", tuple(getattr(core, name)), condition))
        return found

    def unit_parameters(self) -> list[Parameter]:
        found = []
        tables = self.names.table_names()
        for table, unit in self.shape.units.items():
            if table not in tables:
                message = f"unit must be {one_of(tables)}, not {table!r}{suggest(table, tables)}"
                self.problem(("units", table), message, of_key=True)
                continue
            circuits = self.names.circuit_names(table)
            for index, circuit in enumerate(unit.circuit):
                if circuit not in circuits:
                    hint = suggest(circuit, circuits)
                    long = isinstance(self.source.data["units"][table], dict)
                    path = ("units", table, "circuit", index) if long else ("units", table, index)
                    self.problem(path, f"circuit must be {one_of(circuits)}, not {circuit!r}{hint}")
            found.append(Parameter(f"units.{table}", tuple(unit.circuit)))
            if unit.latency != ["auto"]:
                found.append(Parameter(f"units.{table}.latency", tuple(unit.latency)))
        return found

    def entries(self) -> tuple[tuple[Entry, ...], list[Parameter]]:
        entries: dict[str, Entry] = {}
        parameters: list[Parameter] = []
        for index, written in enumerate(self.shape.instructions.choose):
            path: KeyPath = ("instructions", "choose", index)
            options: Any = {}
            name = written
            if isinstance(written, dict) and len(written) == 1:
                ((name, options),) = written.items()
            if not isinstance(name, str):
                found = "a list" if isinstance(written, list) else repr(written)[:60]
                self.problem(
                    path, f"must be a name or {{name: {{parameter: choices}}}}, not {found}"
                )
                continue
            entry = self.entry(name, path)
            if entry is None:
                continue
            if entry.name in entries or entry.name == self.base:
                self.problem(path, f"{entry.name} is given twice")
                continue
            entries[entry.name] = entry
            parameters.append(Parameter(entry.name, (False, True)))
            parameters += self.options(entry, options, (*path, name))
        return tuple(entries.values()), parameters

    def entry(self, name: str, path: KeyPath) -> Entry | None:
        if "/" in name or name.endswith((".json", ".yaml")):
            return self.proposal(name, path)
        extensions = [e for e in self.names.extension_names() if not e.startswith("rv")]
        if name in extensions:
            provides = (*self.names.instructions_of(name), *self.names.compressed_of(name))
            return Entry(name, "extension", provides)
        owners = {i: e for e in extensions for i in self.names.instructions_of(e)}
        if name in owners:
            return Entry(name, "instruction", (name,))
        hint = suggest(name, [*extensions, *owners])
        accepted = one_of(extensions)
        self.problem(
            path, f"must be an extension ({accepted}), an instruction or a file, not {name!r}{hint}"
        )
        return None

    def proposal(self, name: str, path: KeyPath) -> Entry | None:
        file = self.file.parent / name
        try:
            content = file.read_bytes()
        except OSError as error:
            self.problem(path, f"proposal {name!r} cannot be read: {error.strerror}")
            return None
        if len(content) > MAX_PROPOSAL_BYTES:
            self.problem(
                path, f"proposal must be at most {MAX_PROPOSAL_BYTES} bytes, not {len(content)}"
            )
            return None
        try:
            views = load_proposal(file).views
        except ProposalError as error:
            self.problem(path, f"proposal {error}")
            return None
        digest = hashlib.blake2b(content, digest_size=16).hexdigest()
        provides = (file.stem, *map(view_need, views))
        return Entry(file.stem, "proposal", provides, file, digest, views)

    def options(self, entry: Entry, options: Any, path: KeyPath) -> list[Parameter]:
        accepted = self.names.extension_parameters(entry.name) if entry.kind == "extension" else {}
        if not isinstance(options, dict):
            self.problem(path, f"must be a mapping of parameters, not {options!r}")
            return []
        for key in options:
            if key not in accepted:
                known = one_of(list(accepted)) or "left out, for it has none"
                message = f"parameter must be {known}, not {key!r}{suggest(key, accepted)}"
                self.problem((*path, key), message, of_key=True)
        found = []
        for key, values in accepted.items():
            written = options.get(key, list(values)[:1])
            choices = written if isinstance(written, list) else [written]
            for position, value in enumerate(choices):
                if isinstance(value, bool) or value not in values:
                    below = (*path, key, position) if isinstance(written, list) else (*path, key)
                    self.problem(
                        below, f"must be {one_of([str(v) for v in values])}, not {value!r}"
                    )
            if not choices or len({repr(c) for c in choices}) < len(choices):
                self.problem((*path, key), "must name each choice once, and at least one")
            condition = Condition(entry.name, (True,))
            found.append(Parameter(f"{entry.name}.{key}", tuple(choices), condition))
        return found

    @property
    def has_coprocessor(self) -> bool:
        """Whether designs may have a co-processor."""
        return any(choice is not None for choice in self.shape.coprocessor)

    def coprocessor(self) -> tuple[tuple[Entry, ...], list[Parameter]]:
        """The co-processor as something to choose, and its parameters."""
        if not self.has_coprocessor:
            return (), []
        choices = self.shape.coprocessor
        position, block = next((i, c) for i, c in enumerate(choices) if c is not None)
        is_list = isinstance(self.source.data["coprocessor"], list)
        path: KeyPath = (ENTRY, *([position] if is_list else []))
        known = self.names.coprocessor_parameters()
        found = [Parameter(ENTRY, (False, True) if None in choices else (True,))]
        for key, written in block.items():
            if key not in known:
                message = f"parameter must be {one_of(list(known))}, not {key!r}"
                self.problem((*path, key), message + suggest(key, known), of_key=True)
                continue
            values = written if isinstance(written, list) else [written]
            for index, value in enumerate(values):
                if not any(value == k and type(value) is type(k) for k in known[key]):
                    below = (*path, key, *([index] if isinstance(written, list) else []))
                    self.problem(below, f"must be {_span(known[key])}, not {_shown(value)}")
            if not values or len({repr(v) for v in values}) < len(values):
                self.problem((*path, key), "must name each choice once, and at least one")
            condition = Condition(ENTRY, (True,))
            found.append(Parameter(f"{ENTRY}.{key}", tuple(values), condition))
        return (Entry(ENTRY, ENTRY, (ENTRY,)),), found

    def objectives(self) -> tuple[Objective, ...]:
        written = self.shape.objectives
        for index, metric in enumerate(written):
            if metric not in METRICS:
                hint = suggest(metric, METRICS) or "; see `dse list metrics`"
                message = f"must be a metric, not {metric!r}{hint}"
                self.problem(("objectives", index), message)
            elif metric in written[:index]:
                self.problem(("objectives", index), f"{metric} is given twice")
        if not 2 <= len(written) <= 3:
            self.problem(("objectives",), f"must be 2 or 3 metrics, not {len(written)}")
        return tuple(Objective(m, METRICS[m].is_minimised) for m in written if m in METRICS)

    def constraints(self) -> tuple[Constraint, ...]:
        found = []
        for name, value in self.shape.constraints.items():
            try:
                constraint = parse_constraint(name, value)
            except ValueError as error:
                is_unknown = name not in METRICS and name != "constant_time"
                self.problem(("constraints", name), str(error), of_key=is_unknown)
                continue
            if constraint is not None:
                found.append(constraint)
        return tuple(found)

    def baseline(
        self,
        parameters: tuple[Parameter, ...],
        entries: tuple[Entry, ...],
        workloads: tuple[WorkloadUse, ...],
    ) -> Mapping[str, Value]:
        """Parameters the baseline fixes; `instructions: rv32i` says that nothing is chosen.

        It has a co-processor only where a workload has no other kernels than those that drive it.
        """
        kernels = ([use.requires[k] for k in use.kernels] for use in workloads)
        is_driven = any(needs and all(ENTRY in n for n in needs) for needs in kernels)
        fixed: dict[str, Value] = {e.name: e.name == ENTRY and is_driven for e in entries}
        return fixed | self.settings(self.shape.baseline, ("baseline",), parameters)

    def points(self, parameters: tuple[Parameter, ...]) -> dict[str, dict[str, Value]]:
        """Parameters that each named point fixes."""
        return {
            name: self.settings(settings, ("points", name), parameters)
            for name, settings in self.shape.points.items()
        }

    def settings(
        self, written: Mapping[str, Any], where: KeyPath, parameters: tuple[Parameter, ...]
    ) -> dict[str, Value]:
        """Values of parameters, written as nested mappings."""
        found: dict[str, Value] = {}
        by_name = {p.name: p for p in parameters}
        for path, value in _leaves(written, ()):
            name, place = dotted(path), (*where, *path)
            if name == "instructions":
                if value != self.base:
                    self.problem(place, f"must be {self.base}, not {value!r}")
            elif name not in by_name:
                accepted = ["instructions", *by_name]
                message = (
                    f"must be a parameter of this space, not {name!r}{suggest(name, accepted)}"
                )
                self.problem(place, message, of_key=True)
            elif not any(
                value is c or (value == c and type(value) is type(c)) for c in by_name[name].choices
            ):
                choices = one_of([str(c) for c in by_name[name].choices])
                self.problem(place, f"must be {choices}, not {value!r}")
            else:
                found[name] = value
        if any(name.startswith(f"{ENTRY}.") for name in found):
            found[ENTRY] = True  # it has what its parameters describe
        return found


def _span(values: Sequence[Value]) -> str:
    """What is accepted: whole numbers without a gap as a range, else each."""
    numbers = sorted(v for v in values if isinstance(v, int) and not isinstance(v, bool))
    if len(numbers) == len(values) > 4 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"from {numbers[0]} to {numbers[-1]}"
    ordered = numbers if len(numbers) == len(values) else values
    return one_of([format_value(v) for v in ordered])


def _leaves(data: Mapping[str, Any], path: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    for key, value in data.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key), value

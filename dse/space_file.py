"""The shape of a search-space file: pydantic models that speak in located, one-line errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidationInfo,
    model_validator,
)

from dse.design import format_value
from dse.sampler import SAMPLERS
from dse.suggestion import one_of, suggest
from dse.validation import fault, shown, validate
from dse.vocabulary import Vocabulary
from dse.yaml_source import Source
from isa.compiler.schedule import EFFORTS
from isa.core import (
    BRANCHES,
    DIVIDERS,
    LONGEST_LATENCY,
    MEMORIES,
    PIPELINES,
    PREDICTIONS,
    PRODUCTS,
)

MAX_TRIALS = 1_000_000
MAX_BYTES = 1_048_576
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")


def _known(kind: str, names: Callable[[Vocabulary], Sequence[str]]) -> AfterValidator:
    def check(value: str, info: ValidationInfo) -> str:
        accepted = names(_vocabulary(info))
        if value not in accepted:
            raise fault(
                f"{kind} must be {one_of(accepted)}, not {value!r}{suggest(value, accepted)}"
            )
        return value

    return AfterValidator(check)


def _vocabulary(info: ValidationInfo) -> Vocabulary:
    vocabulary: Vocabulary = (info.context or {})["vocabulary"]
    return vocabulary


def _choice_of(*accepted: Any) -> AfterValidator:
    def check(value: Any) -> Any:
        if not any(value is a or (value == a and type(value) is type(a)) for a in accepted):
            names = [format_value(a) for a in accepted]
            raise fault(f"must be {one_of(names)}, not {shown(value)}{suggest(value, names)}")
        return value

    return AfterValidator(check)


def _whole(low: int, high: int) -> AfterValidator:
    def check(value: int) -> int:
        if not low <= value <= high:
            raise fault(f"must be from {low} to {high}, not {value}")
        return value

    return AfterValidator(check)


def _number(low: float, high: float) -> AfterValidator:
    def check(value: float) -> float:
        if not low <= value <= high:
            raise fault(f"must be from {low:g} to {high:g}, not {value:g}")
        return value

    return AfterValidator(check)


def _whole_or(word: str, high: int) -> AfterValidator:
    """Accept `word`, or a whole number from 1 to `high`."""

    def check(value: Any) -> Any:
        is_whole = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= high
        if value != word and not is_whole:
            raise fault(f"must be {word} or from 1 to {high}, not {shown(value)}")
        return value

    return AfterValidator(check)


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _distinct(values: list[Any]) -> list[Any]:
    if not values:
        raise fault("must name at least one choice, not an empty list")
    seen: list[str] = []
    for value in values:
        text = repr(value)
        if text in seen:
            raise fault(f"must name each choice once, not {shown(value)} twice")
        seen.append(text)
    return values


def _file_name(value: str) -> str:
    if not value or not set(value) <= _NAME_CHARACTERS or value[0] in ".-" or len(value) > 60:
        raise fault(f"must be letters, digits, '-', '_' and '.', at most 60, not {shown(value)}")
    return value


Choices = [BeforeValidator(_as_list), AfterValidator(_distinct)]


class Strict(BaseModel):
    """A mapping with exactly the keys it declares, each of exactly its type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class WorkloadEntry(Strict):
    """One workload of the mix; written as its bare name where only the name is given."""

    workload: Annotated[str, _known("workload", lambda v: v.workload_names())]
    weight: Annotated[float, _number(1e-9, 1e9)] = 1.0
    kernel: Annotated[list[str], *Choices] = ["auto"]
    bytes: Annotated[int, _whole(1, MAX_BYTES)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        return {"workload": value} if isinstance(value, str) else value


class TechnologyEntry(Strict):
    """How netlists are priced."""

    name: Annotated[str, _known("technology", lambda v: v.technology_names())] = "ge"
    fo4_ps: Annotated[float, _number(0.1, 10_000)] = 50.0

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        return {"name": value} if isinstance(value, str) else value


class CoreEntry(Strict):
    """The host core: a preset, or its parameters; each a scalar or a list of choices."""

    preset: Annotated[
        list[Annotated[str, _known("preset", lambda v: v.core_presets())]] | None,
        BeforeValidator(lambda v: None if v is None else _as_list(v)),
    ] = None
    xlen: Annotated[list[Annotated[int, _choice_of(32, 64)]], *Choices] = [32]
    pipeline: Annotated[list[Annotated[int, _choice_of(*PIPELINES)]], *Choices] = [5]
    forwarding: Annotated[list[bool], *Choices] = [True]
    branch: Annotated[list[Annotated[str, _choice_of(*BRANCHES)]], *Choices] = ["execute"]
    prediction: Annotated[list[Annotated[str, _choice_of(*PREDICTIONS)]], *Choices] = ["not-taken"]
    memory: Annotated[list[Annotated[str, _choice_of(*MEMORIES)]], *Choices] = ["separate"]
    memory_latency: Annotated[list[Annotated[int, _whole(1, LONGEST_LATENCY)]], *Choices] = [1]
    read_ports: Annotated[list[Annotated[int, _choice_of(2, 3)]], *Choices] = [2]
    multiplier: Annotated[list[Annotated[Any, _choice_of(*PRODUCTS)]], *Choices] = [0]
    carryless: Annotated[list[Annotated[Any, _choice_of(*PRODUCTS)]], *Choices] = [0]
    divider: Annotated[list[Annotated[int, _choice_of(*DIVIDERS)]], *Choices] = [0]

    @model_validator(mode="after")
    def _check(self) -> CoreEntry:
        others = sorted(self.model_fields_set - {"preset"})
        if self.preset is not None and others:
            raise fault(f"preset already decides {', '.join(others)}; give one or the other")
        if len(self.xlen) > 1:
            raise fault(f"xlen must be one width a space, as the base set is, not {self.xlen}")
        return self


class InstructionsEntry(Strict):
    """The base instruction set, and what may be added to it."""

    base: Annotated[str, _choice_of("rv32i", "rv64i")] | None = None
    choose: list[Any] = []


class UnitEntry(Strict):
    """The rival circuits of one table, and the latency of the unit around them."""

    circuit: Annotated[list[str], *Choices]
    latency: Annotated[list[Annotated[Any, _whole_or("auto", 16)]], *Choices] = ["auto"]

    @model_validator(mode="before")
    @classmethod
    def _from_choices(cls, value: Any) -> Any:
        return {"circuit": value} if isinstance(value, (str, list)) else value


class CompilerEntry(Strict):
    """Options of the compiler."""

    unroll: Annotated[list[Annotated[Any, _whole_or("full", 64)]], *Choices] = [1]
    effort: Annotated[list[Annotated[str, _choice_of(*EFFORTS)]], *Choices] = ["default"]


class SearchEntry(Strict):
    """Settings of the search; the command line overrides them."""

    sampler: Annotated[str, _choice_of(*SAMPLERS)] = "auto"
    trials: Annotated[int, _whole(1, MAX_TRIALS)] = 200
    seed: Annotated[int, _whole(0, 2**32 - 1)] = 1


def _null_or_block(value: Any) -> Any:
    choices = value if isinstance(value, list) else [value]
    blocks = [choice for choice in choices if choice is not None]
    if not all(isinstance(block, dict) for block in blocks):
        raise fault(f"must be null, a block of parameters or a list of both, not {shown(value)}")
    if len(blocks) > 1 or len(choices) - len(blocks) > 1 or not choices:
        raise fault(
            "must be null, one block of parameters, or a list of both; choices of a parameter are "
            "a list in its place"
        )
    return choices


class SpaceFile(Strict):
    """The whole file."""

    name: Annotated[str, AfterValidator(_file_name)]
    workloads: list[WorkloadEntry]
    baseline: dict[str, Any] = {}
    technology: TechnologyEntry = TechnologyEntry()
    core: CoreEntry = CoreEntry()
    instructions: InstructionsEntry = InstructionsEntry()
    units: dict[str, UnitEntry] = {}
    compiler: CompilerEntry = CompilerEntry()
    coprocessor: Annotated[Any, AfterValidator(_null_or_block)] = [None]
    objectives: list[str] = ["time_ns", "area_ge"]
    constraints: dict[str, Any] = {}
    search: SearchEntry = SearchEntry()
    points: dict[str, dict[str, Any]] = {}


def read_space_file(source: Source, vocabulary: Vocabulary) -> SpaceFile:
    """Validate the shape of `source`.

    Raises:
        SourceError: every mistake with its position and what is accepted.
    """
    return validate(SpaceFile, source, {"vocabulary": vocabulary})

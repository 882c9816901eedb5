"""Pydantic models read from located YAML: every mistake becomes one `file:line:column` line."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from dse.suggestion import one_of, suggest
from dse.yaml_source import Path, Problem, Source, SourceError, dotted

Model = TypeVar("Model", bound=BaseModel)

_EXPECTED = {
    "int_type": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}
FAULT = "fault"
"""Type of the errors that validators of our own raise; their message stands as it is."""


def fault(message: str) -> PydanticCustomError:
    """Return the error for a validator to raise."""
    return PydanticCustomError(FAULT, "{message}", {"message": message})


def validate(model: type[Model], source: Source, context: Mapping[str, Any] | None = None) -> Model:
    """Read `source` as a `model`; validators find `context` in their `ValidationInfo`.

    Raises:
        SourceError: every mistake with its position and what is accepted.
    """
    if not isinstance(source.data, dict):
        problem = Problem(1, 1, f"file must be a mapping of keys, not {shown(source.data)}")
        raise SourceError(source.name, [problem])
    try:
        return model.model_validate(source.data, context=context)
    except ValidationError as error:
        problems: dict[tuple[Any, ...], Problem] = {}
        for detail in error.errors(include_url=False):
            path = _written(source, detail["loc"])
            missing = detail["loc"][-1] if detail["type"] == "missing" else ""
            problems.setdefault((path, missing), _problem(model, source, detail, path))
        raise SourceError(source.name, list(problems.values())) from None


def _written(source: Source, location: tuple[int | str, ...]) -> Path:
    """The longest prefix of pydantic's location that stands in the file."""
    path: Path = ()
    for part in location:
        if (*path, part) not in source.values:
            break
        path = (*path, part)
    return path


def _problem(model: type[BaseModel], source: Source, detail: ErrorDetails, path: Path) -> Problem:
    kind = detail["type"]
    where = f"{dotted(path)}: " if path else ""
    if kind == "extra_forbidden":
        line, column = source.position(path, of_key=True)
        known = list(_model_at(model, path[:-1]).model_fields)
        hint = suggest(path[-1], known)
        message = f"{where}unknown key {str(path[-1])!r}; must be {one_of(known)}{hint}"
        return Problem(line, column, message)
    line, column = source.position(path)
    if kind == "missing":
        return Problem(line, column, f"{where}key {str(detail['loc'][-1])!r} must be given")
    if kind == FAULT:
        return Problem(line, column, f"{where}{detail['ctx']['message']}")
    if kind == "value_error":
        return Problem(line, column, f"{where}{detail['ctx']['error']}")
    is_number = detail["loc"][-1] in ("int", "float")
    wanted = "a number" if is_number else _EXPECTED.get(kind) or detail["msg"].split("be ", 1)[-1]
    return Problem(line, column, f"{where}must be {wanted}, not {shown(detail['input'])}")


def _model_at(model: type[BaseModel], path: Path) -> type[BaseModel]:
    found: Any = model
    for part in path:
        if isinstance(found, type) and issubclass(found, BaseModel):
            found = found.model_fields[str(part)].annotation
        else:  # an item of list[X] or dict[str, X]
            found = typing.get_args(found)[-1]
        if typing.get_origin(found) in (typing.Union, types.UnionType):
            found = next(a for a in typing.get_args(found) if a is not type(None))
    assert isinstance(found, type)
    assert issubclass(found, BaseModel)
    return found


def shown(value: Any) -> str:
    """Return a value as written in YAML, short enough for one line."""
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "a mapping"
    if value is None:
        return "null"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."

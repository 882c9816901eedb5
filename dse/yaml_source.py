"""YAML text as plain data that remembers where every value was written.

Built from the parser's event stream, not with a YAML constructor: nothing in a file can name a
Python type, nesting and alias expansion are bounded, a key given twice is an error, and scalars
follow the YAML 1.2 core schema (`yes`, `on` and `1:30` are text; only `true`/`false` are booleans).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

MAX_CHARACTERS = 262_144
MAX_NODES = 20_000
MAX_DEPTH = 24

Path = tuple["str | int", ...]

_INT = re.compile(r"[-+]?[0-9]+|0x[0-9a-fA-F]+|0o[0-7]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL_FLOAT = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_MAX_NUMBER_CHARACTERS = 40


@dataclass(frozen=True)
class Problem:
    """One mistake in a file: where it is (line and column from 1) and what is wrong."""

    line: int
    column: int
    message: str


class SourceError(ValueError):
    """A file that cannot be accepted; `problems` has at least one entry, in file order."""

    def __init__(self, name: str, problems: list[Problem]) -> None:
        self.name = name
        self.problems = tuple(sorted(set(problems), key=lambda p: (p.line, p.column, p.message)))
        super().__init__("\n".join(self.lines()))

    def lines(self) -> list[str]:
        """One line a problem: `file:line:column: error: what`."""
        return [f"{self.name}:{p.line}:{p.column}: error: {p.message}" for p in self.problems]


@dataclass(frozen=True)
class Source:
    """Parsed YAML: the data, and the position of each value and of each key by its path."""

    name: str
    data: Any
    values: dict[Path, tuple[int, int]] = field(repr=False)
    keys: dict[Path, tuple[int, int]] = field(repr=False)

    def position(self, path: Path, *, of_key: bool = False) -> tuple[int, int]:
        """Line and column of the value (or key) at `path`, or of its nearest known ancestor."""
        if of_key and path in self.keys:
            return self.keys[path]
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path, (1, 1))


@dataclass
class _Node:
    kind: str  # "scalar", "list" or "map"
    line: int
    column: int
    value: Any = None
    items: list[tuple[_Node | None, _Node]] = field(default_factory=list)
    nodes: int = 1


def read_yaml(text: str, name: str) -> Source:
    """Parse one YAML document.

    Raises:
        SourceError: with the position, for anything but one plain document within the limits.
    """
    if len(text) > MAX_CHARACTERS:
        raise _error(
            name, 1, 1, f"file must be at most {MAX_CHARACTERS} characters, not {len(text)}"
        )
    root = _compose(text, name)
    values: dict[Path, tuple[int, int]] = {}
    keys: dict[Path, tuple[int, int]] = {}
    problems: list[Problem] = []
    data = _plain(root, (), values, keys, problems)
    if problems:
        raise SourceError(name, problems)
    return Source(name, data, values, keys)


def dotted(path: Path) -> str:
    """A path as people write it: `instructions.choose.2`."""
    return ".".join(str(part) for part in path)


def _error(name: str, line: int, column: int, message: str) -> SourceError:
    return SourceError(name, [Problem(line, column, message)])


def _events(text: str, name: str) -> Iterator[Any]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        yield from yaml.parse(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise _error(name, *where, f"not valid YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        first_line = str(error).splitlines()[0]
        raise _error(name, 1, 1, f"not valid YAML: {first_line}") from None


def _compose(text: str, name: str) -> _Node:
    """The node tree of the one document in `text`, built without recursion."""
    import yaml

    stack: list[_Node] = []
    pending_keys: list[_Node | None] = []
    anchors: dict[str, _Node] = {}
    root: _Node | None = None
    total = 0

    def attach(node: _Node) -> None:
        nonlocal root
        if not stack:
            root = node
            return
        parent = stack[-1]
        if parent.kind == "list":
            parent.items.append((None, node))
        elif pending_keys[-1] is None:
            pending_keys[-1] = node
            return
        else:
            parent.items.append((pending_keys[-1], node))
            pending_keys[-1] = None

    for event in _events(text, name):
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        if isinstance(event, yaml.DocumentStartEvent) and root is not None:
            raise _error(name, line, column, "must be one document, not several")
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in anchors:
                raise _error(
                    name, line, column, f"alias *{event.anchor} has no complete anchor before it"
                )
            node = anchors[event.anchor]
            total += node.nodes
            attach(node)
        elif isinstance(event, yaml.ScalarEvent):
            node = _Node("scalar", line, column, _scalar(event, name, line, column))
            total += 1
            if event.anchor:
                anchors[event.anchor] = node
            attach(node)
        elif isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
            is_list = isinstance(event, yaml.SequenceStartEvent)
            if event.tag not in (None, "tag:yaml.org,2002:seq", "tag:yaml.org,2002:map"):
                raise _error(
                    name, line, column, f"tag {event.tag!r} is not accepted; write plain values"
                )
            node = _Node("list" if is_list else "map", line, column, event.anchor)
            node.nodes = total
            total += 1
            stack.append(node)
            pending_keys.append(None)
            if len(stack) > MAX_DEPTH:
                raise _error(name, line, column, f"must be nested at most {MAX_DEPTH} deep")
        elif isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
            node = stack.pop()
            pending_keys.pop()
            node.nodes = total - node.nodes
            if node.value:
                anchors[node.value] = node
            attach(node)
        if total > MAX_NODES:
            raise _error(
                name, line, column, f"must hold at most {MAX_NODES} values, aliases expanded"
            )
    if root is None:
        raise _error(name, 1, 1, "file is empty; it must hold the keys of a search space")
    return root


def _scalar(event: Any, name: str, line: int, column: int) -> Any:
    text: str = event.value
    if event.tag not in (None, "!", "tag:yaml.org,2002:str"):
        raise _error(name, line, column, f"tag {event.tag!r} is not accepted; write plain values")
    if event.style or event.tag:
        return text
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text in ("true", "True", "TRUE"):
        return True
    if text in ("false", "False", "FALSE"):
        return False
    is_number = _INT.fullmatch(text) or _FLOAT.fullmatch(text)
    if is_number and len(text) > _MAX_NUMBER_CHARACTERS:
        shown = f"{len(text)} ({text[:12]}...)"
        limit = f"number must have at most {_MAX_NUMBER_CHARACTERS} characters"
        raise _error(name, line, column, f"{limit}, not {shown}")
    if _INT.fullmatch(text):
        return int(text, 0) if text[:2] in ("0x", "0o") else int(text)
    if _SPECIAL_FLOAT.fullmatch(text) or (
        _FLOAT.fullmatch(text) and not math.isfinite(float(text))
    ):
        raise _error(name, line, column, f"number must be finite, not {text}")
    return float(text) if _FLOAT.fullmatch(text) else text


def _plain(
    node: _Node,
    path: Path,
    values: dict[Path, tuple[int, int]],
    keys: dict[Path, tuple[int, int]],
    problems: list[Problem],
) -> Any:
    values[path] = (node.line, node.column)
    if node.kind == "scalar":
        return node.value
    if node.kind == "list":
        return [
            _plain(item, (*path, index), values, keys, problems)
            for index, (_, item) in enumerate(node.items)
        ]
    result: dict[str, Any] = {}
    for key, item in node.items:
        assert key is not None
        where = dotted(path) + ": " if path else ""
        if key.kind != "scalar" or not isinstance(key.value, str):
            shown = repr(key.value) if key.kind == "scalar" else f"a {key.kind}"
            problems.append(Problem(key.line, key.column, f"{where}key must be text, not {shown}"))
            continue
        below = (*path, key.value)
        if below in keys:
            first = keys[below][0]
            message = f"{dotted(below)}: key is given twice (first on line {first})"
            problems.append(Problem(key.line, key.column, message))
            continue
        keys[below] = (key.line, key.column)
        result[key.value] = _plain(item, below, values, keys, problems)
    return result

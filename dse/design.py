"""`Design`: one frozen, canonical, hashable choice of a value for every parameter of a space."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cached_property

Value = bool | int | str | None


class Design(Mapping[str, Value]):
    """An immutable mapping of dotted parameter name to value; equal content, equal digest."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = dict(sorted(values.items()))

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        # by text, because True == 1 and a design tells them apart
        return isinstance(other, Design) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Design({self.text})"

    @cached_property
    def text(self) -> str:
        """Canonical JSON: names sorted, no spaces; what the digest is taken of."""
        return json.dumps(self._values, sort_keys=True, separators=(",", ":"))

    @cached_property
    def digest(self) -> str:
        """BLAKE2b of `text`, 32 hex digits."""
        return hashlib.blake2b(self.text.encode(), digest_size=16).hexdigest()

    @property
    def plain(self) -> Mapping[str, Value]:
        """The dictionary behind the design, quick to look into; not to be changed."""
        return self._values

    def replace(self, changes: Mapping[str, Value]) -> Design:
        """This design with some values changed."""
        return Design({**self._values, **changes})

    def to_json(self) -> dict[str, Value]:
        """A plain dictionary, names sorted."""
        return dict(self._values)


def format_value(value: Value) -> str:
    """A value as written in YAML, on the command line and in CSV: `true`, `5`, `full`, `null`."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)

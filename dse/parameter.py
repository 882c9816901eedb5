"""`Parameter`: one dimension of a search space, with its ordered choices."""

from __future__ import annotations

from dataclasses import dataclass

from dse.design import Value, format_value
from dse.suggestion import one_of, suggest


@dataclass(frozen=True)
class Condition:
    """A parameter matters only while another one has one of `values`."""

    parameter: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Parameter:
    """A dotted name and its choices; the first is the neutral one an inactive parameter takes."""

    name: str
    choices: tuple[Value, ...]
    condition: Condition | None = None

    @property
    def neutral(self) -> Value:
        """The value of this parameter in a design where it makes no difference."""
        return self.choices[0]

    def parse(self, text: str) -> Value:
        """The choice written as `text`.

        Raises:
            ValueError: naming what is accepted.
        """
        by_text = {format_value(choice): choice for choice in self.choices}
        if text not in by_text:
            accepted = one_of(list(by_text))
            raise ValueError(
                f"{self.name} must be {accepted}, not {text!r}{suggest(text, by_text)}"
            )
        return by_text[text]

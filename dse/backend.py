"""`Backend`: the functions that evaluate and confirm designs, by name for other processes."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Backend:
    """Names, as `module:attribute`, of the parts below the search.

    Attributes:
        evaluate: `evaluate(*, space, design, cache) -> Evaluation`.
        confirm: `confirm(*, space, design, cache) -> Confirmation`, on the netlist.
        vocabulary: A `dse.vocabulary.Vocabulary`.
        segments: `segments(*, space, design, cache) -> list`, of `dse.learn.segment.Segment`;
            empty where the programs cannot be looked into.
        version: Digest of the code behind them; empty means that of the installed project.
    """

    evaluate: str = "dse.measure.evaluate:evaluate"
    confirm: str = "dse.measure.verify:confirm"
    vocabulary: str = "dse.vocabulary:REGISTRIES"
    version: str = ""
    segments: str = "dse.measure.segments:segments"

    @property
    def digest(self) -> str:
        """Digest of the code behind evaluations; values of another one are never reused."""
        from dse.fingerprint import code_digest  # reads every source file

        return self.version or code_digest()

    @staticmethod
    def load(name: str) -> Any:
        """Import what `name` names."""
        module, _, attribute = name.partition(":")
        return getattr(importlib.import_module(module), attribute)

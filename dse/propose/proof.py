"""Proof: that a proposed instruction equals every subgraph it is to replace."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pyrtl

from dse.propose.idea import Idea
from dse.propose.meaning import all_in_canonical_order, meaning_of, vectors
from dse.propose.normal_form import normal_form
from hw.abc import abc_path
from hw.aiger import aiger_bytes
from hw.bitblast import bitblast
from hw.graph import FALSE, TRUE
from hw.lower import lower
from isa.bits import Bits, arguments

METHODS = ("identical", "normal form", "equivalence checker", "vectors")
"""How equality was shown, strongest evidence first; the first three are proofs."""

TIMEOUT_S = 20.0


class ProofError(ValueError):
    """Two expressions that agree on the fixed vectors are not equal."""


@dataclass(frozen=True)
class Proof:
    """What was shown.

    Attributes:
        method: The weakest of the methods that were needed.
        checked: Distinct expressions that the instruction was compared with.
    """

    method: str
    checked: int

    @property
    def is_proof(self) -> bool:
        """Whether every comparison was a proof."""
        return self.method != METHODS[-1]

    def __str__(self) -> str:
        if self.is_proof:
            return f"proven ({self.method}, {self.checked} spellings)"
        count = len(vectors(2, 32)[0])
        return f"not proven: agrees on {count} vectors ({self.checked} spellings)"


def prove(idea: Idea) -> Proof:
    """Compare an idea with every spelling of every meaning it covers.

    Raises:
        ProofError: One of them differs.
    """
    worst = 0
    checked = 0
    for group, setting in zip(idea.groups, idea.settings, strict=True):
        first = idea.specialised(setting)
        ours = all_in_canonical_order(meaning_of(first, idea.operands, *idea.roots[1:]))
        for meaning in group.spellings:
            theirs = all_in_canonical_order(meaning)
            methods = [METHODS.index(equal(a, b)) for a, b in zip(ours, theirs, strict=True)]
            worst = max(worst, *methods)
            checked += 1
    return Proof(METHODS[worst], checked)


def equal(a: Bits, b: Bits) -> str:
    """How it is known that `a` equals `b`, which agree on the fixed vectors.

    Raises:
        ProofError: They differ.
    """
    if a is b:
        return METHODS[0]
    form = normal_form(a)
    if form is not None and form == normal_form(b):
        return METHODS[1]
    answer = _checker(a, b)
    if answer is False:
        raise ProofError(
            "expressions agree on all vectors, but the equivalence checker finds a difference"
        )
    return METHODS[2] if answer else METHODS[3]


def _checker(a: Bits, b: Bits) -> bool | None:
    """Ask ABC whether two expressions are equal; None if it cannot tell in time."""
    with pyrtl.temp_working_block():
        ports = {str(n.attr): pyrtl.Input(n.width, str(n.attr)) for n in arguments([a, b])}
        left, right = lower([a, b], ports, {})
        output = pyrtl.Output(1, "differ")
        output <<= left != right
        graph = bitblast(pyrtl.working_block())
    if graph.sinks[0].literals == (FALSE,):  # equal gate by gate
        return True
    if graph.sinks[0].literals == (TRUE,):  # different for every input
        return False
    with tempfile.TemporaryDirectory(prefix="dse-abc-") as folder:
        (Path(folder) / "miter.aig").write_bytes(aiger_bytes(graph))
        try:
            done = subprocess.run(
                [str(abc_path()), "-q", "read_aiger miter.aig; iprove"],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=TIMEOUT_S,
                check=False,
                text=True,
                errors="replace",
            )
        except subprocess.TimeoutExpired:
            return None
    words = done.stdout.split()
    if "UNSATISFIABLE" in words:
        return True
    return False if "SATISFIABLE" in words else None

"""Joined: a space that may also choose instructions proposed for its own workloads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import yaml

from dse.propose.delivery import REPORT, deliver, proposal_files
from dse.propose.pipeline import propose
from dse.propose.request import Request, base_set, from_space
from dse.space import Space, parse_space
from dse.vocabulary import Vocabulary
from isa.timing import Core


def with_proposals(
    space: Space, folder: Path, vocabulary: Vocabulary, note: Callable[[str], None]
) -> Space:
    """Propose instructions for the workloads of a space and add them to its `choose`.

    Those that a choice of the space provides already are left out. Where the folder holds
    proposals, as it does when a search is resumed, these are taken.

    Args:
        space: The space.
        folder: Where proposals are, or go.
        vocabulary: What the space is written in.
        note: Told what is being done.

    Raises:
        RequestError: Nothing can be proposed for the base of the space.
        RunError: The folder cannot be written.
    """
    if not (folder / REPORT).is_file():
        core = Core(xlen=base_set(space.base).xlen)
        request = Request(from_space(space), space.base, core, fo4_ps=space.technology.fo4_ps)
        deliver(propose(request, note), folder)
    provided = {name for entry in space.entries for name in entry.provides}
    added = [str(file.resolve()) for file, known in proposal_files(folder) if known not in provided]
    note(f"{len(added)} proposed instructions join the choices of the space")
    data = yaml.safe_load(space.text)
    instructions = data.get("instructions") or {}
    chosen = instructions.get("choose") or []
    new = [file for file in added if file not in chosen]
    data["instructions"] = {**instructions, "choose": [*chosen, *new]}
    text = yaml.safe_dump(data, sort_keys=False)
    return parse_space(text, space.file, vocabulary)

"""Delivery: proposals as files that a space can name and that people can read, commit and build."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from dse.propose.exports import EXPORTS
from dse.propose.listing import listing
from dse.propose.pipeline import Report
from dse.propose.report import to_json
from dse.run import RunError
from dse.show.export import FormatError
from dse.suggestion import one_of, suggest
from isa.instruction import Instruction
from isa.proposal import ProposalError, load_proposal

REPORT = "proposals.json"
STEM = "proposals"
"""Start of the names of files that describe all proposals of a folder."""


def check(folder: Path) -> None:
    """See that proposals may go to a folder: it is new, empty, or holds earlier ones.

    Raises:
        RunError: It holds something else.
    """
    if folder.exists() and not folder.is_dir():
        raise RunError(f"{folder} must be a folder; choose another --out")
    _earlier(folder)


def _earlier(folder: Path) -> list[Path]:
    """Files that an earlier `dse propose` wrote."""
    try:
        if not folder.is_dir() or not any(folder.iterdir()):
            return []
        report = folder / REPORT
        if not report.is_file():
            raise RunError(
                f"{folder} must be empty or hold earlier proposals; choose another --out"
            )
        data = json.loads(report.read_text(encoding="utf-8"))
        names = [Path(str(proposal["name"])).name for proposal in data["proposals"]]
    except OSError as error:
        raise RunError(f"{folder} cannot be read: {error.strerror}") from None
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError):
        raise RunError(
            f"{folder / REPORT} is not a report of dse propose; choose another --out"
        ) from None
    return [folder / name for name in (*_names(names), *data.get("files", []))]


def _names(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        yield from (f"{name}.json", f"{name}.py")


def proposal_files(folder: Path) -> list[tuple[Path, str]]:
    """The data of each proposal in a folder, and the known instruction it equals, or "".

    Raises:
        RunError: The folder holds none.
    """
    _earlier(folder)
    data = json.loads((folder / REPORT).read_text(encoding="utf-8"))
    found = []
    for proposal in data["proposals"]:
        nearest = proposal["nearest"]
        known = nearest["name"] if nearest["relation"] == "equals" else ""
        found.append((folder / f"{proposal['name']}.json", known))
    return found


def deliver(report: Report, folder: Path) -> list[Path]:
    """Write the report, for each proposal its data and its Python listing, and all exports.

    What an earlier `dse propose` wrote there is replaced.

    Raises:
        RunError: The folder cannot be written, or holds something else.
    """
    xlen = report.request.instructions.xlen
    earlier = _earlier(folder)
    files: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in earlier:
            file.unlink(missing_ok=True)
        for proposal in report.proposals:
            for instruction, slot, what, content in zip(
                proposal.instructions,
                proposal.slots,
                proposal.formulas,
                proposal.to_json(xlen),
                strict=True,
            ):
                data = folder / f"{instruction.name}.json"
                data.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
                python = folder / f"{instruction.name}.py"
                text = listing(instruction, xlen, slot.fields, f"rd = {what}")
                python.write_text(text, encoding="utf-8")
                files += [data, python]
        instructions = [i for p in report.proposals for i in p.instructions]
        exported = _export(instructions, xlen, folder, list(EXPORTS))
        whole = folder / REPORT
        everything = {**to_json(report), "files": [file.name for file in exported]}
        whole.write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise RunError(f"{folder} cannot be written: {error.strerror}") from None
    return [whole, *files, *exported]


def export(folder: Path, formats: Sequence[str]) -> list[Path]:
    """Write the proposals of a folder in other formats again, from their data.

    Raises:
        RunError: The folder holds none, one is malformed, or the folder cannot be written.
        FormatError: A format is not known.
    """
    for name in formats:
        if name not in EXPORTS:
            known = list(EXPORTS)
            raise FormatError(
                f"format of proposals must be {one_of(known)}, not {name!r}{suggest(name, known)}"
            )
    data = [file for file in _earlier(folder) if file.suffix == ".json"]
    try:
        extensions = [load_proposal(file) for file in data]
    except ProposalError as error:
        raise RunError(str(error)) from None
    instructions = [i for extension in extensions for i in extension.instructions]
    xlen = extensions[0].xlens[0] if extensions else 32
    try:
        return _export(instructions, xlen, folder, formats)
    except OSError as error:
        raise RunError(f"{folder} cannot be written: {error.strerror}") from None


def _export(
    instructions: Sequence[Instruction], xlen: int, folder: Path, formats: Sequence[str]
) -> list[Path]:
    files = []
    for name in formats:
        for file, text in EXPORTS[name](instructions, xlen, STEM):
            (folder / file).write_text(text, encoding="utf-8")
            files.append(folder / file)
    return files

"""Delivery: proposals as files that a space can name, that people can read and commit."""

from __future__ import annotations

import json
from pathlib import Path

from dse.propose.listing import listing
from dse.propose.pipeline import Report
from dse.propose.report import to_json
from dse.run import RunError

REPORT = "proposals.json"


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
    return [folder / (name + suffix) for name in names for suffix in (".json", ".py")]


def deliver(report: Report, folder: Path) -> list[Path]:
    """Write the report, and for each proposal its data and its Python listing.

    What an earlier `dse propose` wrote there is replaced.

    Raises:
        RunError: The folder cannot be written, or holds something else.
    """
    xlen = report.request.instructions.xlen
    earlier = _earlier(folder)
    files = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in earlier:
            file.unlink(missing_ok=True)
        for proposal in report.proposals:
            data = folder / f"{proposal.name}.json"
            data.write_text(json.dumps(proposal.to_json(xlen), indent=1) + "\n", encoding="utf-8")
            python = folder / f"{proposal.name}.py"
            text = listing(
                proposal.instruction, xlen, proposal.slot.fields, f"rd = {proposal.idea.formula}"
            )
            python.write_text(text, encoding="utf-8")
            files += [data, python]
        whole = folder / REPORT
        whole.write_text(json.dumps(to_json(report), indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise RunError(f"{folder} cannot be written: {error.strerror}") from None
    return [whole, *files]

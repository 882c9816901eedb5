"""Delivery: proposals as files that a space can name, that people can read and commit."""

from __future__ import annotations

import json
from pathlib import Path

from dse.propose.listing import listing
from dse.propose.pipeline import Report
from dse.propose.report import to_json
from dse.run import RunError

REPORT = "proposals.json"


def claim(folder: Path) -> None:
    """Make a folder ready; what an earlier `dse propose` wrote there is replaced.

    Raises:
        RunError: It holds something else, or cannot be written.
    """
    try:
        if folder.is_dir() and any(folder.iterdir()):
            earlier = folder / REPORT
            if not earlier.is_file():
                raise RunError(
                    f"{folder} must be empty or hold earlier proposals; choose another --out"
                )
            for proposal in json.loads(earlier.read_text(encoding="utf-8"))["proposals"]:
                for suffix in (".json", ".py"):
                    (folder / (Path(str(proposal["name"])).name + suffix)).unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"{folder} cannot be written: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, RunError):
            raise
        raise RunError(
            f"{folder / REPORT} is not a report of dse propose; choose another --out"
        ) from None


def deliver(report: Report, folder: Path) -> list[Path]:
    """Write the report, and for each proposal its data and its Python listing.

    Raises:
        RunError: The folder cannot be written.
    """
    xlen = report.request.instructions.xlen
    files = []
    try:
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

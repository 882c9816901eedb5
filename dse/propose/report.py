"""Report: a proposal run as tables for people and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dse.propose.nearest import Nearest
from dse.propose.survey import Ranked, Survey

if TYPE_CHECKING:
    from rich.console import Console

    from dse.propose.pipeline import Report
    from dse.propose.proposal import Proposal

_NO_TERMINAL_WIDTH = 120
_REMARKS = {
    "equals": "",
    "is part of": "(part)",
    "mirrors": "(bytes reversed)",
    "is a setting of": "(by its state)",
}


def print_report(report: Report) -> None:
    """Print what was found to stdout."""
    console = _console()
    _print_survey(console, report.survey)
    base, chosen_set = report.base, report.selection
    words = [f"base {report.request.base}: {base.cycles:,.0f} cycles"]
    words += [
        f"{name} {figures.cycles:,} ({figures.kernel})" for name, figures in base.best.items()
    ]
    console.print("; ".join(words), highlight=False)
    console.print()
    console.print(_table(report))
    for number, proposal in enumerate(report.proposals, start=1):
        _print_explanation(console, number, proposal)
    chosen = [p for p in report.proposals if p.is_chosen]
    if chosen:
        final = chosen_set.score.cycles
        gain = 1 - final / base.cycles
        console.print(
            f"\nChosen set: {', '.join(p.name for p in chosen)}: "
            f"{final:,.0f} cycles, gain {gain:.1%} over {report.request.base}, "
            f"{chosen_set.area_ge:,.0f} GE as one extension block (mapped), "
            f"{sum(p.cost.area_ge for p in chosen):,.0f} GE as one each\n"
            f"{_sharing(report)}\n{_quality(report)}",
            highlight=False,
            soft_wrap=True,
        )
    for reference in report.references:
        console.print(
            f"For comparison, {', '.join(reference.names)} ({reference.extension}), found again: "
            f"{reference.cycles:,.0f} cycles, {reference.area_ge:,.0f} GE (mapped)",
            highlight=False,
            soft_wrap=True,
        )
    if report.third_port_ge:
        console.print(
            "Instructions that read 3 registers need a third read port of the register file "
            f"(core: read_ports: 3 in a space): {report.third_port_ge:,.0f} GE that are in none of "
            "these areas.",
            highlight=False,
            soft_wrap=True,
        )
    console.print(
        f"Took {report.seconds:.1f} s: {report.measured} ideas measured in {report.runs} programs, "
        "all with known answers.",
        highlight=False,
        soft_wrap=True,
    )


def _sharing(report: Report) -> str:
    """How far the merged area can be from the least."""
    area, least = report.selection.area_ge, report.least_area_ge
    return (
        "Operators shared as far as any merging can, without what selects their operands: "
        f"{least:,.0f} GE, so better merging would save at most {max(0.0, 1 - least / area):.1%}"
    )


def _quality(report: Report) -> str:
    """How far the chosen set can be from the best."""
    selection = report.selection
    bound, gap = selection.bound, selection.gap
    limit = "" if report.request.area_ge is None else f" within {report.request.area_ge:g} GE"
    sets = f"set of at most {report.request.top} of the {report.measured} measured{limit}"
    proviso = f"unless the compiler loses more than {bound.excess:.1%} by being offered more"
    if gap:
        found = f"At most {gap:.1%} from the best {sets} (bound {bound.cycles:,.0f} cycles)"
    else:
        found = f"Optimal: no {sets} is better"
    return f"{found}, {proviso}; {bound.sets} sets were measured."


def _console() -> Console:
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=_NO_TERMINAL_WIDTH)
    return console


def _print_survey(console: Console, survey: Survey) -> None:
    console.print(
        f"{survey.operations:,} operations, {survey.subgraphs:,} subgraphs in "
        f"{survey.enumerate_seconds:.2f} s, {len(survey.groups):,} meanings, "
        f"{len(survey.ranked):,} ideas in {survey.group_seconds:.2f} s",
        highlight=False,
    )
    if survey.truncated:
        console.print(
            f"truncated: the budget ran out in {', '.join(survey.truncated)}; some are missing",
            highlight=False,
        )


def _table(report: Report):  # type: ignore[no-untyped-def]
    from rich.table import Table

    table = Table(title=f"Proposed for {report.request.title}", title_justify="left")
    table.add_column("name", no_wrap=True)
    for heading in ("saved", "set", "places", "GE", "FO4", "lat"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("nearest known")
    table.add_column("proof")
    for p in report.proposals:
        table.add_row(
            p.name,
            f"{p.saved:,.0f}",
            f"{p.cycles_after:,.0f}" if p.cycles_after is not None else "-",
            str(p.occurrences),
            f"{p.cost.area_ge:,.0f}",
            f"{p.cost.delay_fo4:.1f}",
            str(p.latency),
            str(p.nearest),
            p.proof.method,
        )
    table.caption = (
        "saved: cycles, alone; set: cycles with it and all above it; GE, FO4: alone, with decode "
        "and result mux (mapped)"
    )
    table.caption_justify = "left"
    return table


def _print_explanation(console: Console, number: int, p: Proposal) -> None:
    lines = [f"{number}. {p.name}: rd = {p.idea.formula}"]
    if len(p.instructions) > 1:
        lines = [f"{number}. {p.name}: two results of {p.idea.operands} registers"]
        lines += [
            f"   {instruction.name}: rd = {text}"
            for instruction, text in zip(p.instructions, p.formulas, strict=True)
        ]
    lines += [f"   {slot.line}" for slot in p.slots]
    used = [f"{s.workload} ({s.kernel}): {s.saved:,} cycles saved" for s in p.savings if s.saved]
    if used:
        lines.append("   " + "; ".join(used))
    if p.lost_without is not None:
        lines.append(f"   without it the set loses {p.lost_without:,.0f} cycles")
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def print_known(survey: Survey) -> None:
    """Print the known instructions that were found again."""
    from rich.table import Table
    from rich.text import Text

    console = _console()
    _print_survey(console, survey)
    table = Table(title="Known instructions found", title_justify="left")
    for heading in ("instruction", "extension", "proof", "meaning"):
        table.add_column(heading)
    for heading in ("rank", "places", "bound"):
        table.add_column(heading, justify="right")
    for row in known_rows(survey):
        table.add_row(
            " ".join(filter(None, [row["instruction"], _REMARKS[row["relation"]]])),
            row["extension"],
            "proven" if row["is_proven"] else "vectors",
            Text(row["formula"]),
            str(row["rank"]),
            str(row["occurrences"]),
            f"{row['bound']:,.0f}",
        )
    table.caption = "rank and bound: by instructions it might save, an estimate before measuring"
    table.caption_justify = "left"
    console.print(table)


def known_rows(survey: Survey) -> list[dict[str, Any]]:
    """Each known instruction that an idea equals, with the best rank it has."""
    rows: dict[str, dict[str, Any]] = {}
    for rank, entry in enumerate(survey.ranked, start=1):
        nearest = entry.nearest
        if nearest.relation in _REMARKS and nearest.name not in rows:
            rows[nearest.name] = _known_row(rank, entry, nearest)
    return list(rows.values())


def _known_row(rank: int, entry: Ranked, nearest: Nearest) -> dict[str, Any]:
    return {
        "instruction": nearest.name,
        "relation": nearest.relation,
        "extension": nearest.extension,
        "is_proven": nearest.is_proven,
        "formula": entry.idea.formula,
        "rank": rank,
        "occurrences": len(entry.idea.occurrences),
        "bound": entry.idea.bound,
    }


def to_json(report: Report) -> dict[str, Any]:
    """Plain data."""
    xlen = report.request.instructions.xlen
    return {
        "workloads": [
            {"workload": workload.name, "weight": weight}
            for workload, weight in report.request.workloads
        ],
        "base": report.request.base,
        "inputs": report.request.inputs,
        "outputs": report.request.outputs,
        "core": repr(report.request.host),
        "third_port_ge": round(report.third_port_ge, 1),
        **survey_json(report.survey),
        "base_cycles": report.base.cycles,
        "final_cycles": report.selection.score.cycles,
        "set": [i.name for p in report.proposals if p.is_chosen for i in p.instructions],
        "set_area_ge": round(report.selection.area_ge, 1),
        "set_least_area_ge": round(report.least_area_ge, 1),
        "set_bound_cycles": report.selection.bound.cycles,
        "set_is_optimal": report.selection.gap == 0,
        "proposals": [row for p in report.proposals for row in p.to_json(xlen)],
        "references": [
            {
                "extension": r.extension,
                "instructions": list(r.names),
                "cycles": r.cycles,
                "area_ge": round(r.area_ge, 1),
            }
            for r in report.references
        ],
        "measured": report.measured,
        "programs": report.runs,
    }


def survey_json(survey: Survey) -> dict[str, Any]:
    """Plain data of what enumeration found."""
    return {
        "operations": survey.operations,
        "subgraphs": survey.subgraphs,
        "meanings": len(survey.groups),
        "ideas": len(survey.ranked),
        "truncated": list(survey.truncated),
    }

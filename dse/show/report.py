"""What `dse search` prints at the end: the front, its knee, and how good the search was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dse.front import Front, short_design
from dse.learn.prove import proof_lines
from dse.metrics import METRICS
from dse.show.points import point_lines
from dse.space import Space

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from dse.explore import Exploration

_MAIN = ("cycles", "time_ns", "area_ge", "gain", "leaks")
_PRODUCTS = ("code_bytes", "data_bytes", "tap_silicon_ge", "tap_ise", "tap_code")
_NO_TERMINAL_WIDTH = 120


def print_exploration(space: Space, exploration: Exploration) -> None:
    """Print the report of a search to stdout."""
    console = _console()
    front, result = exploration.front, exploration.result
    if exploration.is_interrupted:
        console.print("Interrupted: the front so far; continue with --resume.\n")
    if not front.rows:
        console.print(f"No feasible design among {result['designs']} evaluated.")
    else:
        print_front(space, front, console)
    console.print()
    for line in quality_lines(result):
        console.print(line, highlight=False)
    for line in point_lines(result.get("points", ())):
        console.print(line, highlight=False, markup=False)
    console.print()
    total = sum(result["seconds"].values())
    console.print(f"Took {_duration(total)}. ", end="")
    console.print("Written:", *(str(path) for path in exploration.files), sep="\n  ")


def print_front(space: Space, front: Front, console: Console | None = None) -> None:
    """Print the front as two tables, with its knee and ties."""
    console = console or _console()
    objectives = [name for name in front.objectives if name not in _MAIN]
    kind = "Exact front" if front.is_exact else "Pareto front"
    title = f"{kind} of {front.space}: {' x '.join(front.objectives)}"
    console.print(_table(space, front, title, [*_MAIN, *objectives], with_status=True))
    console.print()
    console.print(_table(space, front, "Sizes and time-area products", _PRODUCTS))
    console.print()
    base = front.baseline
    words = short_design(space, base.canonical, {})
    for name, data in base.workloads.items():
        blocks = data.get("blocks", 1)
        runs = f"{blocks} block{'s' if blocks > 1 else ''} a run"
        weight = next(use.weight for use in space.workloads if use.workload == name)
        console.print(f"Workload {name}: weight {weight:g}, {runs}", highlight=False)
    console.print(f"Baseline (gain 0): {words}", highlight=False)
    for number, row in enumerate(front.rows, start=1):
        if row.is_knee:
            console.print(f"Knee: row {number}, {_short(space, front, number)}", highlight=False)
    groups = tie_groups(front)
    if groups:
        shown = "; ".join(" ~ ".join(map(str, group)) for group in groups)
        console.print(f"Ties, rows closer than the stated errors: {shown}", highlight=False)
    _print_composition(front, console)
    for number, row in enumerate(front.rows, start=1):
        if not row.confirmation.ok:
            status, reason = row.confirmation.status, row.confirmation.reason
            console.print(f"Row {number} {status}: {reason}", highlight=False)


def _print_composition(front: Front, console: Console) -> None:
    """Say how far areas and periods are from whole netlists, and what ran on these."""
    checks = [row.confirmation for row in front.rows]
    areas = [c.area_error for c in checks if c.area_error is not None]
    periods = [c.period_error for c in checks if c.period_error is not None]
    if areas:
        text = f"Composed area against the design synthesised as one netlist: {_span(areas)}"
        if periods:
            text += f"; period: {_span(periods)}"
        luts = [c.luts_error for c in checks if c.luts_error is not None]
        if luts:
            text += f"; LUTs: {_span(luts)}"
        console.print(text, highlight=False)
    shortened = {name: size for check in checks for name, size in check.shortened.items()}
    if shortened:
        listed = ", ".join(f"{name} {size}" for name, size in shortened.items())
        console.print(f"Confirmed by shorter messages, in bytes: {listed}", highlight=False)


def _span(errors: Sequence[float]) -> str:
    """The least and the largest of relative errors."""
    return f"{min(errors):+.1%} to {max(errors):+.1%}"


def tie_groups(front: Front) -> list[list[int]]:
    """Groups of rows, numbered from 1, each of which ties with one of them; none inside another."""
    found = [{number, *row.ties} for number, row in enumerate(front.rows, 1) if row.ties]
    whole = [group for group in found if not any(group < other for other in found)]
    return sorted(sorted(group) for group in {frozenset(group) for group in whole})


def quality_lines(result: Mapping[str, Any]) -> list[str]:
    """How many designs were evaluated, and how the front compares."""
    lines = [
        f"Evaluated {result['designs']} distinct designs ({result['feasible']} feasible) at "
        f"{result['designs_per_second']:g} designs/s; {result['cache_hits']} answers from the "
        f"cache, {result['computed']} computed."
    ]
    if result.get("segment_runs"):
        lines.append(
            f"Before them, {result['segment_runs']} runs of single programs without hardware, from "
            "which the sampler estimates."
        )
    if result.get("history"):
        steps = ", ".join(f"{share:.0%} at {count}" for count, share in result["history"])
        lines.append(f"Hypervolume as designs were evaluated, share of the last: {steps}.")
    if "proof" in result:
        lines += proof_lines(result["proof"])
    if "frame" not in result:
        return lines
    exact, drawn = result["exact"], result.get("random")
    reference = ", ".join(f"{value:.4g}" for value in result["frame"]["reference"])
    beside = "every design was evaluated"
    if drawn:
        beside = (
            f"random search with as many designs: {drawn['hypervolume']:.4f} "
            f"({drawn['designs']} designs, front of {drawn['front']})"
        )
    lines.append(f"Hypervolume {result['hypervolume']:.4f}; {beside}.")
    if "share_found" in exact:
        lines.append(
            f"Exact front ({exact['canonical_designs']} distinct designs enumerated): "
            f"{exact['front']} points, {exact['share_found']:.0%} of them found; "
            f"hypervolume {exact['hypervolume']:.4f}, reached {exact['hypervolume_ratio']:.1%}."
        )
    else:
        lines.append(
            f"Exact front: not enumerated; {exact['designs']} designs would take about "
            f"{_duration(exact['projected_seconds'])} (budget "
            f"{_duration(exact['budget_seconds'])}; --exhaustive does it anyway)."
        )
    lines.append(
        "Hypervolume is the share of the box from the ideal point to the reference point "
        f"({reference}), 1.1 x the nadir of the compared fronts and the baseline."
    )
    return lines


def print_profile(result: Mapping[str, Any]) -> None:
    """Print where the time of a search went."""
    from rich.table import Table

    table = Table(title="Where the time went", title_justify="left")
    table.add_column("phase")
    table.add_column("seconds", justify="right")
    for phase, seconds in result["seconds"].items():
        table.add_row(phase, f"{seconds:.2f}")
    table.add_row("in evaluations, all workers", f"{result['busy_seconds']:.2f}")
    _console().print(table)


def _table(
    space: Space,
    front: Front,
    title: str,
    names: Sequence[str],
    *,
    with_status: bool = False,
) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("#", justify="right")
    if with_status:
        table.add_column("design", overflow="fold", ratio=1)
    shown = [name for name in names if name in front.metric_names]
    for name in shown:
        unit = METRICS[name].unit
        table.add_column(f"{name}\n{unit}", justify="right", no_wrap=True)
    if with_status:
        table.add_column("status", no_wrap=True)
    for number, row in enumerate(front.rows, start=1):
        mark = "*" if row.is_knee else ""
        cells = [f"{mark}{number}"]
        if with_status:
            cells.append(_short(space, front, number))
        for name in shown:
            value = row.evaluation.metrics[name].value
            is_share = name == "gain"
            cells.append(f"{value:+.1%}" if is_share else METRICS[name].format(value))
        if with_status:
            cells.append(row.confirmation.status)
        table.add_row(*cells)
    return table


def _short(space: Space, front: Front, number: int) -> str:
    design = front.rows[number - 1].evaluation.canonical
    return short_design(space, design, front.baseline.canonical)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _console() -> Console:
    from rich.console import Console

    console = Console()
    return console if console.is_terminal else Console(width=_NO_TERMINAL_WIDTH)

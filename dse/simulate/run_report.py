"""What `dse run` prints: output, counts, profile and the hottest block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dse.simulate.profile import Profile
from dse.simulate.simulation import LeakLine, Simulation
from isa.registers import NAMES

if TYPE_CHECKING:
    from rich.console import Console

ROWS = 12
"""Rows of each table; the rest is summed up."""


def print_simulation(done: Simulation, profile: Profile | None) -> None:
    """Print a run to stdout."""
    from rich.console import Console

    console = Console()
    outcome = done.outcome
    text = outcome.output.decode("utf-8", "replace")
    if text:
        console.out(text, end="" if text.endswith("\n") else "\n", highlight=False)
    if outcome.exit_code is None:
        console.print("ended with ebreak", highlight=False)
        for name, value in zip(NAMES, outcome.registers, strict=True):
            if value and name not in ("ra", "sp", "gp", "tp"):
                console.print(f"  {name:<4} {value:#x}", highlight=False)
    else:
        console.print(f"exit code    {done.exit_code}", highlight=False)
    console.print(f"instructions {outcome.instructions:,}", highlight=False)
    console.print(f"cycles       {done.cycles:,}", highlight=False)
    console.print(f"CPI          {done.cycles_per_instruction:.3f}", highlight=False)
    if profile is not None:
        _print_counts(console, "function", profile.functions)
        _print_counts(console, "instruction", profile.mnemonics)
        t = profile.traffic
        console.print(
            f"memory       {t['loads']:,} loads of {t['bytes_loaded']:,} bytes, "
            f"{t['stores']:,} stores of {t['bytes_stored']:,} bytes",
            highlight=False,
        )
        most = max(profile.pressure, key=lambda pc: (profile.pressure[pc], -pc))
        hot = profile.hottest[0].pc
        console.print(
            f"registers    {profile.registers} of 31 in use; live at once: at most "
            f"{profile.pressure[most]} (block {most:#x}), {profile.pressure[hot]} in the hottest",
            highlight=False,
        )
        console.print("\nhottest block", style="bold")
        for line in profile.hottest:
            comment = f"  # {line.comment}" if line.comment else ""
            console.print(
                f"{line.executions:>14,}  {line.pc:#010x}  {line.text}{comment}",
                highlight=False,
                markup=False,
            )


def _print_counts(console: Console, what: str, counts: Mapping[str, int]) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column(what, no_wrap=True)
    table.add_column("executed", justify="right")
    table.add_column("share", justify="right")
    total = sum(counts.values())
    rows = list(counts.items())
    for name, count in rows[:ROWS]:
        table.add_row(name, f"{count:,}", f"{count / total:.1%}")
    if rows[ROWS:]:
        rest = sum(count for _, count in rows[ROWS:])
        table.add_row(f"{len(rows) - ROWS} more", f"{rest:,}", f"{rest / total:.1%}")
    console.print(table)


def print_leaks(leaks: Sequence[LeakLine]) -> None:
    """Print where secrets showed in time."""
    from rich.console import Console

    console = Console()
    console.print(f"\n{len(leaks)} places where a secret shows in time", style="bold")
    for leak in leaks:
        console.print(
            f"{leak.count:>14,}  {leak.pc:#010x}  {leak.kind:<8}  {leak.text}",
            highlight=False,
            markup=False,
        )

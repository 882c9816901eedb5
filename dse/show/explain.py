"""One evaluation in words and tables: its metrics, and each workload down to its details."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dse.design import format_value
from dse.evaluation import Evaluation
from dse.front import short_design
from dse.metrics import METRICS
from dse.space import Space

if TYPE_CHECKING:
    from rich.console import Console


_PLAIN: dict[str, Any] = {"highlight": False, "markup": False, "soft_wrap": True}


def print_evaluation(space: Space, evaluation: Evaluation, baseline: Evaluation) -> None:
    """Print an evaluation to stdout."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console()
    words = short_design(space, evaluation.canonical, baseline.canonical)
    console.print(f"Design {words}  ({evaluation.canonical.digest[:12]})", highlight=False)
    for name, value in evaluation.canonical.items():
        console.print(f"  {name} = {format_value(value)}", highlight=False)
    console.print()
    if not evaluation.feasible:
        console.print(f"Infeasible: {evaluation.reason}\n", highlight=False)
    if evaluation.metrics:
        table = Table(box=box.SIMPLE_HEAD)
        for header in ("metric", "value", "unit", "baseline", "rung", "error"):
            is_number = header in ("value", "baseline", "error")
            table.add_column(header, justify="right" if is_number else "left", no_wrap=True)
        for name, metric in METRICS.items():
            if name not in evaluation.metrics:
                continue
            quantity = evaluation.metrics[name]
            base = baseline.metrics.get(name)
            table.add_row(
                name,
                metric.format(quantity.value),
                quantity.unit,
                metric.format(base.value) if base else "",
                quantity.rung,
                f"{quantity.error:.0%}" if quantity.error is not None else "",
            )
        console.print(table)
    for name, data in evaluation.workloads.items():
        console.print(f"Workload {name}", style="bold")
        _print_details(console, data, indent=2)


def print_card(title: str, card: Mapping[str, Any]) -> None:
    """Print a titled card of nested plain data to stdout."""
    from rich.console import Console

    console = Console()
    console.print(title, style="bold", highlight=False)
    _print_details(console, card, indent=2)


def _print_details(console: Console, data: Mapping[str, Any], indent: int) -> None:
    """Print nested plain data: scalars on a line each, mappings and lists below their name."""
    margin = " " * indent
    for name, value in data.items():
        if isinstance(value, (Mapping, list, tuple)) and not value:
            console.print(f"{margin}{name} = none", **_PLAIN)
        elif isinstance(value, Mapping):
            console.print(f"{margin}{name}:", **_PLAIN)
            _print_details(console, value, indent + 2)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            console.print(f"{margin}{name}:", **_PLAIN)
            for item in value:
                console.print(
                    f"{margin}  {_scalar(item)}", highlight=False, markup=False, soft_wrap=True
                )
        else:
            console.print(
                f"{margin}{name} = {_scalar(value)}", highlight=False, markup=False, soft_wrap=True
            )


def _scalar(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_scalar(item)}" for key, item in value.items())
    if isinstance(value, float):
        return f"{value:.6g}"
    return format_value(value) if isinstance(value, (bool, int, str, type(None))) else str(value)

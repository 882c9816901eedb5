"""The progress bar on stderr."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

from dse.search import Progress


class ProgressBar:
    """Shows a search as it runs: designs/s, cache hits, size of the front, hypervolume.

    Silent where stderr is not a terminal.
    """

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bars

        console = Console(stderr=True)
        self._bars = Bars(
            TextColumn("{task.description:<11}"),
            BarColumn(bar_width=10),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._phase = ""
        self._task: Any = None
        self._started = 0.0

    def __enter__(self) -> ProgressBar:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bars.stop()

    def __call__(self, progress: Progress) -> None:
        """Show the state of a search."""
        if progress.phase != self._phase:
            self._phase = progress.phase
            self._started = time.perf_counter()
            self._task = self._bars.add_task(progress.phase, total=progress.total, state="")
        rate = progress.done / max(time.perf_counter() - self._started, 1e-3)
        words = [
            f"{rate:,.0f} designs/s" if rate >= 10 else f"{rate:.1f} designs/s",
            f"{progress.hits} cached",
        ]
        if progress.front:
            words.append(f"front {progress.front}")
        if progress.hypervolume is not None:
            words.append(f"HV {progress.hypervolume:.4f}")
        state = ", ".join(words) if progress.phase != "confirming" else "on the netlist"
        self._bars.update(self._task, completed=progress.done, total=progress.total, state=state)

"""The front on stderr as it grows, for `dse search --live`."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

from dse.front import short_design
from dse.metrics import METRICS
from dse.search import Found, Progress
from dse.space import Space

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_PER_SECOND = 5  # frames, where the front stays the same
_BESIDE = 7  # lines of a frame that are not designs


class LiveFront:
    """Shows the state of a search and its front, redrawn in place.

    Where stderr is not a terminal it prints a line each time the front has changed.
    """

    def __init__(self, space: Space, console: Console | None = None) -> None:
        from rich.console import Console
        from rich.live import Live

        self.space = space
        self.console = console or Console(stderr=True)
        self._live = Live(console=self.console, auto_refresh=False, transient=True)
        self._reference = space.neutral.replace(space.baseline)
        self._phase = ""
        self._started = self._drawn = 0.0
        self._found: Found | None = None
        self._front: frozenset[str] = frozenset()

    def __enter__(self) -> LiveFront:
        if self.console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.console.is_terminal:
            self._live.stop()

    def __call__(self, progress: Progress) -> None:
        """Show the state of a search."""
        now = time.perf_counter()
        is_new = progress.phase != self._phase
        if is_new:
            self._phase, self._started = progress.phase, now
        if progress.found is not None and progress.phase != "random":
            front = frozenset(progress.found.front)
            is_new |= front != self._front
            self._found, self._front = progress.found, front
        is_due = now - self._drawn >= 1 / _PER_SECOND or progress.done == progress.total
        if not is_new and not (is_due and self.console.is_terminal):
            return
        self._drawn = now
        line = self._line(progress, now - self._started)
        if self.console.is_terminal:
            self._live.update(self._frame(line), refresh=True)
        else:
            self.console.print(line, highlight=False, markup=False)

    def _line(self, progress: Progress, seconds: float) -> str:
        rate = progress.done / max(seconds, 1e-3)
        words = [f"{progress.phase} {progress.done}/{progress.total}"]
        if progress.done:
            words.append(f"{rate:,.0f} designs/s" if rate >= 10 else f"{rate:.1f} designs/s")
        words.append(f"{progress.hits} cached")
        if self._found is not None:
            words.append(f"front {len(self._found.front)}")
            if self._found.history:
                words.append(f"hypervolume {self._found.history[-1][1]:.4f}")
        return ", ".join(words)

    def _frame(self, line: str) -> RenderableType:
        from rich import box
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        head = Text(line)
        if self._found is None or not self._found.front:
            return head
        metrics = [METRICS[objective.metric] for objective in self.space.objectives]
        table = Table(box=box.SIMPLE_HEAD)
        table.add_column("design", no_wrap=True, overflow="ellipsis", ratio=1)
        for metric in metrics:
            table.add_column(f"{metric.name}\n{metric.unit}", justify="right", no_wrap=True)
        rows = self._found.rows()
        room = max(1, self.console.height - _BESIDE)
        shown = rows if len(rows) <= room else [rows[i] for i in _spread(len(rows), room)]
        for evaluation in shown:
            cells: list[Any] = [short_design(self.space, evaluation.canonical, self._reference)]
            cells += [metric.format(evaluation.metrics[metric.name].value) for metric in metrics]
            table.add_row(*cells)
        hidden = len(rows) - len(shown)
        return Group(head, table, *([Text(f"and {hidden} between")] if hidden else []))


def _spread(count: int, room: int) -> list[int]:
    """`room` of `count` positions, evenly, the first and the last among them."""
    return [round(i * (count - 1) / max(1, room - 1)) for i in range(room)]

"""Ctrl-C, heeded where a search can stop cleanly and not wherever it strikes.

An exception out of a signal handler can be raised anywhere, inside a finaliser too, where Python
prints it and goes on. So the handler only notes that there was a Ctrl-C, and whoever waits or has
finished a step asks.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

POLL_SECONDS = 0.1
"""Longest wait between two looks."""


class _Noted:
    """How many Ctrl-C there were since they are noted, and whether the first is still to heed."""

    count = 0
    is_pending = False


@contextmanager
def noted() -> Iterator[None]:
    """Note the first Ctrl-C for `heed`; a second one raises KeyboardInterrupt at once.

    Outside the main thread, and where Ctrl-C is ignored or handled already, nothing changes.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    _Noted.count, _Noted.is_pending = 0, False
    signal.signal(signal.SIGINT, _note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def heed() -> None:
    """Raise KeyboardInterrupt where a Ctrl-C was noted and not heeded yet."""
    if _Noted.is_pending:
        _Noted.is_pending = False
        raise KeyboardInterrupt


def _note(number: int, frame: FrameType | None) -> None:
    _Noted.count += 1
    if _Noted.count > 1:
        raise KeyboardInterrupt
    _Noted.is_pending = True

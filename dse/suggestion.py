"""The tail of an error message: what is accepted, and the nearest valid name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

_MAX_LISTED = 13


def suggest(found: object, names: Iterable[str]) -> str:
    """`; did you mean 'zkne'?` when a name is close to what was found, else nothing."""
    text = str(found)
    known = sorted(names)
    close = difflib.get_close_matches(text, known, 1, cutoff=0.6)
    if not close:
        lowered = {name.lower(): name for name in known}
        close = [lowered[n] for n in difflib.get_close_matches(text.lower(), sorted(lowered), 1)]
    return f"; did you mean {close[0]!r}?" if close else ""


def one_of(names: Sequence[str]) -> str:
    """`2, 3 or 5`; a long list is cut and says how many there are."""
    if len(names) > _MAX_LISTED:
        return f"one of {', '.join(names[:_MAX_LISTED])}, ... ({len(names)} in all)"
    if len(names) <= 1:
        return "".join(names)
    return f"{', '.join(names[:-1])} or {names[-1]}"

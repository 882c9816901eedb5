"""Our numbers beside the papers': a ledger of published figures, and designs that stand for them.

`load_ledger` reads a paper's file, `reproduce` evaluates its designs, `compare` makes the rows;
`published_points` is for plots.
"""

from __future__ import annotations

from dse.compare.ledger import Ledger, LedgerError, find_paper, load_ledger, paper_names
from dse.compare.points import PublishedPoint, published_points
from dse.compare.rows import Row, Summary, compare, summarise

__all__ = [
    "Ledger",
    "LedgerError",
    "PublishedPoint",
    "Row",
    "Summary",
    "compare",
    "find_paper",
    "load_ledger",
    "paper_names",
    "published_points",
    "summarise",
]

"""`python -m dse` is the `dse` program."""

from __future__ import annotations

from dse.cli import main

main()

"""Zkt: the promise of data-independent latency.

It adds no instruction. Every instruction on the list of Zkt carries the promise itself, as
`data_independent`, whether or not the extension is named.
"""

from __future__ import annotations

from isa.instruction import Extension

EXTENSION = Extension("zkt", source="RISC-V Cryptography Extensions Volume I 1.0.1, chapter 5")

"""Identifiers: which names of a PyRTL block are the user's, and names that Verilog accepts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

__all__ = ["KEYWORDS", "Identifiers", "is_identifier", "is_temporary", "naming_order"]

_TEMPORARY = re.compile(r"(?:tmp|const_)(\d+)")

_WORDS = """
accept_on alias always always_comb always_ff always_latch and assert assign assume automatic
before begin bind bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle
checker class clocking cmos config const constraint context continue cover covergroup coverpoint
cross deassign default defparam design disable dist do edge else end endcase endchecker endclass
endclocking endconfig endfunction endgenerate endgroup endinterface endmodule endpackage
endprimitive endprogram endproperty endsequence endspecify endtable endtask enum event eventually
expect export extends extern final first_match for force foreach forever fork forkjoin function
generate genvar global highz0 highz1 if iff ifnone ignore_bins illegal_bins implements implies
import incdir include initial inout input inside instance int integer interconnect interface
intersect join join_any join_none large let liblist library local localparam logic longint
macromodule matches medium modport module nand negedge nettype new nexttime nmos nor
noshowcancelled not notif0 notif1 null or output package packed parameter pmos posedge primitive
priority program property protected pull0 pull1 pulldown pullup pulsestyle_ondetect
pulsestyle_onevent pure rand randc randcase randsequence rcmos real realtime ref reg reject_on
release repeat restrict return rnmos rpmos rtran rtranif0 rtranif1 s_always s_eventually
s_nexttime s_until s_until_with scalared sequence shortint shortreal showcancelled signed small
soft solve specify specparam static string strong strong0 strong1 struct super supply0 supply1
sync_accept_on sync_reject_on table tagged task this throughout time timeprecision timeunit tran
tranif0 tranif1 tri tri0 tri1 triand trior trireg type typedef union unique unique0 unsigned until
until_with untyped use uwire var vectored virtual void wait wait_order wand weak weak0 weak1 while
wildcard wire with within wor xnor xor
"""
KEYWORDS = frozenset(_WORDS.split())
"""Reserved words of IEEE 1800-2017, annex B, which contains those of Verilog."""


def is_temporary(name: str) -> bool:
    """Whether PyRTL made up `name`; its number depends on all that the process has built."""
    return _TEMPORARY.match(name) is not None


def naming_order(thing: Any) -> tuple[bool, int, str]:
    """Sort key of wires and memories: given names first, then the others in order of creation."""
    temporary = _TEMPORARY.match(thing.name)
    return (True, int(temporary[1]), "") if temporary else (False, 0, thing.name)


def is_identifier(name: str) -> bool:
    """Whether `name` can stand in Verilog as it is, without a backslash."""
    return re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) is not None and name not in KEYWORDS


class Identifiers:
    """The identifiers of one module."""

    def __init__(self, reserved: Iterable[str]) -> None:
        """Start with names that nobody may have."""
        self._taken = set(reserved)
        self._rank: dict[str, int] = {}

    def fresh(self, name: str) -> str:
        """Return `name`, or the nearest identifier that nobody else has."""
        stem = re.sub(r"\W", "_", name, flags=re.ASCII)
        if not re.match(r"[A-Za-z_]", stem):
            stem = f"_{stem}"
        found = stem
        while found in self._taken or not is_identifier(found):
            self._rank[stem] = self._rank.get(stem, -1) + 1
            found = f"{stem}_{self._rank[stem]}"
        self._taken.add(found)
        return found

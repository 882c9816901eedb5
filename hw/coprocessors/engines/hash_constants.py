"""Hash constants: the round constants of SHA-256, SHA-512 and SM3, from tables and a register."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyrtl

from hw.coprocessors.engines.wiring import Wire, at_top, chosen, rotl, table_entry
from isa import sm3
from isa.sha2 import SHA256, SHA512

__all__ = ["LATE_ROUND", "GroupClock", "round_constants"]

LATE_ROUND = 16
"""The round from which SM3 rotates another constant."""


@dataclass(frozen=True)
class GroupClock:
    """Where a block stands.

    Attributes:
        group: Number of the group.
        following: That of the next cycle.
        end: Whether the group ends in this cycle.
        running: Whether rounds run.
    """

    group: Wire
    following: Wire
    end: Wire
    running: Wire


def round_constants(
    selected: Mapping[str, Wire], rounds: int, lag: Mapping[str, int], clock: GroupClock
) -> list[Wire]:
    """Return the constant of each round of a group, 64 bits wide with SHA-512, else 32.

    One of 32 bits stands in the upper half. The first is read a group ahead into a register,
    since the rounds wait for it; SM3, whose constants are two words that rotate, rotates them
    there.

    Args:
        selected: Whether each algorithm held is selected.
        rounds: Rounds of a group.
        lag: Number of the group in which the first rounds of an algorithm run.
        clock: Which group it is.
    """
    wide = "sha512" in selected
    sha2 = [name for name in selected if name != "sm3"]
    values = (SHA512 if wide else SHA256).constants
    first = pyrtl.Register(64 if wide else 32)

    def tabled(position: int, number: Wire) -> dict[str, Wire]:
        """Return the constants of SHA-2; entry `lag` of a table is the first of them."""
        if not sha2:
            return {}
        those = values[position::rounds]
        entry = table_entry([those[0]] * lag[sha2[0]] + list(those), number, len(first))
        if wide and len(selected) > 1:
            lower = entry[:32] & selected["sha512"].sign_extended(32)
            entry = pyrtl.concat(entry[32:], lower)
        return dict.fromkeys(sha2, entry)

    def turned(position: int) -> dict[str, Wire]:
        if "sm3" not in selected:
            return {}
        word = rotl(first[len(first) - 32 :], position)
        return {"sm3": at_top(word, len(first))}

    ahead = tabled(0, clock.following)
    if "sm3" in selected:
        ahead["sm3"] = _turning(first, rounds, lag["sm3"], clock)
    first.next <<= chosen(ahead, selected)
    rest = [chosen(tabled(i, clock.group) | turned(i), selected) for i in range(1, rounds)]
    return [first, *rest]


def _turning(first: Wire, rounds: int, lag: int, clock: GroupClock) -> Wire:
    """Return the next constant of SM3 for the first round of a group."""
    word = first[len(first) - 32 :]
    switches = clock.group == lag + LATE_ROUND // rounds - 1
    late = pyrtl.Const(sm3.ROUND_CONSTANTS[LATE_ROUND], 32)
    step = pyrtl.select(switches, late, rotl(word, rounds))
    turned = pyrtl.select(clock.end, step, word)
    start = pyrtl.Const(sm3.ROUND_CONSTANTS[0], 32)
    return at_top(pyrtl.select(clock.running, turned, start), len(first))

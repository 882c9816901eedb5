"""Icicle: what makes the five-stage core keep time with NLU-V's host (`isa.icicle`)."""

from __future__ import annotations

from typing import TypeAlias

import pyrtl

from hw.decoder import Control

Wire: TypeAlias = pyrtl.WireVector


def resting(commit: Wire, control: Control, taken: Wire) -> Wire:
    """Build the counter that keeps ID from handing on after an instruction has left EX.

    Args:
        commit: 1 bit, an instruction leaves EX.
        control: Of that.
        taken: 1 bit, it leads elsewhere.

    Returns:
        1 bit, nothing may enter EX in the next cycle.
    """
    ahead, left = pyrtl.Register(1, "port_ahead"), pyrtl.Register(3, "port_rest")
    access = control.load | control.store
    long = control.load | taken | control.store & ahead
    # Turns of the port, of two cycles each, beyond the one that every instruction takes.
    turns = pyrtl.concat(long, ~long & (control.writes_rd | control.store))
    saves = ahead & ~access & (turns != 0)
    saved = pyrtl.concat(pyrtl.Const(0, 1), turns[1])  # 2 becomes 1, and 1 none
    turns = pyrtl.select(saves, saved, turns)
    stays = ahead & ~access & ~saves
    ahead.next <<= pyrtl.select(commit, stays | control.store & ~ahead, ahead)
    fewer = Wire(bitwidth=4)
    fewer <<= left - pyrtl.Const(1, 3)
    waiting = pyrtl.select(left == 0, left, fewer[:3])
    left.next <<= pyrtl.select(commit, pyrtl.concat(turns, pyrtl.Const(0, 1)), waiting)
    return commit | (left != 0)

"""Encodings of a set are given together."""

from __future__ import annotations

from types import SimpleNamespace

from dse.propose.candidate import Candidate
from dse.propose.encoded import encoded
from dse.propose.idea import Idea
from dse.propose.nearest import Nearest
from dse.propose.proposal import make_instructions
from dse.propose.slot import encodings_in_use
from isa.bits import Bits, arg

X, Y, BS = arg("rs1", 32), arg("rs2", 32), arg("bs", 2)


def candidate(root: Bits, operands: int, *immediates: tuple[str, int]) -> Candidate:
    idea = Idea(root, operands, immediates, (), ((),), "")
    made, slots = make_instructions(idea, Nearest(), [], [], "a test")
    none = SimpleNamespace()
    return Candidate(idea, made, slots, {}, none, none)  # type: ignore[arg-type]


def test_functions_are_counted_up_whatever_the_order() -> None:
    some = [candidate(X.rotr(n), 1) for n in (3, 5, 9)]
    some += [candidate(X ^ Y.rotr(4), 2), candidate(X + Y.shl_var(BS.zext(5)), 2, ("bs", 2))]
    taken = encodings_in_use()
    found = encoded(some, taken)
    lines = {c.instructions[0].name: c.instructions[0].line for c in found}
    again = encoded(some[::-1], taken)
    assert {c.instructions[0].name: c.instructions[0].line for c in again} == lines
    functions = sorted(c.instructions[0].encoding.match >> 20 for c in found[:3])
    assert functions == list(range(functions[0], functions[0] + 3))
    assert len({c.instructions[0].encoding.match & 0x7F for c in found}) == 1
    encodings = [c.slots[0].encoding for c in found] + taken
    for i, a in enumerate(encodings[: len(found)]):
        for b in encodings[i + 1 :]:
            assert (a.match ^ b.match) & a.mask & b.mask
    for before, after in zip(some, found, strict=True):
        assert after.instructions[0].effects(32) == before.instructions[0].effects(32)
        assert after.instructions[0].encoding is after.slots[0].encoding

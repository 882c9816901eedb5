"""Compression: rounds and message schedule of SHA-256, SHA-512 and SM3 on shared adders.

Names of values are those of FIPS 180-4 section 6 and GB/T 32905-2016 section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pyrtl

from hw.coprocessors.engines.stages import cut
from hw.coprocessors.engines.wiring import Wire, at_top, carry_save, chosen, rotl, rotr, total
from isa.sha2 import SHA256, SHA512, Sha2

__all__ = ["Compression"]

AFTER_FO4 = 2.0
"""Delay of the multiplexer behind a group of rounds."""


class Compression:
    """Combinational logic of one group of rounds for the algorithms held.

    Words are 64 bits wide with SHA-512, else 32; words of 32 bits stand in the upper half.

    Attributes:
        width: Bits of a word.
    """

    def __init__(self, held: Sequence[str], selected: Mapping[str, Wire], rounds: int) -> None:
        self.held = tuple(held)
        self.selected = selected
        self.rounds = rounds
        self.width = 64 if "sha512" in held else 32
        self.sha2 = tuple(name for name in held if name != "sm3")
        self.sm3 = "sm3" in held

    # --- Words -----------------------------------------------------------------------------------

    def aligned(self, word: Wire) -> Wire:
        """Return a word of an algorithm as it stands here, zeros below it."""
        return at_top(word, self.width)

    def significant(self, word: Wire, bits: int) -> Wire:
        """Return the upper bits of a word."""
        return word[self.width - bits :]

    def turned(self, word: Wire, amount: int) -> Wire:
        """Return a word of SM3 rotated left."""
        return self.aligned(rotl(self.significant(word, 32), amount))

    def constants(self, values: Mapping[str, Sequence[int]]) -> list[Wire]:
        """Return the constants of the selected algorithm."""
        words: dict[str, list[Wire]] = {}
        for name in values:
            bits = 64 if name == "sha512" else 32
            words[name] = [self.aligned(pyrtl.Const(v, bits)) for v in values[name]]
        count = len(next(iter(values.values())))
        return [chosen({n: words[n][i] for n in self.held}, self.selected) for i in range(count)]

    def joined(self, old: Wire, new: Wire, turned: Wire) -> Wire:
        """Return a word of the chaining value with one of the state.

        It is their sum; under SM3 the XOR of the first and `turned`.
        """
        return self._either(lambda: total(old, new), lambda: old ^ turned)

    def _either(self, of_sha2: Callable[[], Wire], of_sm3: Callable[[], Wire]) -> Wire:
        """Return one word for SHA-2, another for SM3; what is not held is not built.

        Under SM3 the lower half of either is 0, so that of SHA-2 serves both.
        """
        if not self.sm3:
            return of_sha2()
        if not self.sha2:
            return of_sm3()
        one, other = of_sha2(), of_sm3()
        upper = pyrtl.select(
            self.selected["sm3"], self.significant(other, 32), self.significant(one, 32)
        )
        return self._with_lower(upper, one)

    def _with_lower(self, upper: Wire, word: Wire) -> Wire:
        """Return an upper half above the lower half of a word, if it has one."""
        return upper if self.width == 32 else pyrtl.concat(upper, word[:32])

    def _only(self, value: Wire, *, in_sm3: bool) -> list[Wire]:
        """Return a summand of SM3 or of SHA-2 alone: 0 for the other, none without the one."""
        if not (self.sm3 if in_sm3 else self.sha2):
            return []
        if not (self.sha2 if in_sm3 else self.sm3):
            return [value]
        on = self.selected["sm3"] if in_sm3 else ~self.selected["sm3"]
        upper = self.significant(value, 32) & on.sign_extended(32)
        return [self.aligned(upper) if in_sm3 else self._with_lower(upper, value)]

    # --- A group ---------------------------------------------------------------------------------

    def group(
        self,
        state: Sequence[Wire],
        schedule: Sequence[Wire],
        constants: Sequence[Wire],
        early: Wire,
        stages: int,
    ) -> tuple[list[Wire], list[Wire]]:
        """Return the state after a group of rounds, and as many new words of the schedule.

        Args:
            state: Words a to h.
            schedule: Sixteen words; the last are those that the previous group brought.
            constants: Of the rounds.
            early: Whether they are some of the first 16 of SM3.
            stages: Cycles after which the results are right, if the rest holds still.
        """
        r = self.rounds
        values = list(state)
        for i, constant in enumerate(constants):
            last, first = schedule[16 - r + i], schedule[12 - r + i]
            values = self._round(values, constant, last, first, early)
        words = self._expanded(schedule)
        results = cut([*values, *words], stages, AFTER_FO4)
        return results[:8], results[8:]

    def _round(
        self, s: Sequence[Wire], constant: Wire, last: Wire, first: Wire, early: Wire
    ) -> list[Wire]:
        """Return the state after a round.

        T1 of SHA-2 stays in carry-save form; SM3 adds up SS1 before its rotation on the same
        adders.

        Args:
            s: Words a to h.
            constant: Of the round.
            last: Word of the round in SHA-2, that four words later in SM3.
            first: Word of the round in SM3.
            early: Whether it is one of the first 16 of SM3.
        """
        a, b, c, d, e, f, g, h = s
        ff = (a & b) | ((a | b) & c)
        gg = ((f ^ g) & e) ^ g
        if self.sm3:
            early = early if not self.sha2 else early & self.selected["sm3"]
            ff = pyrtl.select(early, a ^ b ^ c, ff)
            gg = pyrtl.select(early, e ^ f ^ g, gg)
        a12 = self.turned(a, 12)
        partial, carries = carry_save(
            self._either(lambda: h, lambda: e),
            constant,
            *self._only(last, in_sm3=False),
            *self._only(gg, in_sm3=False),
            self._either(lambda: self._sigma(e, "big1"), lambda: a12),
        )
        ss1 = a12
        if self.sm3:
            upper = total(self.significant(partial, 32), self.significant(carries, 32))
            ss1 = self.aligned(rotl(upper, 7))
        new_a = total(
            self._either(lambda: self._sigma(a, "big0"), lambda: d),
            ff,
            self._either(lambda: carries, lambda: first ^ last),
            self._either(lambda: partial, lambda: ss1 ^ a12),
        )
        new_e = total(
            self._either(lambda: d, lambda: h),
            *self._only(gg, in_sm3=True),
            self._either(lambda: carries, lambda: first),
            self._either(lambda: partial, lambda: ss1),
        )
        p0 = new_e
        if self.sm3:
            p0 = new_e ^ self.turned(new_e, 9) ^ self.turned(new_e, 17)
        return [
            new_a,
            a,
            self._either(lambda: b, lambda: self.turned(b, 9)),
            c,
            self._either(lambda: new_e, lambda: p0),
            e,
            self._either(lambda: f, lambda: self.turned(f, 19)),
            g,
        ]

    def _sigma(self, x: Wire, name: str) -> Wire:
        """Return one of the four functions of one word, by the name of its rotations."""

        def of(sha2: Sha2) -> Wire:
            word = self.significant(x, sha2.width)
            r0, r1, r2 = getattr(sha2, name)
            third = rotr(word, r2)
            if name.startswith("small"):
                third = pyrtl.concat(pyrtl.Const(0, r2), word[r2:])
            return self.aligned(rotr(word, r0) ^ rotr(word, r1) ^ third)

        words = {"sha256": SHA256, "sha512": SHA512}
        word = chosen({n: of(words[n]) for n in self.sha2}, self.selected)
        if self.sm3 and self.sha2 == ("sha512",):
            lower = word[:32] & self.selected["sha512"].sign_extended(32)
            word = pyrtl.concat(word[32:], lower)
        return word

    def _expanded(self, schedule: Sequence[Wire]) -> list[Wire]:
        """Return the words behind the schedule."""
        w = list(schedule)

        def of_sha2(i: int) -> Wire:
            s0, s1 = self._sigma(w[i + 1], "small0"), self._sigma(w[i + 14], "small1")
            return total(w[i], s0, w[i + 9], s1)

        def of_sm3(i: int) -> Wire:
            x = w[i] ^ w[i + 7] ^ self.turned(w[i + 13], 15)
            p1 = x ^ self.turned(x, 15) ^ self.turned(x, 23)
            return p1 ^ self.turned(w[i + 3], 7) ^ w[i + 10]

        for i in range(self.rounds):
            w.append(self._either(partial(of_sha2, i), partial(of_sm3, i)))
        return w[16:]

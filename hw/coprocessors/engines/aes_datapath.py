"""AES datapath: one round circuit, the key schedule beside it, and the blocks of Haraka."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence

import pyrtl

from hw.coprocessors.engines.aes_round import Round, Substitution, key_step
from hw.coprocessors.engines.engine import Inputs, Outputs, Shape
from hw.coprocessors.engines.phase import phase_end
from hw.coprocessors.engines.stages import cut
from hw.coprocessors.engines.wiring import (
    Wire,
    any_of,
    chosen,
    incremented,
    item,
    split,
    table_entry,
)
from isa import haraka
from isa.aes import multiply

__all__ = ["BLOCKS", "DECRYPT", "ENCRYPT", "ROUNDS", "build_aes"]

AFTER_FO4 = 3.5
"""Delay of the multiplexers behind a group of rounds."""
ROUNDS = 10
"""Of AES-128, and those of AES in the rounds of Haraka for each of its blocks."""
ENCRYPT, DECRYPT = "aes128-encrypt", "aes128-decrypt"
BLOCKS = {"haraka256": 2, "haraka512": 4}
"""Blocks of 16 bytes in the state of the hashes."""


def build_aes(
    p: Shape, held: Sequence[str], rounds: int, inputs: Inputs, take_bits: int
) -> Outputs:
    """Build the engine in the working block.

    Args:
        p: Parameters.
        held: Algorithms, sorted.
        rounds: Rounds of a group, 1 or 2.
        inputs: Wires.
        take_bits: Width of `take`.
    """
    return _Aes(p, held, rounds, inputs, take_bits).build()


class _Aes:
    """One engine being built: its registers and what they hold next."""

    def __init__(
        self, p: Shape, held: Sequence[str], rounds: int, inputs: Inputs, take_bits: int
    ) -> None:
        self.p, self.held, self.rounds, self.inputs = p, held, rounds, inputs
        self.ciphers = [name for name in held if name not in BLOCKS]
        self.hashes = [name for name in held if name in BLOCKS]
        blocks = max(BLOCKS.get(name, 1) for name in held)
        self.words = {n: BLOCKS.get(n, 1) * 128 // p.width for n in held}
        self.state = [pyrtl.Register(p.width) for _ in range(blocks * 128 // p.width)]
        # The first key of a block, which is added to it, and the first of the group.
        self.kept, self.key = (
            pyrtl.Register(128) if self.ciphers else pyrtl.Const(0, 128) for _ in range(2)
        )
        self.groups = {n: ROUNDS // rounds * BLOCKS.get(n, 1) for n in held}
        self.group = pyrtl.Register((max(self.groups.values()) - 1).bit_length())
        self.number = pyrtl.Register(take_bits)
        self.busy, self.loading = pyrtl.Register(1), pyrtl.Register(1)
        self.folding = pyrtl.Register(1) if self.hashes else pyrtl.Const(0, 1)
        self.keying = pyrtl.Register(1) if self.ciphers else pyrtl.Const(0, 1)
        # In a KEY operation of decryption: the schedule has begun to run to its end.
        self.under_way = pyrtl.Register(1) if DECRYPT in held else pyrtl.Const(0, 1)
        # The group is the last of all blocks, told a cycle ahead since `ready` waits for it.
        self.at_end = pyrtl.Register(1)
        self.last = self.group == ROUNDS // rounds - 1
        self.working = self.busy & ~(self.loading | self.folding)
        self.end = self.working & phase_end(self.working, p.stages)

    # --- What depends on the algorithm -----------------------------------------------------------

    def by_algorithm(self, value: Callable[[str], Wire]) -> Wire:
        """Return the wire that `value` gives for the selected algorithm."""
        return chosen({name: value(name) for name in self.held}, self.inputs.selected)

    def by_number(self, value: Callable[[str], int], word: Wire) -> Wire:
        """Return whether a word is the number that belongs to the selected algorithm."""
        wires = {n: word == n for n in dict.fromkeys(map(value, self.held))}
        return self.by_algorithm(lambda name: wires[value(name)])

    def among(self, names: Sequence[str]) -> Wire:
        """Return whether the selected algorithm is one of these."""
        if set(names) >= set(self.held):
            return pyrtl.Const(1, 1)
        return any_of(*(self.inputs.selected[n] for n in names if n in self.held))

    # --- Build -----------------------------------------------------------------------------------

    def build(self) -> Outputs:
        """Connect everything."""
        ready, take = self._control()
        inverse = self.among([DECRYPT]) if DECRYPT in self.held else None
        forward = any(name != DECRYPT for name in self.held)
        boxes = Substitution(self.p.aes_sbox, forward=forward, inverse=inverse)
        keys, following = self._key_schedule(boxes)
        block = self._rounds(boxes, keys)
        results = [block, following, keys[-1]]
        block, following, last_key = cut(results, self.p.stages, AFTER_FO4)
        if self.ciphers:
            self._key_next(last_key, following)
        self._state_next(block)
        return Outputs(take, self.busy, ready, self._out())

    def _control(self) -> tuple[Wire, Wire]:
        """Return `ready` and `take`."""
        inputs, p = self.inputs, self.p
        zero = pyrtl.Const(0, len(self.number))
        loaded = self.by_number(lambda n: self.words[n] - 1, self.number)
        if self.ciphers:  # a key has as many words as a block of theirs
            loaded = pyrtl.select(self.keying, self.number == 128 // p.width - 1, loaded)
        loaded = loaded & self.loading
        done = self.end & self.at_end
        folded = self.folding & (self.number == 256 // p.width - 1)
        hashing = self.among(self.hashes) if self.hashes else pyrtl.Const(0, 1)
        final = folded | (done & ~hashing)
        if DECRYPT in self.held:
            begins = self.keying & self.among([DECRYPT]) & ~self.under_way
            final = final & ~begins
            self.under_way.next <<= self.keying & self.working & (self.under_way | self.end)
        ready = ~self.busy | final
        self.busy.next <<= inputs.run | (self.busy & ~final)
        self.loading.next <<= inputs.run | (self.loading & ~loaded)
        if self.hashes:
            self.folding.next <<= (done & hashing) | (self.folding & ~folded)
        if self.ciphers:
            self.keying.next <<= pyrtl.select(inputs.run, inputs.key, self.keying & ~final)
        counts = (self.loading & ~loaded) | (self.folding & ~folded)
        following = incremented(self.number)
        self.number.next <<= pyrtl.select(counts, following, zero)
        self._count_groups()
        take = following
        if self.hashes:
            again = self._kept_word(pyrtl.select(self.folding, following, zero))
            take = pyrtl.select(self.loading, following, again)
        return ready, pyrtl.select(ready, zero, take)

    def _count_groups(self) -> None:
        """Count the groups; those of a KEY operation begin with the last, which makes a new start.

        The numbers of the others follow, so that each step has its constant.
        """
        zero = pyrtl.Const(0, len(self.group))
        start: Wire = zero
        following = incremented(self.group)
        if self.ciphers:
            last = pyrtl.Const(ROUNDS // self.rounds - 1, len(self.group))
            start = pyrtl.select(self.keying, last, zero)
            following = pyrtl.select(self.keying & self.last, zero, following)
        group = pyrtl.select(self.end, following, self.group)
        following = pyrtl.select(self.working, group, start)
        self.group.next <<= following
        self.at_end.next <<= self.by_number(lambda n: self.groups[n] - 1, following)

    def _kept_word(self, number: Wire) -> Wire:
        """Return which word of the message is added to a word of the digest."""
        if "haraka512" not in self.held:
            return number
        kept = _kept_words(self.p.width)
        bits = (len(kept) - 1).bit_length()
        entry = table_entry(kept, number[:bits], len(number))
        return self.by_algorithm(lambda name: entry if name == "haraka512" else number)

    # --- Rounds ----------------------------------------------------------------------------------

    def _rounds(self, boxes: Substitution, keys: Sequence[Wire]) -> Wire:
        """Return the first block after a group of rounds."""
        block = pyrtl.concat_list(self.state)[:128]
        one_round = Round(boxes)
        for i, key in enumerate(keys):
            last = None
            if self.ciphers:
                last = pyrtl.Const(0, 1)
                if i == self.rounds - 1:
                    last = self.among(self.ciphers) & self.last
            block = one_round(block, self._round_key(key, i), last)
        return block

    def _key_schedule(self, boxes: Substitution) -> tuple[list[Wire], Wire]:
        """Return the round keys of a group, and the first of the next.

        That of the first group of the next block follows the key that is kept. Where a KEY
        operation of decryption ends, the last round key has been reached, and the first step back
        from it is made.
        """
        if not self.ciphers:
            return [self.key] * self.rounds, self.key
        backward, turns = None, None
        if DECRYPT in self.held:
            turns = self.under_way & self.last
            backward = self.among([DECRYPT]) & ~self.keying
        keys: list[Wire] = [self.key]
        for i in range(1, self.rounds):
            keys.append(key_step(keys[-1], self._round_constant(i, backward), boxes, backward))
        again = self.last
        if turns is not None and backward is not None:
            again, backward = again & ~turns, backward | turns
        base = pyrtl.select(again, self.kept, keys[-1])
        constant = self._round_constant(self.rounds, backward)
        return keys, key_step(base, constant, boxes, backward)

    def _round_constant(self, position: int, backward: Wire | None) -> Wire:
        """Return the constant of a step of the key schedule.

        Args:
            position: Number of the step, less those of the groups before; the first group's
                first key has been made before, so step 0 is the last step of the last group.
            backward: Whether the schedule runs backward.
        """
        constants = [1]
        while len(constants) < ROUNDS:
            constants.append(multiply(constants[-1], 2))
        steps = [(i + position) % ROUNDS for i in range(0, ROUNDS, self.rounds)]
        number = self.group[: (len(steps) - 1).bit_length()]
        entry = table_entry([constants[n] for n in steps], number, 8)
        if backward is None:
            return entry
        before = table_entry([constants[ROUNDS - 1 - n] for n in steps], number, 8)
        return pyrtl.select(backward, before, entry)

    def _round_key(self, key: Wire, position: int) -> Wire:
        """Return the round key: that of AES, or a constant of Haraka."""
        values = {n: _haraka_constants(BLOCKS[n], self.rounds, position) for n in self.hashes}
        longest = max(values.values(), key=len, default=[])
        entries: dict[str, Wire] = {}
        for name, those in values.items():
            # One table serves both where one begins like the other.
            table = longest if longest[: len(those)] == those else those
            number = self.group[: (len(table) - 1).bit_length()]
            same = [n for n in entries if table is longest and values[n] is longest]
            entries[name] = entries[same[0]] if same else table_entry(table, number, 128)
        return self.by_algorithm(lambda name: entries.get(name, key))

    # --- Registers -------------------------------------------------------------------------------

    def _key_next(self, last_key: Wire, following: Wire) -> None:
        """Keep the first key of a block, and let the round key run along."""
        shifted = pyrtl.concat(self.inputs.word, self.kept)[self.p.width :]
        kept = pyrtl.select(self.loading & self.keying, shifted, self.kept)
        if DECRYPT in self.held:
            kept = pyrtl.select(self.end & self.under_way & self.last, last_key, kept)
        self.kept.next <<= kept
        self.key.next <<= pyrtl.select(self.end & self.among(self.ciphers), following, self.key)

    def _state_next(self, block: Wire) -> None:
        """Shift pulled words in at the end of what the algorithm uses, and take rounds over."""
        width = self.p.width
        word = self.inputs.word ^ self._addend()
        words = {name: split(w, width) for name, w in self._turned(block).items()}
        shifting = self.loading | self.folding
        for i, register in enumerate(self.state):
            rest = self.state[i + 1] if i + 1 < len(self.state) else word
            ends = {name: word if self.words[name] == i + 1 else rest for name in self.held}
            new = {n: words[n][i] if i < len(words[n]) else register for n in self.held}
            kept = pyrtl.select(self.end, chosen(new, self.inputs.selected), register)
            shifted = chosen(ends, self.inputs.selected)
            register.next <<= pyrtl.select(shifting, shifted, kept)

    def _addend(self) -> Wire:
        """Return what is added to a pulled word: in AES the key, at the end of Haraka the state."""
        width = self.p.width
        zero = pyrtl.Const(0, width)
        loaded: Wire = zero
        if self.ciphers:
            parts = split(self.kept, width)
            loaded = item(parts, self.number[: (len(parts) - 1).bit_length()])
            if self.hashes:
                loaded = loaded & self.among(self.ciphers).sign_extended(width)
        if not self.hashes:
            return loaded
        folded = {}
        for name in self.hashes:
            kept = _kept_words(width) if name == "haraka512" else list(range(256 // width))
            # Each word folded before has moved all words down by one.
            places = [self.state[k - i] for i, k in enumerate(kept)]
            folded[name] = item(places, self.number[: (len(places) - 1).bit_length()])
        state = chosen(folded, self.inputs.selected)
        return pyrtl.select(self.folding, state, loaded)

    def _turned(self, block: Wire) -> Mapping[str, Wire]:
        """Return the state after a group for each algorithm: blocks take turns, rounds end mixed.

        A group works on the first block, which becomes the last.
        """
        state = pyrtl.concat_list(self.state)
        results: dict[str, Wire] = dict.fromkeys(self.ciphers, block)
        for name in self.hashes:
            blocks = BLOCKS[name]
            turned = pyrtl.concat(block, state[128 : 128 * blocks])
            mixed = pyrtl.concat_list(haraka.mixed(split(turned, 32)))
            groups = 2 * blocks // self.rounds
            number = self.group[: (groups - 1).bit_length()]
            results[name] = pyrtl.select(number == groups - 1, mixed, turned)
        return results

    def _out(self) -> Wire:
        """Return the output word selected."""
        count = 256 // self.p.width
        first = item(self.state[:count], self.inputs.select)
        if "haraka512" not in self.held:
            return first
        last = item(self.state[-count:], self.inputs.select)
        return self.by_algorithm(lambda name: last if name == "haraka512" else first)


def _kept_words(width: int) -> list[int]:
    """Return the words of the state that are the digest of Haraka-512."""
    per_word = width // 32
    return [k // per_word for k in haraka.KEPT[64][::per_word]]


def _haraka_constants(blocks: int, rounds: int, position: int) -> list[int]:
    """Return the constants for a round of each group, as little-endian numbers.

    A round of Haraka is two of AES on each block. With one round in a group all blocks get the
    first, then all the second, which is the order of the constants; with two, each gets both.
    """
    constants = [n for (n,) in struct.iter_unpack("16s", haraka.CONSTANTS)]
    numbers = [int.from_bytes(c, "little") for c in constants][: 2 * haraka.ROUNDS * blocks]
    if rounds == 1:
        return numbers
    return [
        numbers[2 * blocks * i + blocks * position + j]
        for i in range(haraka.ROUNDS)
        for j in range(blocks)
    ]

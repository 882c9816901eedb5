"""NLU-V: a configurable non-linear/linear unit (Uzuner and Kavun 2024), and variants of it.

State: `nlrg`, the 64-bit ANF mask of one 4-bit S-box; `lrg<b>`, a 32 x 32 matrix over GF(2), row 31
in its top 32 bits; `rl0` to `rl3`, the last four products, newest first. With the first choice of
every parameter the encodings are the published ones, bit for bit. What is added:

- `banks`: several matrices. The bank number stands in bits that the published unit ignores (17..16
  of the immediate of a push, 21..20 of the word of everything else).
- `push`: 32 bits at once, from rs1. The pushes keep their opcodes and are I-type; the published
  shifter, by 1 to 16 places, is not built.
- `readback`: state is exchanged with a register, so that it can be saved and put back, which the
  published unit cannot do. As many bits at once as a push has; in bit 25, which is 0 elsewhere.

The opcodes collide with LOAD-FP and OP-IMM-32, so F, D and RV64 are excluded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from isa.aes import inverse_sbox, sbox
from isa.bits import Bits, concat, const, lookup, mux
from isa.instruction import Effects, Extension

PARAMETERS = {"banks": (1, 2, 4), "push": (16, 32), "readback": (0, 1)}
_MULTIPLIERS = {"nmu": 3, "nma0": 4, "nma1": 5, "nma2": 6, "nma3": 7}
_ACCUMULATORS = ("rl0", "rl1", "rl2", "rl3")
_ADDENDS = {"nma1": "rl0", "nma2": "rl1", "nma3": "rl2", "nma0": "rl3"}


def _push(register: Bits, sel: Bits, imm20: Bits) -> Bits:
    """Shift in the top n of the low 16 immediate bits; n is the low 4 bits of sel, 0 meaning 16."""
    n = sel.slice(0, 4)
    joined = concat(register, imm20.slice(0, 16))
    shifted = joined
    for i in range(4):
        shifted = mux(n.bit(i), shifted << (1 << i), shifted)
    return mux(n.eq(0), joined << 16, shifted).slice(16, register.width)


def _shifted_in(register: Bits, word: Bits) -> Bits:
    """Shift all of `word` in."""
    return concat(register, word).slice(0, register.width)


def _chosen(values: Sequence[Bits], bank: Bits | None) -> Bits:
    """The value of a bank; the first beyond the last."""
    value = values[0]
    if bank is not None:
        for b in range(1, len(values)):
            value = mux(bank.eq(b), values[b], value)
    return value


def _in_bank(
    names: Sequence[str], old: Sequence[Bits], bank: Bits | None, push: Callable[[Bits], Bits]
) -> tuple[tuple[str, Bits], ...]:
    """The new state of every bank where one takes a push."""
    return tuple(
        (name, push(value) if bank is None else mux(bank.eq(b), push(value), value))
        for b, (name, value) in enumerate(zip(names, old, strict=True))
    )


def _parity(x: Bits) -> Bits:
    while x.width > 1:
        half = x.width // 2
        x = x.slice(0, half) ^ x.slice(half, half)
    return x


def _product(matrix: Bits, x: Bits) -> Bits:
    """Bit i of the result is the parity of x & row i."""
    rows = (matrix.slice(32 * i, 32) for i in reversed(range(32)))
    return concat(*(_parity(row & x) for row in rows))


def _anf(mask: Bits, nibble: Bits) -> Bits:
    """Evaluate four algebraic normal forms: output bit j uses mask bits 16j+15 down to 16j."""
    monomials = []
    for k in range(16):
        product = const(1, 1)
        for bit in range(4):
            if k >> bit & 1:
                product = product & nibble.bit(bit)
        monomials.append(product)
    terms = concat(*monomials)  # monomial 0 on top, as mask bit 63 - k belongs to monomial k
    return concat(*(_parity(mask.slice(16 * j, 16) & terms) for j in reversed(range(4))))


def extension(banks: int = 1, push: int = 16, readback: int = 0) -> Extension:
    """Declare the instructions.

    Args:
        banks: Number of matrices.
        push: Bits that a push brings in, 16 from the instruction or 32 from rs1.
        readback: 1 adds the exchanges.
    """
    matrices = tuple(f"lrg{b}" for b in range(banks))
    made = Extension(
        "nluv",
        source="Uzuner, Kavun: NLU-V, Cryptography 8(1):9, 2024; semantics as in its RTL",
        xlens=(32,),
        state={"nlrg": 64, **dict.fromkeys(matrices, 1024), **{f"rl{i}": 32 for i in range(4)}},
    )
    bank_field = "20=0" if banks == 1 else "22=0 bank"
    bank_operand = ("bank",) if banks > 1 else ()

    def split(others: tuple[Bits, ...]) -> tuple[Bits | None, tuple[Bits, ...], tuple[Bits, ...]]:
        """Bank where there are several, matrices, and what is left."""
        n = len(bank_operand)
        return (others[0] if n else None), others[n : n + banks], others[n + banks :]

    if push == 16:
        _declare_pushes_of_immediates(made, matrices)
    else:

        @made.instruction("nldnl rs1 31..20=0 14..12=0 11..7=0 6..0=0x07")
        def nldnl(rs1: Bits, nlrg: Bits) -> Effects:
            """Push 32 bits into the ANF mask."""
            return Effects(state=(("nlrg", _shifted_in(nlrg, rs1)),))

        def push_word(rs1: Bits, *others: Bits) -> Effects:
            """Push 32 bits into a matrix."""
            bank, lrg, _ = split(others)
            return Effects(state=_in_bank(matrices, lrg, bank, lambda old: _shifted_in(old, rs1)))

        made.declare(
            f"nldl rs1 31..{bank_field} 14..12=0 11..7=0 6..0=0x0B",
            push_word,
            ("rs1", *bank_operand, *matrices),
            fields={"bank": (21, 20)},
        )

    @made.instruction("nnlanf rd rs1 31..20=0 14..12=0 6..0=0x1B")
    def nnlanf(rs1: Bits, nlrg: Bits) -> Bits:
        """Eight 4-bit S-boxes in parallel, given by the ANF mask."""
        return concat(*(_anf(nlrg, rs1.slice(4 * i, 4)) for i in reversed(range(8))))

    @made.instruction("nnlaese rd rs1 31..20=0 14..12=1 6..0=0x1B")
    def nnlaese(rs1: Bits) -> Bits:
        """Four AES S-boxes."""
        return concat(*(lookup(sbox(), rs1.byte(i)) for i in reversed(range(4))))

    @made.instruction("nnlaesd rd rs1 31..20=0 14..12=2 6..0=0x1B")
    def nnlaesd(rs1: Bits) -> Bits:
        """Four inverse AES S-boxes."""
        return concat(*(lookup(inverse_sbox(), rs1.byte(i)) for i in reversed(range(4))))

    def multiplier(addend: str | None) -> Callable[..., Effects]:
        def multiply(rs1: Bits, *others: Bits) -> Effects:
            bank, lrg, accumulators = split(others)
            rl = dict(zip(_ACCUMULATORS, accumulators, strict=True))
            y = _product(_chosen(lrg, bank), rs1)
            if addend is not None:
                y = y ^ rl[addend]
            return Effects(rd=y, state=_pushed(rl, y))

        added = f", {addend} added" if addend else ""
        multiply.__doc__ = f"Product of a matrix and rs1{added}; it is kept in rl0, rl0 in rl1 .."
        return multiply

    for name, funct3 in _MULTIPLIERS.items():
        made.declare(
            f"{name} rd rs1 31..{bank_field} 14..12={funct3} 6..0=0x1B",
            multiplier(_ADDENDS.get(name)),
            ("rs1", *bank_operand, *matrices, *_ACCUMULATORS),
            fields={"bank": (21, 20)},
        )
    if not readback:
        return made

    @made.instruction("nxnl rd rs1 31..25=1 24..20=0 14..12=0 6..0=0x1B")
    def nxnl(rs1: Bits, nlrg: Bits) -> Effects:
        """The top of the ANF mask to rd, rs1 pushed into it."""
        top = nlrg.slice(64 - push, push).zext(32)
        return Effects(rd=top, state=(("nlrg", _shifted_in(nlrg, rs1.slice(0, push))),))

    def exchange(rs1: Bits, *others: Bits) -> Effects:
        """The top of a matrix to rd, rs1 pushed into it."""
        bank, lrg, _ = split(others)
        pushed = rs1.slice(0, push)
        top = _chosen([old.slice(1024 - push, push) for old in lrg], bank).zext(32)
        state = _in_bank(matrices, lrg, bank, lambda old: _shifted_in(old, pushed))
        return Effects(rd=top, state=state)

    made.declare(
        f"nxl rd rs1 31..25=1 24..{bank_field} 14..12=1 6..0=0x1B",
        exchange,
        ("rs1", *bank_operand, *matrices),
        fields={"bank": (21, 20)},
    )

    @made.instruction("nxa rd rs1 31..25=1 24..20=0 14..12=2 6..0=0x1B")
    def nxa(rs1: Bits, rl0: Bits, rl1: Bits, rl2: Bits, rl3: Bits) -> Effects:
        """The oldest product, rl3, to rd, rs1 kept in its stead as the newest, rl0."""
        rl = dict(zip(_ACCUMULATORS, (rl0, rl1, rl2, rl3), strict=True))
        return Effects(rd=rl3, state=_pushed(rl, rs1))

    return made


def _pushed(rl: Mapping[str, Bits], newest: Bits) -> tuple[tuple[str, Bits], ...]:
    return (("rl0", newest), ("rl1", rl["rl0"]), ("rl2", rl["rl1"]), ("rl3", rl["rl2"]))


def _declare_pushes_of_immediates(made: Extension, matrices: tuple[str, ...]) -> None:
    line = "sel imm20 6..0"

    @made.instruction(f"nldnl {line}=0x07", fields={"sel": (11, 7)})
    def nldnl(sel: Bits, imm20: Bits, nlrg: Bits) -> Effects:
        """Push up to 16 bits into the ANF mask."""
        return Effects(state=(("nlrg", _push(nlrg, sel, imm20)),))

    def push_matrix(sel: Bits, imm20: Bits, *lrg: Bits) -> Effects:
        """Push up to 16 bits into a matrix."""
        bank = imm20.slice(16, 2) if len(matrices) > 1 else None
        state = _in_bank(matrices, lrg, bank, lambda old: _push(old, sel, imm20))
        return Effects(state=state)

    made.declare(
        f"nldl {line}=0x0B",
        push_matrix,
        ("sel", "imm20", *matrices),
        fields={"sel": (11, 7)},
    )

"""NLU-V: a configurable non-linear/linear unit (Uzuner and Kavun 2024), with matrix banks added.

State: `nlrg`, the 64-bit ANF mask of one 4-bit S-box; `lrg<b>`, a 32 x 32 matrix over GF(2), row 31
in its top 32 bits; `rl0` to `rl3`, the last four products, newest first. With one bank the
encodings are the published ones, bit for bit; the bank number of more stands in immediate bits
that the published unit ignores (17..16 of the push, 21..20 of the multiply).

The opcodes collide with LOAD-FP and OP-IMM-32, so F, D and RV64 are excluded.
"""

from __future__ import annotations

from isa.aes import inverse_sbox, sbox
from isa.bits import Bits, concat, const, lookup, mux
from isa.instruction import Effects, Extension

PARAMETERS = {"banks": (1, 2, 4)}
_MULTIPLIERS = {"nmu": 3, "nma0": 4, "nma1": 5, "nma2": 6, "nma3": 7}
_ADDENDS = {"nma1": "rl0", "nma2": "rl1", "nma3": "rl2", "nma0": "rl3"}


def _push(register: Bits, sel: Bits, imm20: Bits) -> Bits:
    """Shift in the top n of the low 16 immediate bits; n is the low 4 bits of sel, 0 meaning 16."""
    n = sel.slice(0, 4)
    joined = concat(register, imm20.slice(0, 16))
    shifted = joined
    for i in range(4):
        shifted = mux(n.bit(i), shifted << (1 << i), shifted)
    return mux(n.eq(0), joined << 16, shifted).slice(16, register.width)


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


def extension(banks: int = 1) -> Extension:
    """Declare the instructions for a number of matrix banks."""
    matrices = [f"lrg{b}" for b in range(banks)]
    made = Extension(
        "nluv",
        source="Uzuner, Kavun: NLU-V, Cryptography 8(1):9, 2024; semantics as in its RTL",
        xlens=(32,),
        state={"nlrg": 64, **dict.fromkeys(matrices, 1024), **{f"rl{i}": 32 for i in range(4)}},
    )
    push_line = "sel imm20 6..0"

    @made.instruction(f"nldnl {push_line}=0x07", fields={"sel": (11, 7)})
    def nldnl(sel: Bits, imm20: Bits, nlrg: Bits) -> Effects:
        """Push up to 16 bits into the ANF mask."""
        return Effects(state=(("nlrg", _push(nlrg, sel, imm20)),))

    def push_matrix(sel: Bits, imm20: Bits, *lrg: Bits) -> Effects:
        bank = imm20.slice(16, 2)
        return Effects(
            state=tuple(
                (
                    name,
                    _push(old, sel, imm20)
                    if banks == 1
                    else mux(bank.eq(b), _push(old, sel, imm20), old),
                )
                for b, (name, old) in enumerate(zip(matrices, lrg, strict=True))
            )
        )

    made.declare(
        f"nldl {push_line}=0x0B",
        push_matrix,
        ("sel", "imm20", *matrices),
        fields={"sel": (11, 7)},
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

    bank_field = "31..20=0" if banks == 1 else "31..22=0 bank"

    def multiplier(addend: str | None):  # type: ignore[no-untyped-def]
        def multiply(rs1: Bits, *others: Bits) -> Effects:
            bank = others[:1] if banks > 1 else ()
            lrg = others[len(bank) : len(bank) + banks]
            rl = dict(zip(("rl0", "rl1", "rl2", "rl3"), others[len(bank) + banks :], strict=True))
            matrix = lrg[0]
            for b in range(1, banks):
                matrix = mux(bank[0].eq(b), lrg[b], matrix)
            y = _product(matrix, rs1)
            if addend is not None:
                y = y ^ rl[addend]
            pushed = (("rl0", y), ("rl1", rl["rl0"]), ("rl2", rl["rl1"]), ("rl3", rl["rl2"]))
            return Effects(rd=y, state=pushed)

        return multiply

    for name, funct3 in _MULTIPLIERS.items():
        made.declare(
            f"{name} rd rs1 {bank_field} 14..12={funct3} 6..0=0x1B",
            multiplier(_ADDENDS.get(name)),
            ("rs1", *(("bank",) if banks > 1 else ()), *matrices, "rl0", "rl1", "rl2", "rl3"),
            fields={"bank": (21, 20)},
        )
    return made

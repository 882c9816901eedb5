"""Encodings against riscv-opcodes and the published NLU-V list; malformed lines; round trips."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.encoding import Encoding, EncodingError
from isa.instruction import Extension
from isa.instruction_set import InstructionSet, find_instruction, load_extension

GOLDEN = Path(__file__).parent.parent / "golden" / "encodings.txt"
ROWS = [r.split() for r in GOLDEN.read_text().splitlines() if not r.startswith("#")]


def test_every_ratified_instruction_is_encoded_as_upstream() -> None:
    ours = {}
    for e in {row[0] for row in ROWS}:
        extension = load_extension(e)
        for i in extension.instructions:
            ours.update(((e, x, i.name), (i.encoding.match, i.encoding.mask)) for x in i.xlens)
        for c in extension.compressed:
            ours.update(((e, x, c.name), (c.match, c.mask)) for x in c.xlens)
    upstream = {(e, int(x), name): (int(m, 0), int(k, 0)) for e, x, name, m, k, _ in ROWS}
    assert ours == upstream


def test_nluv_is_encoded_as_published() -> None:
    """match/mask list in the authors' repository (UzunerH/MasterThesisCode@2cc3fdf)."""
    published = {"nldnl": (0x07, 0x7F), "nldl": (0x0B, 0x7F)}
    for name, match in {
        "nnlanf": 0x1B,
        "nnlaese": 0x101B,
        "nnlaesd": 0x201B,
        "nmu": 0x301B,
        "nma0": 0x401B,
        "nma1": 0x501B,
        "nma2": 0x601B,
        "nma3": 0x701B,
    }.items():
        published[name] = (match, 0xFFF0707F)
    ours = {
        i.name: (i.encoding.match, i.encoding.mask) for i in load_extension("nluv").instructions
    }
    assert ours == published


def test_more_nluv_banks_only_use_ignored_immediate_bits() -> None:
    one = {i.name: i for i in load_extension("nluv", banks=1).instructions}
    for i in load_extension("nluv", banks=4).instructions:
        values = dict.fromkeys((*i.encoding.registers, *i.immediates), 0)
        first = dict.fromkeys((*one[i.name].encoding.registers, *one[i.name].immediates), 0)
        assert i.encode(**values) == one[i.name].encode(**first)


@given(word=st.integers(0, 2**32 - 1))
def test_decoding_inverts_encoding(word: int) -> None:
    instructions = InstructionSet.of(64, "rv64i", "m", "zicsr", "b", "zbc", "zk", "zks")
    decoded = instructions.decode(word)
    if decoded:
        instruction, values = decoded
        assert instruction.encode(**values) == word


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x rd 31..20=0x1000", "^x: value must fit its field, not 31..20=0x1000"),
        ("x rd 11..7=0 6..0=0x33", "^x: field 11..7=0 overlaps another"),
        ("x rd rs9 6..0=0x33", "^x: argument must be a register or one of .* not 'rs9'"),
        ("x rd imm12 31..25=0", "^x: immediate imm12 overlaps another field"),
    ],
)
def test_malformed_lines(line: str, message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        Encoding.parse(line)


def test_operands_are_checked() -> None:
    addi = InstructionSet.of(32, "rv32i").by_name["addi"]
    with pytest.raises(EncodingError, match=r"^addi: rd must be 0 to 31, not 32"):
        addi.encode(rd=32, rs1=0, imm12=0)
    with pytest.raises(EncodingError, match=r"^addi: imm12 must fit 12 bits, not 4096"):
        addi.encode(rd=1, rs1=0, imm12=4096)
    with pytest.raises(EncodingError, match=r"^addi: operands must be \['rd', 'rs1', 'imm12'\]"):
        addi.encode(rd=1, rs1=0)


def test_overlap_names_both() -> None:
    rival = Extension("xrival", source="test")
    rival.declare(
        "other rd rs1 rs2 31..25=0 14..12=0 6..0=0x33", lambda rs1, _: rs1, ("rs1", "rs2")
    )
    with pytest.raises(
        EncodingError, match=r"^encoding of other \(xrival\) overlaps that of add \(rv32i\)"
    ):
        InstructionSet.of(32, "rv32i", rival)


def test_unknown_extension_names_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"not 'zknee'; did you mean 'zkne'\?"):
        InstructionSet.of(32, "rv32i", "zknee")
    with pytest.raises(ValueError, match=r"^parameter banks of extension nluv must be one of"):
        load_extension("nluv", banks=3)
    with pytest.raises(ValueError, match=r"^xlen of extension nluv must be one of \[32\], not 64"):
        InstructionSet.of(64, "nluv")


def test_meaning_must_fit_the_encoding() -> None:
    with pytest.raises(EncodingError, match=r"^bad: meaning takes \['rs2'\]"):
        Extension("xbad", source="test").declare(
            "bad rd rs1 6..0=0x0B", lambda rs1, rs2: rs1 ^ rs2, ("rs1", "rs2")
        )


def test_instructions_are_found_by_mnemonic_and_width() -> None:
    assert find_instruction("rori", 32).immediates == ("shamtw",)
    assert find_instruction("rori", 64).immediates == ("shamtd",)
    with pytest.raises(
        ValueError,
        match=r"^instruction must be one that exists on RV32, not 'aes64esm'; did you mean",
    ):
        find_instruction("aes64esm", 32)


def test_single_instructions_must_fit_the_width() -> None:
    with pytest.raises(
        ValueError, match=r"^xlen of instruction addw \(rv64i\) must be one of \[64\], not 32$"
    ):
        InstructionSet.of(32, "rv32i", find_instruction("addw", 64))


def test_one_mnemonic_has_one_encoding() -> None:
    rival = Extension("xrival", source="test")
    rival.declare("add rd rs1 rs2 31..25=0 14..12=0 6..0=0x0B", lambda a, b: a ^ b, ("rs1", "rs2"))
    with pytest.raises(
        EncodingError, match=r"^encoding of add must be the same in rv32i and xrival; choose one"
    ):
        InstructionSet.of(32, "rv32i", rival)


def test_reserved_values_are_illegal() -> None:
    """`rnum` above 10 is reserved: Scalar Cryptography 1.0.1, aes64ks1i."""
    instructions = InstructionSet.of(64, "rv64i", "zkne")
    ks1i = instructions.by_name["aes64ks1i"]
    word = ks1i.encode(rd=1, rs1=2, rnum=10)
    assert instructions.decode(word) == (ks1i, {"rd": 1, "rs1": 2, "rnum": 10})
    assert [instructions.decode(word | rnum << 20) for rnum in (11, 15)] == [None, None]
    for value in (11, -1):
        with pytest.raises(EncodingError, match=r"^aes64ks1i: rnum must be 0 to 10, not"):
            ks1i.encode(rd=1, rs1=2, rnum=value)


def test_special_cases_of_one_instruction_may_stand_beside_it() -> None:
    """`rev8` and `orc.b` are cases of the draft's `grevi` and `gorci`, in other words."""
    chosen = InstructionSet.of(32, "rv32i", "zbb", "zbkb", "xzbp")
    word = chosen.by_name["rev8"].encode(rd=1, rs1=2)
    assert chosen.by_name["grevi"].encode(rd=1, rs1=2, shamtw=24) == word
    assert chosen.decode(word) == (chosen.by_name["rev8"], {"rd": 1, "rs1": 2})
    rival = Extension("xrival", source="test")
    rival.declare(
        "flip rd rs1 31..20=0b011010011000 14..12=5 6..0=0x13", lambda rs1: ~rs1, ("rs1",)
    )
    with pytest.raises(EncodingError, match=r"^encoding of grevi \(xzbp\) overlaps that of flip"):
        InstructionSet.of(32, "rv32i", rival, "xzbp")

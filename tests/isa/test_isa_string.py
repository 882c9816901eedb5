"""ISA strings: legal spellings, dependencies of the manual, one-line errors."""

from __future__ import annotations

import pytest

from isa.isa_string import instruction_set, parse


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("rv32i", "rv32i"),
        ("RV64IM", "rv64im"),
        ("rv32imb", "rv32imb_zba_zbb_zbs"),
        ("rv32im_zbkb_zkne", "rv32im_zbkb_zkne"),
        ("rv32imc_zbkb_zkne", "rv32imc_zbkb_zca_zkne"),
        ("rv32i_zkne_zbkb_m", "rv32im_zbkb_zkne"),
        ("rv32imzbkb", "rv32im_zbkb"),
        ("rv32i2p1m2p0_zbb1p0_zba", "rv32im_zba_zbb"),
        ("rv32i_zicntr", "rv32i_zicntr_zicsr"),
        ("rv32i_nluv", "rv32i_nluv"),
        ("rv64i_zks", "rv64i_zbkb_zbkc_zbkx_zks_zksed_zksh"),
        ("rv64i_zk", "rv64i_zbkb_zbkc_zbkx_zk_zkn_zknd_zkne_zknh_zkt"),
    ],
)
def test_spellings(text: str, canonical: str) -> None:
    parsed = parse(text)
    assert str(parsed) == canonical
    assert set(parse(canonical).extensions) == set(parsed.extensions)


def test_bundles_are_their_members() -> None:
    """RISC-V Cryptography Extensions Volume I 1.0.1, 2.11-2.13; Unprivileged ISA, chapter 28."""
    for xlen in (32, 64):
        for bundle, members in {
            "b": "zba_zbb_zbs",
            "zkn": "zbkb_zbkc_zbkx_zkne_zknd_zknh",
            "zks": "zbkb_zbkc_zbkx_zksed_zksh",
            "zk": "zkn_zkt",
        }.items():
            whole = instruction_set(f"rv{xlen}i_{bundle}").by_name
            assert set(whole) == set(instruction_set(f"rv{xlen}i_{members}").by_name)


def test_each_extension_comes_after_what_it_requires() -> None:
    order = parse("rv32i_zk").extensions
    assert order[0] == "rv32i"
    assert order.index("zkne") < order.index("zkn") < order.index("zk")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rv16i", "^ISA string must start with rv32i or rv64i, not 'rv16i'$"),
        ("rv32m", "^ISA string must start with rv32i or rv64i, not 'rv32m'$"),
        ("rv32e", "^extension e of 'rv32e' is not available: only the base with 32 registers"),
        ("rv64gc", "^extension g of 'rv64gc' is not available: it stands for IMAFD"),
        ("rv32imv", "^extension v of 'rv32imv' is not available: vectors are out of scope$"),
        ("rv32i_zkr", "^extension zkr of 'rv32i_zkr' is not available: the entropy source is out"),
        ("rv32i_zknee", r"^extension in 'rv32i_zknee' must be a known one, not 'zknee'; did you "),
        ("rv32imm", "^extension m must be named once in 'rv32imm'$"),
        ("rv32i__m", "^name must stand between underscores of 'rv32i__m', not nothing$"),
        ("rv32if_nluv", r"^extensions nluv and f of 'rv32if_nluv' both use opcode 0x07 \(nldnl\)"),
        ("rv32i_nluv_d", r"^extensions nluv and d of 'rv32i_nluv_d' both use opcode 0x07"),
        ("rv64i_nluv", r"^extensions nluv and rv64 of 'rv64i_nluv' both use opcode 0x1b \(nnlanf"),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse(text)


def test_compressed_encodings_are_taken_in() -> None:
    assert parse("rv64imc").instructions().alignment == 2
    assert parse("rv64im").instructions().alignment == 4

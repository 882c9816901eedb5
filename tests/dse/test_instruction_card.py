from __future__ import annotations

from typing import Any

import pytest

import workloads
from dse.reference import PAGE, page
from dse.show.instruction_card import instruction_card, kernel_uses, owner_of, unit_costs
from dse.show.relatives import relatives
from isa.instruction_set import find_instruction


def remember(kind: str, key: str, compute: Any) -> Any:
    return {"aes32esmi": ["aes128-encrypt (ttable)"]} if kind == "kernel uses" else compute()


def test_card_of_an_instruction_with_rival_circuits() -> None:
    card = instruction_card("aes32esmi", remember)
    assert card["formula on RV32"][1] == "t1 = aes_sbox[(rs2 >> t0)[7:0]]"
    assert (card["match"], card["mask"]) == ("0x26000033", "0x3e00707f")
    assert card["extension"] == "zkne"
    assert "Scalar & Entropy Source" in card["source"]
    assert card["latency class"] == "alu, independent of data"
    areas = {name: float(text.split()[0]) for name, text in card["unit, estimated"].items()}
    assert {"table", "composite", "boyar_peralta"} <= set(areas)
    assert areas["boyar_peralta"] < areas["table"]
    assert card["nearest relatives"][0] == "saes.v3.encsm (xaesv3): the same meaning"
    assert card["used by kernels"] == ["aes128-encrypt (ttable)"]


def test_cards_of_other_kinds() -> None:
    card = instruction_card("c.lwsp", remember)
    assert card["stands for"] == ["lw rs1=2"]
    card = instruction_card("divu", remember)
    assert card["latency class"] == "alu, may depend on data"
    assert any("lines ..." in line for line in card["formula on RV32"])
    assert "unit, estimated" not in instruction_card("lw", remember)
    assert instruction_card("nmu", remember)["unit, estimated"]


def test_the_defining_extension_owns_an_instruction() -> None:
    assert [owner_of(n)[0] for n in ("ror", "clmul", "aes32esi", "andn", "pack", "addi")] == [
        "zbb", "zbc", "zkne", "zbb", "zbkb", "rv32i",
    ]  # fmt: skip


def test_relatives_tell_loads_apart() -> None:
    found = {r.name: r.share for r in relatives(find_instruction("lw", 32), 32, most=10)}
    assert "lh" in found
    assert all(share < 1 for share in found.values())


def test_every_unit_has_a_price() -> None:
    assert set(unit_costs(find_instruction("sha256sig0", 32), 32)) == {"derived from the meaning"}
    of_crossbar = unit_costs(find_instruction("xperm4", 32), 32)
    assert set(of_crossbar) == {"derived from the meaning", "one_hot"}


@pytest.mark.slow
def test_kernels_that_use_an_instruction(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["aes128-ctr", "aes128-encrypt", "present80-encrypt", "sm4-encrypt"]
    monkeypatch.setattr(workloads, "workload_names", lambda: names)
    uses = kernel_uses("zkne")
    assert any("aes128-encrypt" in use for use in uses["aes32esmi"])
    assert not any("sm4" in use for use in uses["aes32esmi"])
    assert any("sm4-encrypt" in use for use in uses["xor"])
    assert not any("ctr" in use for used in uses.values() for use in used)  # made of blocks


def test_page_is_what_the_extensions_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m dse.reference"

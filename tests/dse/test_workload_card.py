"""The card of a workload: measured as a search would, the faster sets faster, and told apart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import workloads
from dse.cache import Cache
from dse.show.workload_card import workload_card
from isa.kernel import UnsupportedKernel


def test_card_of_a_key_schedule(tmp_path: Path) -> None:
    cache = Cache(tmp_path, "test")
    card = workload_card(workloads.get("sm4-key-schedule"), cache)
    cache.close()
    assert card["source"] == "GB/T 32907-2016"
    assert card["vectors"] == ["GB/T 32907-2016 appendix A.1"]
    lines = card["fewest cycles on RV32, default core"]
    cycles = {title: int(line.split()[0]) for title, line in lines.items()}
    assert cycles["with Zk*"] < cycles["with Zb*"] < cycles["plain"]
    for title, line in lines.items():
        executed, least, chain = (
            int(re.search(text, line)[1])  # type: ignore[index]
            for text in (r"(\d+) instructions", r"(\d+) must execute", r"chain takes (\d+)")
        )
        assert 0.8 * executed <= least <= executed
        assert 0.1 * cycles[title] <= chain <= cycles[title]
    assert " 0 leaks" in lines["with Zk*"]
    assert " 128 leaks" in lines["plain"]  # four lookups in each of 32 rounds
    (block,) = card["hottest block of the last line of RV32"].values()
    assert any(line.startswith("sm4ks ") for line in block)


@pytest.mark.slow
def test_effort_reaches_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def refuse(*args: object, effort: str, **others: object) -> None:
        asked.append(effort)
        raise UnsupportedKernel("none")

    monkeypatch.setattr("dse.measure.measurement.compile_kernel", refuse)
    cache = Cache(tmp_path, "test")
    card = workload_card(workloads.get("sm4-key-schedule"), cache, "search")
    cache.close()
    assert set(asked) == {"search"}
    assert not any(key.startswith("fewest") for key in card)

"""What a kernel lacks beside the idea for which it is compiled."""

from __future__ import annotations

import workloads
from dse.propose.companion import companions, elsewhere
from dse.propose.request import Request
from dse.propose.survey import survey
from workloads import Workload


def test_the_last_round_of_a_turned_aes_is_found_beside_the_others() -> None:
    """Alone it saves nothing, as the turned kernel is slower than the one with T-tables."""
    workload = workloads.get("aes128-encrypt")
    kernels = {name: workload.kernels[name] for name in ("sbox", "ttable")}
    request = Request(((Workload(**{**vars(workload), "kernels": kernels}), 1.0),))
    found = survey(request)
    first = next(r for r in found.ranked if r.idea.formula.startswith("rotr(rs1, 8) ^ (3, 2, 1"))
    (others,) = companions([first], found)
    assert others[0].idea.formula == "rotr(rs1, 8) ^ aes_sbox[rs2.byte(bs)]"
    assert others[0].bound == 0


def test_what_no_other_covers_comes_first() -> None:
    """After the functions of SHA-256, the reversal of the bytes of the message."""
    found = survey(Request(((workloads.get("sha256-block"), 1.0),)))
    names = {"sha256sum0", "sha256sum1", "sha256sig0", "sha256sig1"}
    chosen = [r for r in found.ranked if r.nearest.name in names]
    others = elsewhere(chosen, found)
    assert not {id(r) for r in others} & {id(r) for r in chosen}
    assert "rev8" in {r.nearest.name for r in others}
    assert not {"rori", "sparkle.xorrori"} & {r.nearest.name for r in others}
    assert "sparkle.xorrori" in {r.nearest.name for r in elsewhere([], found)[:3]}

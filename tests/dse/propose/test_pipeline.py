"""From a workload to proposals that a space can use, end to end."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

import workloads
from dse.backend import Backend
from dse.cache import Cache
from dse.measure.evaluate import evaluate
from dse.measure.verify import confirm
from dse.propose import pipeline
from dse.propose.delivery import check, deliver, export
from dse.propose.exports import EXPORTS
from dse.propose.pipeline import Report, propose
from dse.propose.request import Request, RequestError, named_workloads
from dse.propose.score import circuits_of
from dse.propose.survey import survey
from dse.run import RunError
from dse.show.export import FormatError
from dse.space import load_space
from hw import icarus
from hw.unit import build_unit
from hw.units import chosen_circuits
from hw.verilog import verilog
from isa.bits import arguments
from isa.bits import evaluate as evaluate_bits
from isa.instruction_set import InstructionSet
from isa.proposal import load_proposal

RISCV = shutil.which("riscv64-unknown-elf-gcc")


def only(name: str, *kernels: str) -> tuple[workloads.Workload, float]:
    """A workload with some of its kernels."""
    workload = workloads.get(name)
    kept = {n: workload.kernels[n] for n in kernels}
    return workloads.Workload(**{**vars(workload), "kernels": kept}), 1.0


@cache
def report() -> Report:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "SHORTLIST", 8)
        patch.setattr(pipeline, "PER_PROPOSAL", 0)
        return propose(Request((only("aes128-encrypt", "ttable"),), top=5))


def test_aes32esmi_is_among_the_proposals() -> None:
    (found,) = (p for p in report().proposals if str(p.nearest) == "equals aes32esmi")
    assert found.name == "xaes32esmi"
    assert found.proof.is_proof
    assert found.saved > 300
    assert [name for name, _ in found.idea.immediates] == ["bs"]


def test_every_proposal_is_proven_and_saves() -> None:
    base = report().base.cycles
    for p in report().proposals:
        assert p.proof.is_proof
        assert p.saved == base - sum(s.cycles for s in p.savings) > 0
        assert p.cost.rung == "mapped"


def test_the_set_is_worth_more_than_any_of_its_members() -> None:
    chosen = [p for p in report().proposals if p.is_chosen]
    assert report().selection.score.cycles <= report().base.cycles - max(p.saved for p in chosen)
    assert report().selection.score.cycles == chosen[-1].cycles_after
    assert all(p.lost_without and p.lost_without > 0 for p in chosen)


def test_encodings_stand_together() -> None:
    everything = [p.instruction for p in report().proposals]
    InstructionSet.of(32, "rv32i", "m", "zbkb", "zbkx", "zkne", "zknd", "nluv", *everything)


def test_files_are_instructions_that_a_space_can_choose(tmp_path: Path) -> None:
    folder = tmp_path / "proposals"
    check(folder)
    files = deliver(report(), folder)
    listings = [f.name for f in files if f.suffix == ".py" and not f.stem.endswith("_pyrtl")]
    assert listings == [f"{p.name}.py" for p in report().proposals]
    for p in report().proposals:
        (loaded,) = load_proposal(folder / f"{p.name}.json").instructions
        assert loaded.effects(32).rd is p.instruction.effects(32).rd
        scope: dict[str, object] = {}
        exec((folder / f"{p.name}.py").read_text(), scope)  # our own text
        (listed,) = scope["EXTENSION"].instructions  # type: ignore[attr-defined]
        assert listed.effects(32).rd is loaded.effects(32).rd
    first = report().proposals[0]
    file = tmp_path / "space.yaml"
    file.write_text(
        "name: mine\nworkloads: [{workload: aes128-encrypt, kernel: ttable}]\n"
        f"instructions: {{choose: [proposals/{first.name}.json]}}\n"
        "objectives: [cycles, area_ge]\nsearch: {trials: 2}\n"
    )
    space = load_space(file, Backend.load(Backend().vocabulary))
    design = space.neutral.replace({first.name: True})
    evaluation = evaluate(space=space, design=design, cache=Cache(None))
    assert evaluation.feasible
    assert evaluation.metrics["cycles"].value == sum(s.cycles for s in first.savings)
    (folder / "mine.txt").write_text("")
    assert deliver(report(), folder) == files  # the same again replaces what is there
    assert {f.name for f in folder.iterdir()} == {"mine.txt", *(f.name for f in files)}


def test_exports_are_written_and_written_again_from_the_data(tmp_path: Path) -> None:
    files = {f.name: f.read_bytes() for f in deliver(report(), tmp_path)}
    names = [p.name for p in report().proposals]
    expected = {"proposals.h", "proposals.core_desc", "proposals.opcodes"}
    expected |= {f"{name}{end}" for name in names for end in (".v", "_pyrtl.py")}
    assert expected <= set(files)
    for name in expected:
        (tmp_path / name).write_text("")
    assert {f.name for f in export(tmp_path, list(EXPORTS))} == expected
    assert {name: (tmp_path / name).read_bytes() for name in files} == files
    with pytest.raises(FormatError, match=r"^format of proposals must be opcodes, .*, not 'png'$"):
        export(tmp_path, ["png"])
    (tmp_path / f"{names[0]}.json").write_text("{}")
    with pytest.raises(RunError, match=rf"{names[0]}.json: format must be 1, not None$"):
        export(tmp_path, ["c"])


@pytest.mark.tool
@pytest.mark.skipif(RISCV is None, reason="needs riscv64-unknown-elf-gcc")
def test_gcc_assembles_every_proposal_to_its_word(tmp_path: Path) -> None:
    deliver(report(), tmp_path)
    lines = ['#include "proposals.h"']
    for p in report().proposals:
        settings = "".join(f", {1 << width >> 1}" for _, width in p.idea.immediates)
        registers = ", ".join(["a", "b", "c"][: p.idea.operands])
        lines.append(
            f"uint32_t f_{p.name}(uint32_t a, uint32_t b, uint32_t c) "
            f"{{ return {p.name}({registers}{settings}); }}"
        )
    (tmp_path / "x.c").write_text("\n".join(lines) + "\n")
    command = [
        str(RISCV),
        "-march=rv32i",
        "-mabi=ilp32",
        "-O2",
        "-ffreestanding",
        "-c",
        "x.c",
        "-o",
        "x.o",
    ]
    subprocess.run(command, cwd=tmp_path, check=True)
    dump = [str(RISCV).replace("gcc", "objdump"), "-d", "x.o"]
    shown = subprocess.run(dump, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    found = dict(re.findall(r"<f_(\w+)>:\n\s+0?[0-9a-f]*:\s+([0-9a-f]{8})", shown))
    for p in report().proposals:
        fields = {name: 1 << width >> 1 for name, width in p.idea.immediates}
        fields |= {r: 10 + i for i, r in enumerate(p.slot.encoding.registers[1:])}
        assert int(found[p.name], 16) == p.instruction.encode(rd=10, **fields)


@pytest.mark.tool
@pytest.mark.skipif(not icarus.available(), reason="needs iverilog and vvp")
def test_icarus_runs_every_unit_as_its_meaning() -> None:
    generator = random.Random(1)
    for p in report().proposals:
        rd = p.instruction.effects(32).rd
        assert rd is not None
        block = build_unit(
            p.instruction, 32, chosen_circuits(dict(circuits_of([p.instruction], 32)))
        )
        inputs = [
            {str(a.attr): generator.getrandbits(a.width) for a in arguments([rd])}
            for _ in range(20)
        ]
        found = icarus.simulate(verilog(block, f"unit_{p.name}"), inputs)
        assert [f["rd"] for f in found] == [evaluate_bits(rd, values) for values in inputs]


@pytest.mark.slow
def test_three_registers_need_a_third_port_and_a_space_can_have_it(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "SHORTLIST", 1)
        three = propose(Request(named_workloads(["hight-encrypt"]), top=1, inputs=3))
    (found,) = three.proposals
    (saving,) = found.savings
    assert found.instruction.encoding.registers == ("rd", "rs1", "rs2", "rs3")
    assert three.third_port_ge > 1000  # 31 words of 32 bits, each selected once more
    deliver(three, tmp_path)
    file = tmp_path / "space.yaml"
    file.write_text(
        f"name: mine\nworkloads: [{{workload: hight-encrypt, kernel: {saving.kernel}}}]\n"
        f"core: {{read_ports: 3}}\ninstructions: {{choose: [{found.name}.json]}}\n"
        "objectives: [cycles, area_ge]\n"
    )
    space = load_space(file, Backend.load(Backend().vocabulary))
    design = space.neutral.replace({found.name: True})
    evaluation = evaluate(space=space, design=design, cache=Cache(None))
    assert evaluation.metrics["cycles"].value == three.selection.score.cycles
    assert confirm(space=space, design=design, cache=Cache(None)).ok


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(RunError, match="must be empty or hold earlier proposals; choose another"):
        check(tmp_path)
    (tmp_path / "proposals.json").write_text("[]")
    with pytest.raises(RunError, match=r"is not a report of dse propose; choose another --out$"):
        check(tmp_path)


def test_report_is_plain_data(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    deliver(report(), folder)
    data = json.loads((folder / "proposals.json").read_text())
    assert data["base"] == "rv32i"
    assert data["truncated"] == []
    assert data["final_cycles"] < data["base_cycles"]
    assert {p["name"] for p in data["proposals"]} >= set(data["set"])


def test_area_limits_the_set() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "SHORTLIST", 2)
        request = Request((only("aes128-encrypt", "ttable"),), top=2, area_ge=5.0)
        with pytest.raises(RequestError, match="saves anything within 5 GE; allow more inputs or"):
            propose(request)


def test_budget_shows_in_the_survey() -> None:
    cut = survey(Request((only("aes128-encrypt", "ttable"),), budget=50))
    assert "aes128-encrypt/ttable" in cut.truncated
    assert cut.subgraphs < survey(Request((only("aes128-encrypt", "ttable"),))).subgraphs


def test_workload_without_a_kernel_for_the_base() -> None:
    with pytest.raises(RequestError, match=r"^base rv32i must admit a kernel of aes128-encrypt;"):
        survey(Request((only("aes128-encrypt", "nluv"),)))

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from dse.bundled import bundled_names, find_space
from dse.design import Design
from dse.space import Space, SpaceError, load_space
from tests.dse.synthetic import VOCABULARY

Parse = Callable[[str], Space]


@pytest.mark.parametrize("name", bundled_names())
def test_bundled_space_parses_with_the_real_names(name: str) -> None:
    assert load_space(find_space(name)).name == name


def test_aes_has_thousands_of_designs(aes: Space) -> None:
    kernels = len(VOCABULARY.kernel_names("aes128-encrypt"))
    assert aes.raw_size == 3 * 2 * 2**4 * 3 * 3 * 3 * kernels
    assert aes.raw_size // kernels >= 2000


def test_parameters_are_named_by_their_dotted_path(aes: Space) -> None:
    assert [p.name for p in aes.parameters] == [
        "core.xlen", "core.pipeline", "core.forwarding", "instructions.base",
        "zbkb", "zbkx", "zkne", "nluv", "nluv.banks", "units.aes_sbox", "compiler.unroll",
        "kernel.aes128-encrypt",
    ]  # fmt: skip
    assert aes.by_name["compiler.unroll"].choices == (1, 2, "full")
    assert aes.by_name["nluv"].choices == (False, True)


def test_scalar_is_a_fixed_choice_and_list_is_a_choice(parse: Parse) -> None:
    space = parse("core: {pipeline: 3, forwarding: [true, false]}")
    assert [p.name for p in space.free] == ["core.forwarding", "kernel.aes128-encrypt"]
    assert space.neutral["core.pipeline"] == 3


def test_pinned_kernel_is_a_fixed_choice(parse: Parse) -> None:
    space = parse("workloads: [{workload: aes128-encrypt, kernel: bitsliced, weight: 2}]")
    assert space.by_name["kernel.aes128-encrypt"].choices == ("bitsliced",)
    assert space.workloads[0].weight == 2.0


def test_reduce_makes_what_cannot_matter_neutral(aes: Space) -> None:
    design = aes.neutral.replace(
        {"nluv.banks": 4, "core.pipeline": 2, "core.forwarding": False, "zbkb": True}
    )
    reduced = aes.reduce(design)
    assert reduced["nluv.banks"] == 1
    assert reduced["core.forwarding"] is True
    assert reduced["zbkb"] is True
    active = aes.reduce(design.replace({"nluv": True, "core.pipeline": 3}))
    assert active["nluv.banks"] == 4
    assert active["core.forwarding"] is False


def test_reduce_replaces_a_kernel_that_its_instructions_do_not_admit(aes: Space) -> None:
    wanted = aes.neutral.replace({"kernel.aes128-encrypt": "zkne"})
    assert aes.reduce(wanted)["kernel.aes128-encrypt"] == "table"
    admitted = wanted.replace({"zkne": True})
    assert aes.reduce(admitted)["kernel.aes128-encrypt"] == "zkne"


def test_designs_are_every_reduced_design_once(aes: Space) -> None:
    listed = [design.digest for design in aes.designs()]
    assert len(listed) == len(set(listed))
    # by hand: forwarding matters to two of three pipelines, banks only with nluv, and of the four
    # kernels zkne and nluv need their extension
    cores = 1 + 2 * 2
    instructions = 0
    for zkne, nluv in itertools.product((0, 1), repeat=2):
        instructions += 4 * (3 if nluv else 1) * (2 + zkne + nluv)
    assert len(listed) == cores * 3 * 3 * instructions
    products = itertools.product(*(p.choices for p in aes.parameters))
    names = [p.name for p in aes.parameters]
    sample = itertools.islice(products, 0, None, 97)
    assert {aes.reduce(dict(zip(names, p, strict=True))).digest for p in sample} <= set(listed)


def test_design_digest_is_of_content_not_of_order() -> None:
    assert Design({"a": 1, "b": True}).digest == Design({"b": True, "a": 1}).digest
    assert Design({"a": 1}) != Design({"a": True})
    assert Design({"a": 1}).text == '{"a":1}'
    # BLAKE2b-128 of {"a":1}, from `b2sum -l 128`
    assert Design({"a": 1}).digest == "2c6b113b8dd15ffbded9860b43eb0c6c"


def test_evaluation_digest_ignores_what_an_evaluation_does(parse: Parse) -> None:
    one = parse("objectives: [time_ns, area_ge]\nconstraints: {constant_time: true}")
    other = parse("objectives: [area_ge, cycles]\nsearch: {trials: 5}")
    assert one.evaluation_digest == other.evaluation_digest
    assert one.digest != other.digest
    assert one.evaluation_digest != parse("technology: {fo4_ps: 20}").evaluation_digest
    assert one.evaluation_digest != parse("core: {pipeline: [5, 3]}").evaluation_digest


def test_one_workload_of_several(parse: Parse) -> None:
    space = parse("workloads: [aes128-encrypt, {workload: aes128-ctr, bytes: 64}]")
    alone = space.for_workload("aes128-ctr")
    assert [use.bytes for use in alone.workloads] == [64]
    assert "kernel.aes128-encrypt" not in alone.by_name
    assert "kernel.aes128-ctr" in alone.by_name


def test_baseline_fixes_parameters_and_chooses_nothing(aes: Space) -> None:
    assert aes.baseline == {
        "zbkb": False, "zbkx": False, "zkne": False, "nluv": False,
        "core.pipeline": 5, "core.forwarding": True,
    }  # fmt: skip


PROPOSAL = """{"format": 1, "name": "mine", "xlen": 32, "source": "a test", "fields": {},
"encoding": "mine rd rs1 rs2 31..25=0 14..12=0 6..2=0x0a 1..0=3",
"meaning": "(bits (xor (arg rs1 32) (arg rs2 32)))"}"""


def test_proposal_is_named_by_its_file_and_changes_the_digest(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(PROPOSAL)
    space_file = tmp_path / "space.yaml"
    space_file.write_text(
        "name: x\nworkloads: [aes128-encrypt]\ninstructions: {choose: [mine.json]}\n"
    )
    space = load_space(space_file, VOCABULARY)
    assert space.free[0].name == "mine"
    assert space.entries[0].file == tmp_path / "mine.json"
    (tmp_path / "mine.json").write_text(PROPOSAL + " ")
    changed = load_space(space_file, VOCABULARY)
    assert changed.digest != space.digest
    assert changed.evaluation_digest != space.evaluation_digest


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("{", "must be JSON text: "),
        ("{}", "format must be 1, not None"),
        (PROPOSAL.replace("xor", "nor"), "meaning: "),
        (PROPOSAL.replace("0x0a", "0x04"), "encoding must have a custom opcode"),
    ],
)
def test_malformed_proposal_is_refused_where_the_space_names_it(
    tmp_path: Path, content: str, fault: str
) -> None:
    (tmp_path / "mine.json").write_text(content)
    space_file = tmp_path / "space.yaml"
    space_file.write_text(
        "name: x\nworkloads: [aes128-encrypt]\ninstructions:\n  choose: [mine.json]\n"
    )
    where = r"space.yaml:4:12: error: instructions.choose.0: proposal .*mine.json: "
    with pytest.raises(SpaceError, match=f"{where}{fault}"):
        load_space(space_file, VOCABULARY)


def test_single_instruction_can_be_chosen(parse: Parse) -> None:
    space = parse("instructions: {choose: [aes32esmi, zkne]}")
    assert [entry.kind for entry in space.entries] == ["instruction", "extension"]
    found = space.provided(space.neutral.replace({"aes32esmi": True}))
    assert found == {"rv32i", "add", "aes32esmi"}


def test_unit_with_a_latency(parse: Parse) -> None:
    space = parse("units: {aes_sbox: {circuit: [table, composite], latency: [auto, 1, 2]}}")
    assert space.by_name["units.aes_sbox"].choices == ("table", "composite")
    assert space.by_name["units.aes_sbox.latency"].choices == ("auto", 1, 2)


def test_missing_file_is_located(tmp_path: Path) -> None:
    with pytest.raises(SpaceError, match=r"absent.yaml:1:1: error: cannot be read: No such file"):
        load_space(tmp_path / "absent.yaml", VOCABULARY)

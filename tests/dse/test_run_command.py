from __future__ import annotations

import json
from pathlib import Path

import pytest

import dse.simulate.simulation
from dse.cli import run
from dse.simulate.program_file import without_atomics
from tests.oracles.elf import BASE, executable

LOOP = """
_start: li a0, 0
loop:   addi a0, a0, 1
        bne a0, a1, loop
        li a7, 93
        li a0, 0
        ecall
"""


def program(folder: Path, text: str, name: str = "program.S") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run(["run", *words])
    caught = capsys.readouterr()
    return code, caught.out, caught.err


@pytest.mark.parametrize("short", [50, 1_000_000])
def test_counts_and_cycles_do_not_depend_on_the_tier(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    short: int,
) -> None:
    monkeypatch.setattr(dse.simulate.simulation, "SHORT", short)
    path = program(tmp_path, LOOP)
    code, out, _ = call(capsys, path, "0", "1000", "--json", "--profile", "--isa", "rv32i")
    done = json.loads(out)
    assert code == done["exit_code"] == 0
    assert done["instructions"] == 1 + 2 * 1000 + 3
    assert done["cycles"] == done["instructions"] + 999 * 2  # a taken branch takes 3
    assert done["profile"]["functions"] == {"loop": 2003, "_start": 1}
    assert done["profile"]["instructions"] == {"addi": 1003, "bne": 1000, "ecall": 1}
    assert [line["text"] for line in done["profile"]["hottest"]] == [
        "addi a0, a0, 1",
        "bne a0, a1, -4",
    ]


def test_core_parameters_change_cycles_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = program(tmp_path, LOOP)
    for words, extra in (([], 2), (["--pipeline", "2"], 1)):
        _, out, _ = call(capsys, path, "0", "10", "--json", *words)
        done = json.loads(out)
        assert done["cycles"] == done["instructions"] + 9 * extra


def test_output_profile_and_registers_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write = "lui a1, 16\nli t0, 0x6948\nsw t0, 0(a1)\nli a2, 2\nli a7, 64\necall\nebreak"
    code, out, err = call(capsys, program(tmp_path, write), "--profile")
    assert (code, err) == (0, "")
    assert out.startswith("Hi\nended with ebreak\n")
    for text in ("t0   0x6948", "instructions 8", "CPI          1.0", "hottest block", "ecall"):
        assert text in out
    code, out, _ = call(capsys, program(tmp_path, "li a7, 93\nli a0, 3\necall"))
    assert code == 1
    assert "exit code    3" in out


def test_counters_are_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "nop\nnop\n.word 0xc0202573\n.word 0xc00025f3\nebreak"  # rdinstret a0, rdcycle a1
    path = program(tmp_path, text)
    _, out, _ = call(capsys, path, "--isa", "rv32i_zicntr", "--json")
    assert json.loads(out)["registers"][10:12] == ["0x2", "0x4"]


def test_atomics_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = program(tmp_path, "ebreak")
    code, out, err = call(capsys, path, "--isa", "rv32imac_zbb", "--json")
    assert (code, json.loads(out)["instructions"]) == (0, 1)
    assert err == "note: atomic instructions are not available; the program is run without A\n"
    assert without_atomics("RV64IMAC_zba") == ("rv64imc_zba", "atomic " + err[13:-1])
    assert without_atomics("rv32im_zba") == ("rv32im_zba", "")
    code, _, err = call(capsys, program(tmp_path, ".word 0x1005252f"), "--isa", "rv32ima")
    assert code == 1
    assert "word at pc 0x0 must be an instruction of the set, not 0x1005252f" in err


def test_memory_traffic_and_leaks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "lui t0, 16\nlw t1, 0(t0)\nlbu t2, 4(t0)\nsh t2, 8(t0)\nbeq t1, zero, end\nend: ebreak"
    path = program(tmp_path, text)
    words = (path, "--secret", "0x10000:4", "--secret", "0x10100:0x10", "--json", "--profile")
    _, out, _ = call(capsys, *words)
    done = json.loads(out)
    assert done["profile"]["memory"] == {
        "loads": 2,
        "stores": 1,
        "bytes_loaded": 5,
        "bytes_stored": 2,
    }
    assert done["profile"]["registers"] == 3
    assert [b["live"] for b in done["profile"]["pressure"]] == [3, 0]  # t0, t1 and t2
    assert done["leaks"] == [{"pc": 16, "kind": "branch", "count": 1, "text": "beq t1, zero, 4"}]
    _, out, _ = call(capsys, path, "--secret", "0x10004:4", "--profile")
    assert "memory       2 loads of 5 bytes, 1 stores of 2 bytes" in out
    assert "0 places where a secret shows in time" in out
    code, _, err = call(capsys, path, "--secret", "0:4")
    assert code == 2
    assert "secret range must lie in data memory, 0x10000 to 0x30000, not 4 bytes at 0x0" in err


def test_hex_and_elf_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, program(tmp_path, "00500513\n0000006f", "program.hex"), "--json")
    assert (code, json.loads(out)["registers"][10]) == (0, "0x5")
    words = b"".join(w.to_bytes(4, "little") for w in (0x05D00893, 0x00000513, 0x00000073))
    elf = tmp_path / "program"
    elf.write_bytes(executable(64, words, 4096, BASE, {"_start": BASE}))
    code, out, _ = call(capsys, str(elf), "--json")
    assert (code, json.loads(out)["instructions"]) == (0, 3)
    code, _, err = call(capsys, str(elf), "--isa", "rv32i")
    assert code == 2
    assert "ELF is for RV64, the instruction set for RV32" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lw a0, 2(zero)", "address must be a multiple of 4, not 0x2, at pc 0x0: lw a0, 2(zero) ("),
        ("lw a0, 0(zero)", "address must lie in data memory, 0x10000 to 0x2fffc, not 0x0, at pc"),
        ("nop\n.word 0x60251513", "word at pc 0x4 must be an instruction of the set, not 0x60251"),
        ("nop\n.word 0x60051513", "add the extension that defines it: in zbb it is clz a0, a0"),
        ("loop: j loop", "run must end within 5000 instructions, not go on at pc 0x0: jal zero, 0"),
        ("nop", "pc must be a multiple of 4 in 0x0 to 0x0, not 0x4"),
        ("ecall", "a7 of an ecall must be 93 (exit) or 64 (write), not 0, at pc 0x0: ecall"),
        (".word 0xc00025f3\n.word 0xc0001073", "a counter must be read, not written, at pc 0x4"),
        ("sw a0, 0(sp)", "not 0x30000, at pc 0x0: sw a0, 0(sp) (0x00a12023)"),
    ],
)
def test_traps_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    path = program(tmp_path, text)
    code, out, err = call(capsys, path, "--isa", "rv32i_zicsr", "--limit", "5000")
    assert (code, out) == (1, "")
    assert err.startswith(f"dse run: error: {path}: ")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["absent.S"], "absent.S: No such file or directory"),
        (["bad.S"], "bad.S:2:1: adddi: mnemonic must belong to the instruction set; did you mean"),
        (["bad.hex"], "bad.hex:1: word must be 1 to 8 hexadecimal digits, not 'zz'"),
        (["bad.c"], "bad.c: file must be an ELF, or end in one of .hex, .mem, .s, .asm, not '.c'"),
        (["ok.S", "--isa", "rv32iq"], "extension q of 'rv32iq' is not available: floating point"),
        (["ok.S", "--core", "big"], "name of a core must be one of ['default', 'icicle'], not"),
        (["ok.S", "five"], "'five' is not an integer"),
        (["ok.S", "--secret", "5"], "'5' must be ADDRESS:BYTES"),
        (["ok.S", *"123456789"], "ARGS must be at most 8, not 9"),
    ],
)
def test_wrong_use(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("bad.S", "nop\nadddi a0, a0, 1"), ("bad.hex", "zz"), ("bad.c", "int")):
        program(tmp_path, text, name)
    program(tmp_path, "ebreak", "ok.S")
    code, out, err = call(capsys, *words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1

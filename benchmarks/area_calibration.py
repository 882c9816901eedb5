"""Measure how far the area and delay rungs are from each other and from full synthesis.

    python benchmarks/area_calibration.py            # estimate against mapped, seconds
    python benchmarks/area_calibration.py --yosys    # mapped against yosys too, a minute

Prints one line a module and the median, 90th percentile and worst relative error. The errors that
`hw/technology.py` states come from this table and the one it names.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyrtl

from hw.area import bitblast, estimate, mapped
from hw.extension import build_extension
from hw.liberty import FLIP_FLOP_GE, TAU_NS, TAU_PER_FO4, liberty_text
from hw.lower import lower
from hw.technology import technology
from hw.units import circuit_names, circuits_for, table_names
from isa.bits import Bits, arg, arguments, concat, mux
from isa.instruction_set import InstructionSet, load_extension

GE = technology("ge")


def big_sigma(x: Bits, *amounts: int) -> Bits:
    """XOR of three rotations."""
    return x.rotr(amounts[0]) ^ x.rotr(amounts[1]) ^ x.rotr(amounts[2])


def quarter_round() -> list[Bits]:
    """ChaCha quarter round (RFC 8439 section 2.1)."""
    a, b, c, d = (arg(name, 32) for name in "abcd")
    for first, second in ((16, 12), (8, 7)):
        a = a + b
        d = (d ^ a).rotl(first)
        c = c + d
        b = (b ^ c).rotl(second)
    return [a, b, c, d]


def sha256_round() -> list[Bits]:
    """New a and e of a SHA-256 round, w being K + W (FIPS 180-4 section 6.2.2)."""
    a, b, c, d, e, f, g, h, kw = (arg(name, 32) for name in "abcdefghw")
    t1 = h + big_sigma(e, 6, 11, 25) + ((e & f) ^ (~e & g)) + kw
    t2 = big_sigma(a, 2, 13, 22) + ((a & b) ^ (a & c) ^ (b & c))
    return [t1 + t2, d + t1]


def ascon_round() -> list[Bits]:
    """Ascon round without its constant (NIST SP 800-232)."""
    x = [arg(f"x{i}", 64) for i in range(5)]
    x[0], x[4], x[2] = x[0] ^ x[4], x[4] ^ x[3], x[2] ^ x[1]
    t = [~x[i] & x[(i + 1) % 5] for i in range(5)]
    x = [x[i] ^ t[(i + 1) % 5] for i in range(5)]
    x[1], x[0], x[3], x[2] = x[1] ^ x[0], x[0] ^ x[4], x[3] ^ x[2], ~x[2]
    amounts = ((19, 28), (61, 39), (1, 6), (10, 17), (7, 41))
    return [y ^ y.rotr(m) ^ y.rotr(n) for y, (m, n) in zip(x, amounts, strict=True)]


def keccak_chi_theta() -> list[Bits]:
    """Theta, then chi, of Keccak-f[1600] (FIPS 202 section 3.2)."""
    lanes = [[arg(f"a{x}{y}", 64) for y in range(5)] for x in range(5)]
    column = [p[0] ^ p[1] ^ p[2] ^ p[3] ^ p[4] for p in lanes]
    theta = [column[(x - 1) % 5] ^ column[(x + 1) % 5].rotl(1) for x in range(5)]
    lanes = [[lane ^ theta[x] for lane in plane] for x, plane in enumerate(lanes)]
    return [
        lanes[x][y] ^ (~lanes[(x + 1) % 5][y] & lanes[(x + 2) % 5][y])
        for x in range(5)
        for y in range(5)
    ]


def kyber_butterfly() -> list[Bits]:
    """Cooley-Tukey butterfly modulo 3329 with Barrett reduction."""
    a, b, w = (arg(name, 12) for name in "abw")
    product = b.mul_wide(w)
    quotient = product.zext(40) * 5039
    reduced = (product - (quotient.slice(24, 12).zext(24) * 3329)).slice(0, 13)
    reduced = mux(reduced.ult(3329), reduced, reduced - 3329)
    total = a.zext(13) + reduced
    total = mux(total.ult(3329), total, total - 3329)
    difference = a.zext(14) - reduced.zext(14)
    difference = mux(difference.bit(13), difference + 3329, difference)
    return [total.slice(0, 12), difference.slice(0, 12)]


A, B = arg("a", 32), arg("b", 32)
MODULES: dict[str, Callable[[], list[Bits]]] = {
    "rotr32": lambda: [A.rotr_var(arg("n", 5))],
    "sigma0": lambda: [A.rotr(7) ^ A.rotr(18) ^ (A >> 3)],
    "add32": lambda: [A + B],
    "add64": lambda: [arg("x", 64) + arg("y", 64)],
    "compare32": lambda: [A.ult(B), A.slt(B), A.eq(B)],
    "clmul32": lambda: [A.clmul(B)],
    "mul16": lambda: [A.slice(0, 16).mul_wide(B.slice(0, 16))],
    "mul32": lambda: [A.mul_wide(B)],
    "select8": lambda: [
        mux(arg("n", 3).bit(2), concat(A, B), concat(B, A)).shr_var(arg("m", 6)).slice(0, 32)
    ],
    "chacha quarter round": quarter_round,
    "sha256 round": sha256_round,
    "ascon round": ascon_round,
    "keccak theta chi": keccak_chi_theta,
    "kyber butterfly": kyber_butterfly,
}


def module_block(roots: list[Bits]) -> pyrtl.Block:
    """Return a block whose inputs are the arguments of `roots` and whose outputs are these."""
    with pyrtl.temp_working_block():
        env = {str(a.attr): pyrtl.Input(a.width, str(a.attr)) for a in arguments(roots)}
        for i, wire in enumerate(lower(roots, env, {})):
            output = pyrtl.Output(len(wire), f"y{i}")
            output <<= wire
        return pyrtl.working_block()


def blocks() -> Iterator[tuple[str, pyrtl.Block]]:
    """Yield every module of the sample with its name."""
    for name, roots in MODULES.items():
        yield name, module_block(roots())
    for table in table_names():
        for circuit, build in circuits_for(table).items():
            with pyrtl.temp_working_block():
                output = pyrtl.Output(8, "y")
                output <<= build(pyrtl.Input(8, "x"))
                yield f"{table} {circuit}", pyrtl.working_block()
    for circuit in circuit_names("aes_sbox"):
        chosen = {table: circuits_for(table)[circuit] for table in table_names()}
        for parts in (("zkne",), ("zkne", "zknd", "zbkb", "zbkx")):
            units = InstructionSet.of(32, *parts).instructions
            yield f"{' '.join(parts)} {circuit}", build_extension(units, 32, chosen)
    nluv = InstructionSet.of(32, load_extension("nluv", banks=1)).instructions
    yield "nluv", build_extension(nluv, 32, {})


SCRIPT = (
    "import sys; from pyosys import libyosys as ys; d = ys.Design()\n"
    "for c in sys.argv[1].split('; '): ys.run_pass(c, d)"
)
RECIPE = "strash;balance,-x;&get,-n;&dch,-f;&nf;&put;buffer,-c;topo;upsize;dnsize;stime,-p"


def yosys(block: pyrtl.Block) -> tuple[float, float]:
    """Return area in GE and delay in FO4 by full synthesis with yosys."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        with (work / "top.v").open("w", encoding="ascii") as file:
            pyrtl.output_to_verilog(file, add_reset=False, block=block)
        (work / "ge.lib").write_text(liberty_text(), encoding="ascii")
        (work / "driver.constr").write_text("set_driving_cell INV\n", encoding="ascii")
        passes = (
            "read_verilog top.v; synth -flatten -noabc -top toplevel; dfflibmap -liberty ge.lib; "
            f"abc -liberty ge.lib -constr driver.constr -script +{RECIPE}; opt_clean; "
            "tee -o stat.txt stat -liberty ge.lib"
        )
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, passes],
            cwd=work,
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
        text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
        area, delay = re.findall(r"Area =\s*([\d.]+).*?Delay =\s*([\d.]+) ps", text)[-1]
        flip_flops = sum(
            map(
                int, re.findall(r"^\s+(\d+)\s+\S*\s*DFF\s*$", (work / "stat.txt").read_text(), re.M)
            )
        )
        ge = float(area) + FLIP_FLOP_GE * flip_flops
        return ge, float(delay) / (1000 * TAU_NS * TAU_PER_FO4)


def summary(errors: list[float]) -> str:
    """Return median, 90th percentile and worst of absolute relative errors, in per cent."""
    ordered = sorted(map(abs, errors))
    picked = (ordered[len(ordered) // 2], ordered[int(0.9 * (len(ordered) - 1) + 0.5)], ordered[-1])
    return " / ".join(f"{100 * e:.1f}" for e in picked)


def main() -> None:
    """Print the table and its summary."""
    parser = argparse.ArgumentParser(description="Compare the area rungs.")
    parser.add_argument("--yosys", action="store_true", help="synthesise each module too")
    with_yosys = parser.parse_args().yosys
    area: dict[str, list[float]] = {"estimate against mapped": []}
    delay: dict[str, list[float]] = {"estimate against mapped": []}
    for name, block in blocks():
        started = time.perf_counter()
        graph = bitblast(block)
        fast = estimate(graph, GE)
        between = time.perf_counter()
        exact = mapped(graph, GE)
        ended = time.perf_counter()
        line = (
            f"{name:34} {fast.area_ge:8.0f} {exact.area_ge:8.0f} GE "
            f"{fast.delay_fo4:6.1f} {exact.delay_fo4:6.1f} FO4 {exact.luts:6} LUT "
            f"{1000 * (between - started):6.1f} {1000 * (ended - between):6.0f} ms"
        )
        area["estimate against mapped"].append(fast.area_ge / exact.area_ge - 1)
        delay["estimate against mapped"].append(fast.delay_fo4 / exact.delay_fo4 - 1)
        if with_yosys:
            ge, fo4 = yosys(block)
            line += f" | {ge:8.0f} GE {fo4:6.1f} FO4"
            for label, cost in (("estimate against yosys", fast), ("mapped against yosys", exact)):
                area.setdefault(label, []).append(cost.area_ge / ge - 1)
                delay.setdefault(label, []).append(cost.delay_fo4 / fo4 - 1)
        print(line, flush=True)
    print("relative error in per cent: median / 90th percentile / worst")
    for label in area:
        print(f"  {label:26} area {summary(area[label])}   delay {summary(delay[label])}")


if __name__ == "__main__":
    main()

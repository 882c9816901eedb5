from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import pyrtl
import pytest

from hw.bitblast import bitblast
from hw.graph import Kind
from hw.lower import HARDWARE, lower
from hw.units import circuits_for
from isa.aes import sbox
from isa.bits import Bits, arg, concat, const, evaluate, lookup, mux, node
from isa.ops import OPS
from isa.table import Table

WIDTHS = [1, 2, 3, 8, 32, 64]


def expressions(width: int) -> dict[str, Bits]:
    """Every operator on free operands of `width` bits, under a label."""
    a, b, c = arg("a", width), arg("b", width), arg("c", 1)
    found = {
        op: node(op, a, b)
        for op in ("and", "or", "xor", "add", "sub", "mul", "mul_wide", "clmul", "eq", "ult", "slt")
    }
    found["const"] = a ^ const(0x5A5A_1234_8765_FEDC, width)
    found["arg"] = a
    found["not"] = ~a
    for op in ("shl", "shr", "sar", "rotr"):
        for amount in {1 % width, width // 2, width - 1}:
            found[f"{op} {amount}"] = node(op, a, attr=amount)
    if width > 1 and width & (width - 1) == 0:
        amount_bits = b.slice(0, width.bit_length() - 1)
        for op in ("shl_var", "shr_var", "sar_var", "rotr_var"):
            found[op] = node(op, a, amount_bits)
    found["concat"] = concat(a, c, b)
    found["slice"] = a.slice(width // 3, max(1, width // 2))
    found["zext"] = a.zext(width + 5)
    found["sext"] = a.sext(width + 5)
    found["mux"] = mux(c, a, b)
    if width >= 3:
        table = Table("cube", 5, tuple(i**3 % 32 for i in range(8)))
        found["lookup"] = lookup(table, a.slice(0, 3))
    return found


def simulate(
    found: Mapping[str, Bits],
    widths: Mapping[str, int],
    stimuli: list[dict[str, int]],
    circuits: Mapping[str, Callable[[pyrtl.WireVector], pyrtl.WireVector]] | None = None,
) -> list[dict[str, int]]:
    with pyrtl.temp_working_block():
        env = {name: pyrtl.Input(width, name) for name, width in widths.items()}
        wires = lower(found.values(), env, circuits or {})
        outputs = {}
        for i, (label, wire) in enumerate(zip(found, wires, strict=True)):
            output = pyrtl.Output(len(wire), f"out{i}")
            output <<= wire
            outputs[label] = output.name
        simulation = pyrtl.FastSimulation(tracer=None)
        results = []
        for values in stimuli:
            simulation.step(values)
            results.append({label: simulation.inspect(name) for label, name in outputs.items()})
        return results


@pytest.mark.parametrize("width", WIDTHS)
def test_every_operator_equals_its_meaning(width: int) -> None:
    found = expressions(width)
    draw = random.Random(width)
    corners = [0, 1, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1]
    if width <= 3:
        pairs = [(a, b) for a in range(1 << width) for b in range(1 << width)]
    else:
        pairs = [(a, b) for a in corners for b in corners]
        pairs += [(draw.getrandbits(width), draw.getrandbits(width)) for _ in range(100)]
    stimuli = [{"a": a, "b": b, "c": draw.getrandbits(1)} for a, b in pairs]
    got = simulate(found, {"a": width, "b": width, "c": 1}, stimuli)
    for values, results in zip(stimuli, got, strict=True):
        expected = {label: evaluate(n, values) for label, n in found.items()}
        assert results == expected, values


def test_every_operator_has_hardware() -> None:
    assert set(HARDWARE) | {"arg", "lookup"} == set(OPS)
    labels = {label.split()[0] for width in WIDTHS for label in expressions(width)}
    assert labels == set(OPS)


@pytest.mark.parametrize("name", ["boyar_peralta", "composite", "table"])
def test_a_lookup_uses_the_circuit_chosen_for_its_table(name: str) -> None:
    found = {"s": lookup(sbox(), arg("x", 8))}
    stimuli = [{"x": x} for x in range(256)]
    circuits = {"aes_sbox": circuits_for("aes_sbox")[name]}
    got = simulate(found, {"x": 8}, stimuli, circuits)
    assert [r["s"] for r in got[:4]] == [0x63, 0x7C, 0x77, 0x7B]  # FIPS 197 figure 7
    assert [r["s"] for r in got] == list(sbox().entries)


def test_a_shared_node_is_one_piece_of_hardware() -> None:
    x, y = arg("x", 8), arg("y", 8)
    shared = lookup(sbox(), x ^ y)
    with pyrtl.temp_working_block():
        env = {"x": pyrtl.Input(8, "x"), "y": pyrtl.Input(8, "y")}
        build = circuits_for("aes_sbox")["boyar_peralta"]
        for i, wire in enumerate(lower([shared, shared ^ x], env, {"aes_sbox": build})):
            output = pyrtl.Output(8, f"out{i}")
            output <<= wire
        assert bitblast(pyrtl.working_block()).count(Kind.AND) == 32


def test_what_cannot_be_lowered_is_named() -> None:
    with pyrtl.temp_working_block():
        x = pyrtl.Input(8, "x")
        with pytest.raises(ValueError, match=r"^argument must be one of x, not 'y'$"):
            lower([arg("y", 8)], {"x": x}, {})
        with pytest.raises(ValueError, match=r"^wire of x must be 9 bits wide, not 8$"):
            lower([arg("x", 9)], {"x": x}, {})
        with pytest.raises(ValueError, match=r"^circuit of aes_sbox must give 8 bits, not 7$"):
            lower([lookup(sbox(), arg("x", 8))], {"x": x}, {"aes_sbox": lambda w: w[:7]})


def test_exported_arithmetic_stands_on_its_own() -> None:
    # PyRTL 1.0 wrote {1'd1, (a * b)}, which Verilog cuts to 8 bits.
    a, b = arg("a", 8), arg("b", 8)
    roots = [
        concat(const(1, 1), value) for value in (a.mul_wide(b), (a + b).zext(9), (a - b).zext(9))
    ]
    with pyrtl.temp_working_block():
        env = {"a": pyrtl.Input(8, "a"), "b": pyrtl.Input(8, "b")}
        for i, wire in enumerate(lower(roots, env, {})):
            output = pyrtl.Output(len(wire), f"out{i}")
            output <<= wire
        block = pyrtl.working_block()
        for net in block.logic_subset("+-*"):
            readers = [n for n in block.logic if any(w is net.dests[0] for w in n.args)]
            assert [n.op for n in readers] == ["w"]

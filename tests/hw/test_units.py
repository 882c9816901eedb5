from __future__ import annotations

import random

import pyrtl
import pytest

from hw.area import bitblast, mapped
from hw.graph import Graph, Kind
from hw.linear import apply_network, compose, invert, xor_network
from hw.technology import technology
from hw.tower import towers
from hw.units import (
    Build,
    chosen_circuits,
    circuit,
    circuit_names,
    circuits_for,
    table_names,
)


def gf_multiply(a: int, b: int) -> int:
    result = 0
    for i in range(8):
        if b >> i & 1:
            result ^= a << i
    for i in range(14, 7, -1):
        if result >> i & 1:
            result ^= 0x11B << (i - 8)
    return result


def reference_sbox() -> list[int]:
    """FIPS 197 section 5.1.1, from its definition and not from the project's table."""
    box = []
    for x in range(256):
        inverse = next((y for y in range(256) if gf_multiply(x, y) == 1), 0)
        bits = [inverse >> i & 1 for i in range(8)]
        box.append(
            sum(
                (
                    bits[i]
                    ^ bits[(i + 4) % 8]
                    ^ bits[(i + 5) % 8]
                    ^ bits[(i + 6) % 8]
                    ^ bits[(i + 7) % 8]
                    ^ (0x63 >> i & 1)
                )
                << i
                for i in range(8)
            )
        )
    return box


SBOX = reference_sbox()
INVERSE = [SBOX.index(y) for y in range(256)]

# GB/T 32907-2016 section 6.2, as printed there.
SM4 = list(
    bytes.fromhex(
        "d690e9fecce13db716b614c228fb2c052b679a762abe04c3aa44132649860699"
        "9c4250f491ef987a33540b43edcfac62e4b31ca9c908e89580df94fa758f3fa6"
        "4707a7fcf37317ba83593c19e6854fa8686b81b27164da8bf8eb0f4b70569d35"
        "1e240e5e6358d1a225227c3b01217887d40046579fd327524c3602e7a0c4c89e"
        "eabf8ad240c738b5a3f7f2cef96115a1e0ae5da49b341a55ad933230f58cb1e3"
        "1df6e22e8266ca60c02923ab0d534e6fd5db3745defd8e2f03ff6a726d6c5b51"
        "8d1baf92bbddbc7f11d95c411f105ad80ac13188a5cd7bbd2d74d012b8e5b4b0"
        "8969974a0c96777e65b9f109c56ec68418f07dec3adc4d2079ee5f3ed7cb3948"
    )
)
EXPECTED = {"aes_sbox": SBOX, "aes_inv_sbox": INVERSE, "sm4_sbox": SM4}
NAMES = ["boyar_peralta", "composite", "low_depth", "shared", "table"]


def test_the_reference_is_fips_197() -> None:
    # FIPS 197 figure 7: row 0 starts 63 7c 77 7b; section 5.1.1: {53} maps to {ed}.
    assert SBOX[:4] == [0x63, 0x7C, 0x77, 0x7B]
    assert SBOX[0x53] == 0xED
    assert SBOX[0xFF] == 0x16


def values(build: Build) -> list[int]:
    with pyrtl.temp_working_block():
        output = pyrtl.Output(8, "y")
        output <<= build(pyrtl.Input(8, "x"))
        simulation = pyrtl.FastSimulation(tracer=None)
        result = []
        for x in range(256):
            simulation.step({"x": x})
            result.append(simulation.inspect("y"))
        return result


@pytest.mark.parametrize("table", sorted(EXPECTED))
@pytest.mark.parametrize("name", NAMES)
def test_every_circuit_equals_the_sbox(table: str, name: str) -> None:
    assert values(circuits_for(table)[name]) == EXPECTED[table]


def test_circuits_are_found_and_named() -> None:
    assert list(circuits_for("aes_inv_sbox")) == NAMES
    assert circuits_for("no_such_table") == {}
    assert set(EXPECTED) <= set(table_names())
    assert list(circuit_names("aes_sbox")) == NAMES
    chosen = chosen_circuits({"aes_sbox": "table", "aes_inv_sbox": "composite"})
    assert chosen["aes_inv_sbox"] is circuits_for("aes_inv_sbox")["composite"]
    assert "Boyar" in circuit("aes_sbox", "boyar_peralta").source
    with pytest.raises(
        ValueError,
        match=r"^circuit of aes_sbox must be one of .*low_depth, shared, table, not 'lut'$",
    ):
        circuit("aes_sbox", "lut")


def graph(table: str, name: str) -> Graph:
    with pyrtl.temp_working_block():
        output = pyrtl.Output(8, "y")
        output <<= circuits_for(table)[name](pyrtl.Input(8, "x"))
        return bitblast(pyrtl.working_block())


def gates(table: str, name: str) -> tuple[int, int, int]:
    found = graph(table, name)
    return found.count(Kind.AND), found.count(Kind.XOR), found.count(Kind.MUX)


def test_the_boyar_peralta_circuit_has_its_published_gates() -> None:
    assert gates("aes_sbox", "boyar_peralta") == (32, 83, 0)


def test_the_inverse_keeps_the_core_of_boyar_and_peralta() -> None:
    ands, xors, muxes = gates("aes_inv_sbox", "boyar_peralta")
    assert (ands, muxes) == (32, 0)
    assert xors <= 96


def test_the_composite_field_circuits_have_36_ands() -> None:
    # Three products in GF(16) of nine ANDs each, three in GF(4) of three each (Canright).
    for table in EXPECTED:
        ands, xors, muxes = gates(table, "composite")
        assert (ands, muxes) == (36, 0)
        assert xors <= 100


def test_the_low_depth_circuits_stand_between_table_and_small_ones() -> None:
    for table in EXPECTED:
        cost = {name: mapped(graph(table, name), technology("ge")) for name in NAMES}
        delays = [cost[name].delay_fo4 for name in ("table", "low_depth", "boyar_peralta")]
        areas = [cost[name].area_ge for name in ("boyar_peralta", "low_depth", "table")]
        assert delays == sorted(delays)
        assert areas == sorted(areas)
        assert cost["low_depth"].area_ge < 300


@pytest.mark.parametrize("polynomial", [0x11B, 0x1F5])
def test_every_tower_inverts(polynomial: int) -> None:
    def multiply(a: int, b: int) -> int:
        result = 0
        for i in range(8):
            if b >> i & 1:
                result ^= a << i
        for i in range(14, 7, -1):
            if result >> i & 1:
                result ^= polynomial << (i - 8)
        return result

    def apply(matrix: tuple[int, ...], x: int) -> int:
        return sum(((row & x).bit_count() & 1) << i for i, row in enumerate(matrix))

    found = towers(polynomial)
    assert len(found) == 16
    for tower in found[::5]:
        for x in range(1, 256):
            word = apply(tower.to_tower(), x)
            inverted = tower.inverse([word >> i & 1 for i in range(8)])
            y = apply(tower.from_tower(), sum(bit << i for i, bit in enumerate(inverted)))
            assert multiply(x, y) == 1


def test_a_matrix_times_its_inverse_is_one() -> None:
    matrix = (0b1011, 0b0110, 0b1111, 0b0001)
    assert compose(matrix, invert(matrix)) == (1, 2, 4, 8)
    with pytest.raises(ValueError, match=r"^matrix must have full rank 2, not 1 or less$"):
        invert((3, 3))


def test_an_xor_network_computes_its_matrix_with_shared_sums() -> None:
    matrix = (0b0111, 0b1111, 0b0011, 0, 0b1000)
    network = xor_network(matrix, 4)
    assert len(network[0]) == 3
    for x in range(16):
        inputs = [x >> i & 1 for i in range(4)]
        expected = [(row & x).bit_count() & 1 for row in matrix]
        assert apply_network(network, inputs, lambda a, b: a ^ b, 0) == expected


def test_a_bounded_network_keeps_to_its_depth() -> None:
    draw = random.Random(2)
    for _ in range(20):
        matrix = tuple(draw.getrandbits(8) for _ in range(10))
        least = max((max(row.bit_count(), 1) - 1).bit_length() for row in matrix)
        network = xor_network(matrix, 8, depth=least)
        inputs = [1 << i for i in range(8)]
        assert apply_network(network, inputs, lambda a, b: a ^ b, 0) == list(matrix)
        depths = apply_network(network, [0] * 8, lambda a, b: max(a, b) + 1, 0)
        assert max(depths) <= least
    with pytest.raises(ValueError, match=r"^depth must be enough for every output, not 2$"):
        xor_network((0b11111,), 8, depth=2)

from __future__ import annotations

import random

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from isa.compiler import compile_kernel
from isa.instruction_set import InstructionSet
from isa.kernel import Builder, UnsupportedKernel
from tests.isa.compiler import kernels
from tests.isa.compiler.interpreter import Interpreter

BLOCK, KEYS = 0x20000, 0x21000


@pytest.mark.parametrize("unroll", [1, 2, "full"])
@pytest.mark.parametrize(
    ("kernel", "extensions", "most"),
    [
        (kernels.aes_t_tables, (), {1: 985, 2: 890, "full": 890}),
        (kernels.aes_t_tables, ("zkne",), {1: 288, 2: 233, "full": 233}),
        (kernels.aes_t_tables, ("zbkb", "zknd"), {1: 969, 2: 890, "full": 890}),
        (kernels.aes_bytes, (), {1: 2811, 2: 2811, "full": 2811}),
        (kernels.aes_bytes, ("zbkb",), {1: 2811, 2: 2811, "full": 2811}),
    ],
)
def test_aes_encrypts_as_cryptography_does_in_few_instructions(kernel, extensions, most, unroll):
    """Bounds: best compiled C and best assembly on the same instruction set."""
    instructions = InstructionSet.of(32, "rv32i", *extensions)
    program = compile_kernel(kernel, instructions, unroll=unroll)
    generator = random.Random(7)
    for _ in range(2):
        key, block = generator.randbytes(16), generator.randbytes(16)
        run = Interpreter(program, instructions)
        run.write(BLOCK, block)
        run.write(KEYS, kernels.round_keys(key))
        assert run.run([BLOCK, KEYS]) <= most[unroll]
        encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
        assert run.read(BLOCK, 16) == encryptor.update(block)


@pytest.mark.parametrize(
    ("extensions", "most"), [((), 319), (("zkne",), 214), (("zkne", "zbkb"), 214)]
)
def test_key_schedule_in_few_instructions(extensions, most):
    """FIPS 197 appendix A.1; bounds: best assembly on the same instruction set."""
    instructions = InstructionSet.of(32, "rv32i", *extensions)
    program = compile_kernel(kernels.aes_key_schedule, instructions)
    run = Interpreter(program, instructions)
    key = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
    run.write(BLOCK, key)
    run.write(KEYS, bytes(176))
    assert run.run([BLOCK, KEYS]) <= most
    assert run.read(KEYS, 176) == kernels.round_keys(key)
    last = "d014f9a8c9ee2589e13f0cc8b6630ca6"
    assert run.read(KEYS + 160, 16).hex() == last


def test_code_that_would_run_into_data_is_refused(monkeypatch):
    def build(k: Builder) -> None:
        x = k.pointer("x")
        k.loop(90, lambda i: k.store(x, 4 * i, k.load(x, 4 * i) + 1))

    instructions = InstructionSet.of(32, "rv32i")
    monkeypatch.setattr("isa.compiler.compile.DATA_BASE", 1000)
    assert compile_kernel(build, instructions).code_bytes < 100
    with pytest.raises(
        UnsupportedKernel, match=r"^code must fit the 1,000 bytes below data memory, not take 1,084"
    ):
        compile_kernel(build, instructions, unroll="full")

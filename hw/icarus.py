"""Icarus: run an exported module in Icarus Verilog, for comparison with a PyRTL simulation."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from hw.verilog import Verilog

__all__ = ["IcarusError", "available", "simulate"]

TIMEOUT_S = 300.0


class IcarusError(RuntimeError):
    """Raised when Icarus Verilog is missing, refuses the module, or takes too long."""


def available() -> bool:
    """Whether `iverilog` and `vvp` are on the path."""
    return shutil.which("iverilog") is not None and shutil.which("vvp") is not None


def simulate(
    module: Verilog,
    stimuli: Sequence[Mapping[str, int]],
    memories: Mapping[str, Mapping[int, int]] | None = None,
) -> list[dict[str, int]]:
    """Return the outputs of each cycle, before its rising edge, by Verilog name.

    Args:
        module: A module without reset.
        stimuli: For each cycle the value of every input, by Verilog name.
        memories: Words to place into memories before the first cycle, by Verilog name and address.

    Raises:
        IcarusError: when Icarus Verilog is missing or fails, or an output is undefined (x).
    """
    if not available():
        raise IcarusError(
            "checking exported Verilog needs iverilog and vvp on the path; "
            "install Icarus Verilog, for example with 'apt-get install iverilog'"
        )
    with tempfile.TemporaryDirectory(prefix="dse-icarus-") as folder:
        work = Path(folder)
        (work / "module.v").write_text(module.text, encoding="ascii")
        (work / "bench.v").write_text(_bench(module, len(stimuli), memories or {}), "ascii")
        (work / "stimuli.hex").write_text(_packed(module, stimuli), "ascii")
        for name, words in (memories or {}).items():
            image = (f"@{address:x} {word:x}\n" for address, word in sorted(words.items()))
            (work / f"{name}.hex").write_text("".join(image), "ascii")
        _run(["iverilog", "-g2005", "-Wall", "-o", "bench", "module.v", "bench.v"], work)
        lines = _run(["vvp", "-N", "bench"], work).splitlines()
    results = []
    for line in (line for line in lines if line.startswith("@")):
        values = line[1:].split()
        try:
            results.append(
                {name: int(v, 16) for (name, _), v in zip(module.outputs, values, strict=True)}
            )
        except ValueError:
            raise IcarusError(f"outputs must be defined, not {line[1:]!r}") from None
    if len(results) != len(stimuli):
        raise IcarusError(f"vvp must report {len(stimuli)} cycles, not {len(results)}")
    return results


def _run(command: list[str], work: Path) -> str:
    try:
        done = subprocess.run(
            command,
            cwd=work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT_S,
            check=False,
            text=True,
        )
    except subprocess.TimeoutExpired:
        raise IcarusError(f"{command[0]} must finish in {TIMEOUT_S:g} s, it did not") from None
    if done.returncode != 0:
        first = done.stdout.strip().splitlines()[:1] or ["no output"]
        raise IcarusError(f"{command[0]} failed with code {done.returncode}: {first[0]}")
    return done.stdout


def _packed(module: Verilog, stimuli: Sequence[Mapping[str, int]]) -> str:
    """Return one hexadecimal word a cycle, the first input in its lowest bits."""
    lines = []
    for cycle in stimuli:
        word, low = 0, 0
        for name, width in module.inputs:
            word |= cycle[name] << low
            low += width
        lines.append(f"{word:x}")
    return "\n".join(lines) + "\n"


def _bench(module: Verilog, cycles: int, memories: Mapping[str, Mapping[int, int]]) -> str:
    bits = max(1, sum(width for _, width in module.inputs))
    lines = [
        "module bench;",
        "  reg clk; integer cycle;",
        f"  reg [{bits - 1}:0] stimuli [0:{max(0, cycles - 1)}];",
        f"  reg [{bits - 1}:0] now;",
    ]
    connections, low = [".clk(clk)"], 0
    for name, width in module.inputs:
        connections.append(f".{name}(now[{low + width - 1}:{low}])")
        low += width
    for name, width in module.outputs:
        lines.append(f"  wire [{width - 1}:0] out_{name};")
        connections.append(f".{name}(out_{name})")
    shown = " ".join("%h" for _ in module.outputs)
    values = "".join(f", out_{name}" for name, _ in module.outputs)
    lines += [
        f"  {module.module} dut({', '.join(connections)});",
        "  initial begin",
        "    clk = 0;",
        '    $readmemh("stimuli.hex", stimuli);',
        # After the module's own initial blocks, which set memories to 0.
        "    #1;",
        *(f'    $readmemh("{name}.hex", dut.{name});' for name in memories),
        f"    for (cycle = 0; cycle < {cycles}; cycle = cycle + 1) begin",
        "      now = stimuli[cycle]; #4;",
        f'      $display("@{shown}"{values}); #1;',
        "      clk = 1; #5; clk = 0;",
        "    end",
        "    $finish;",
        "  end",
        "endmodule",
    ]
    return "\n".join(lines) + "\n"

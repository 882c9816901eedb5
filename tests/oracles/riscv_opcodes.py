"""Writes tests/golden/encodings.txt from a checkout of riscv/riscv-opcodes.

    python tests/oracles/riscv_opcodes.py CHECKOUT > tests/golden/encodings.txt

Match and mask are computed here, from the field lists, with nothing of the project.
"""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SAME_NAME = (
    *("m", "zicsr", "zba", "zbb", "zbc", "zbs", "zbkb", "zbkc", "zbkx"),
    *("zknd", "zkne", "zknh", "zksed", "zksh"),
)
FILES = {"rv32i": (32, "i"), "rv64i": (64, "i"), **{e: (None, e) for e in SAME_NAME}}
FILES |= {"zca": (None, "c")}
"""Our extension to the only xlen it has, if so, and the suffix of its upstream files."""

INSTRUCTIONS_NOT_PSEUDO = {
    *("slli", "srli", "srai", "rori", "rev8", "zext.h", "bclri", "bexti", "binvi", "bseti"),
    *("c.slli", "c.srli", "c.srai"),
}
"""Upstream spells these as pseudo-ops of one xlen because their encodings differ by xlen."""


def field(text: str) -> tuple[int, int] | None:
    """Match and mask of a fixed field such as `14..12=1`, None for an argument."""
    place, equals, value = text.partition("=")
    if not equals:
        return None
    high, _, low = place.partition("..")
    low_bit = int(low or high)
    width = int(high) - low_bit + 1
    return int(value, 0) << low_bit, ((1 << width) - 1) << low_bit


def encoding(parts: list[str], arguments: dict[str, tuple[int, int]]) -> tuple[int, int]:
    """Match and mask of a line without its mnemonic."""
    match = mask = 0
    for part in parts:
        fixed = field(part)
        if fixed is None:
            assert part in arguments, part
        else:
            match |= fixed[0]
            mask |= fixed[1]
    return match, mask


def instructions(folder: Path, suffix: str, xlen: int) -> Iterator[tuple[str, list[str], str]]:
    """(mnemonic, fields, file) of each instruction of an extension at one xlen."""
    for prefix in ("rv", f"rv{xlen}"):
        path = folder / f"{prefix}_{suffix}"
        if not path.exists():
            continue
        for raw in path.read_text().splitlines():
            parts = raw.partition("#")[0].split()
            if not parts:
                continue
            if parts[0] == "$import":
                file, _, name = parts[1].partition("::")
                for other, fields, _ in instructions(folder, file.partition("_")[2], xlen):
                    if other == name:
                        yield other, fields, file
            elif parts[0] == "$pseudo_op":
                name = parts[2].removesuffix(".rv32")
                if prefix != "rv" and name in INSTRUCTIONS_NOT_PSEUDO:
                    yield name, parts[3:], path.name
            elif parts[0].endswith(".rv32"):
                if xlen == 32:
                    yield parts[0].removesuffix(".rv32"), parts[1:], path.name
            else:
                yield parts[0], parts[1:], path.name


def main(checkout: Path) -> None:
    """Write the list to standard output."""
    with (checkout / "arg_lut.csv").open() as file:
        rows = csv.reader(file, skipinitialspace=True)
        arguments = {r[0]: (int(r[1]), int(r[2])) for r in rows if len(r) == 3}
    commit = subprocess.run(
        ["git", "-C", checkout, "log", "-1", "--format=%H (%cs)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    lines = [
        "# match and mask of each ratified instruction, computed from the field lists of",
        f"# riscv/riscv-opcodes commit {commit},",
        "# by tests/oracles/riscv_opcodes.py:",
        "# extension xlen mnemonic match mask file",
    ]
    for extension, (only, suffix) in FILES.items():
        for xlen in (32, 64) if only is None else (only,):
            seen = set()
            for name, fields, origin in instructions(checkout / "extensions", suffix, xlen):
                match, mask = encoding(fields, arguments)
                if name not in seen:
                    lines.append(f"{extension} {xlen} {name} {match:#010x} {mask:#010x} {origin}")
                seen.add(name)
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

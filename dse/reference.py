"""Reference: the page of every instruction, docs/instructions.md.

    python -m dse.reference

writes it anew; a test holds that it is what the extensions say.
"""

from __future__ import annotations

import sys
from pathlib import Path

from dse.show.state_text import state_text
from isa.compressed import Compressed
from isa.formula import formula
from isa.instruction import Extension, Instruction
from isa.instruction_set import extension_names, extension_parameters, load_extension
from isa.syntax import operands

PAGE = Path(__file__).parent.parent / "docs" / "instructions.md"
LONGEST_FORMULA = 100
"""Characters of a formula that the page shows; `dse show NAME` has all of them."""

_HEAD = """# Instructions

Every instruction that `dse` knows, by extension. This page is generated from the extensions
themselves by `python -m dse.reference`; `dse show NAME` prints all that is known of one of them:
the whole formula, the encoding, area and delay of its unit, the kernels that use it and its
nearest relatives.

In formulas `x[15:8]` are bits 15 to 8, `{a, b}` joins with a on top, `>>>` rotates right, `>>s`
shifts with the sign, `<s` compares signed, `(*)` multiplies without carries and `c ? a : b`
chooses. They are those of the smallest register width; immediates are shown as they are encoded.
"""


def page() -> str:
    """The text of the page."""
    sections = [_section(name) for name in extension_names()]
    contents = ", ".join(f"[{name}](#{name})" for name in extension_names())
    return "\n".join([_HEAD, contents + ".", *sections])


def _section(name: str) -> str:
    parameters = extension_parameters(name)
    extension = load_extension(name, **{key: values[0] for key, values in parameters.items()})
    lines = ["", f"## {name}", "", f"{extension.source}."]
    facts = [" and ".join(f"RV{xlen}" for xlen in extension.xlens)]
    if extension.requires:
        facts.append(f"with {', '.join(extension.requires)}")
    for key, values in parameters.items():
        facts.append(f"parameter `{key}`: {', '.join(map(str, values))}")
    lines.append(f"{'; '.join(facts)}.")
    lines += state_text(name)
    own = [i for i in extension.instructions if i.extension == name]
    if own:
        lines += ["", "| instruction | what it does | formula |", "|---|---|---|"]
        lines += [_row(instruction, extension) for instruction in own]
        lines += _variants(name, own)
    short = [c for c in extension.compressed if c.extension == name]
    if short:
        lines += ["", "| 16 bits | stands for |", "|---|---|"]
        lines += [f"| `{c.name}` | `{c.expansion}` |" for c in short]
    every: list[Instruction | Compressed] = [*extension.instructions, *extension.compressed]
    others = dict.fromkeys(f"`{i.name}`" for i in every if i.extension != name)
    if others:
        lines += ["", f"From other extensions: {', '.join(others)}."]
    return "\n".join(lines)


def _variants(name: str, own: list[Instruction]) -> list[str]:
    """What other choices of one parameter add, or take with other operands."""
    parameters = extension_parameters(name)
    first = {key: values[0] for key, values in parameters.items()}
    known = {_written(i) for i in own}
    lines = []
    for key, values in parameters.items():
        found = load_extension(name, **{**first, key: values[-1]}).instructions
        others = [w for w in map(_written, found) if w not in known]
        if others:
            lines += ["", f"With `{key}` = {values[-1]}: {', '.join(others)}."]
    return lines


def _written(instruction: Instruction) -> str:
    return f"`{instruction.name} {', '.join(operands(instruction))}`".replace(" `", "`")


def _row(instruction: Instruction, extension: Extension) -> str:
    only = "" if instruction.xlens == extension.xlens else f" (RV{instruction.xlens[0]} only)"
    lines = formula(instruction.effects(instruction.xlens[0]))
    text = "; ".join(lines)
    shown = f"`{text}`" if len(text) <= LONGEST_FORMULA else ""
    what = " ".join((instruction.meaning.__doc__ or "").split())
    cells = (_written(instruction) + only, what, shown)
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    sys.stderr.write(f"wrote {PAGE}\n")


if __name__ == "__main__":
    main()

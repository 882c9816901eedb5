"""Proposal: an instruction as data, a JSON file that names an encoding and a textual meaning.

    {"format": 1, "name": "xsb0", "xlen": 32, "encoding": "xsb0 rd rs1 rs2 bs 29..25=0 ...",
     "fields": {}, "meaning": "(bits (xor (arg rs1 32) ...))", "source": "...", "measured": {...}}

`views` may name other views of kernels (`isa.view`) in which the instruction was measured; a space
that chooses the proposal offers its kernels in them. Whatever else the file holds is for people and
reports. Nothing in it is executed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isa.bits import Bits, arguments, substitute
from isa.encoding import EncodingError
from isa.instruction import REGISTER_SOURCES, Extension, Instruction
from isa.text import TextError, from_text, to_text

FORMAT = 1
LARGEST_FILE_BYTES = 1 << 20
CUSTOM_OPCODES = (0x0B, 0x2B, 0x5B, 0x7B)
"""Major opcodes custom-0 to custom-3 (RISC-V Unprivileged ISA 20240411, table 70)."""


class ProposalError(ValueError):
    """A proposal file is malformed."""


def load_proposal(path: str | Path) -> Extension:
    """Read a proposal; the extension holds its one instruction and bears its name.

    Raises:
        ProposalError: Not a readable proposal; one line that says where and what is wrong.
    """
    path = Path(path)
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise ProposalError(f"{path}: must be at most {LARGEST_FILE_BYTES} bytes")
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ProposalError(f"{path}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ProposalError(f"{path}: must be JSON text: {error}") from None
    try:
        extension = read_proposal(data)
    except ProposalError as error:
        raise ProposalError(f"{path}: {error}") from None
    if extension.name != path.stem:
        raise ProposalError(f"{path}: name must be that of the file, not {extension.name!r}")
    return extension


def read_proposal(data: Mapping[str, Any]) -> Extension:
    """Turn the content of a proposal file into an extension of one instruction.

    Raises:
        ProposalError: A key is missing, or its value does not fit.
    """
    if not isinstance(data, dict):
        raise ProposalError("must be a mapping of keys")
    if data.get("format") != FORMAT:
        raise ProposalError(f"format must be {FORMAT}, not {data.get('format')!r}")
    name = _text(data, "name")
    if not name.isidentifier() or name != name.lower():
        raise ProposalError(f"name must be a lower-case identifier, not {name!r}")
    xlen = data.get("xlen")
    if xlen not in (32, 64) or isinstance(xlen, bool):
        raise ProposalError(f"xlen must be 32 or 64, not {xlen!r}")
    line = _text(data, "encoding")
    if line.split()[:1] != [name]:
        raise ProposalError(f"encoding must start with the name {name!r}, not {line[:20]!r}")
    root = _meaning(_text(data, "meaning"), xlen)
    holes = sorted(arguments([root]), key=_order)
    parameters = tuple(str(a.attr) for a in holes)
    extension = Extension(name, source=_text(data, "source"), xlens=(xlen,))
    extension.views = _views(data)

    def meaning(*operands: Bits) -> Bits:
        return substitute(root, dict(zip(holes, operands, strict=True)))

    try:
        extension.declare(line, meaning, parameters, fields=_fields(data))
        extension.instructions[0].effects(xlen)
    except EncodingError as error:
        raise ProposalError(f"encoding: {error}") from None
    _check_operands(extension.instructions[0], root, xlen)
    return extension


def write_proposal(
    instruction: Instruction,
    xlen: int,
    fields: Mapping[str, tuple[int, int]],
    **more: object,
) -> dict[str, object]:
    """The content of a proposal file for an instruction; `more` is added for people and reports."""
    rd = instruction.effects(xlen).rd
    assert rd is not None
    return {
        "format": FORMAT,
        "name": instruction.name,
        "xlen": xlen,
        "encoding": instruction.line,
        "fields": {name: list(bits) for name, bits in fields.items()},
        "meaning": to_text([rd]),
        "source": instruction.source,
        **more,
    }


def _order(hole: Bits) -> tuple[bool, str]:
    """Registers first, then immediates."""
    return str(hole.attr) not in REGISTER_SOURCES, str(hole.attr)


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ProposalError(f"{key} must be a text, not {value!r}")
    return value


def _fields(data: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    fields = data.get("fields", {})
    if not isinstance(fields, dict):
        raise ProposalError(f"fields must be a mapping, not {fields!r}")
    for name, bits in fields.items():
        is_pair = isinstance(bits, list) and [type(b) for b in bits] == [int, int]
        if not is_pair or not 31 >= bits[0] >= bits[1] >= 0:
            raise ProposalError(f"field {name} must be [high, low] bits, not {bits!r}")
    return {name: (bits[0], bits[1]) for name, bits in fields.items()}


def _views(data: Mapping[str, Any]) -> tuple[str, ...]:
    views = data.get("views", [])
    if views == []:
        return ()
    from isa.view import VIEWS  # few proposals have any

    if not isinstance(views, list) or any(v not in list(VIEWS) for v in views):
        raise ProposalError(f"views must be a list of {' and '.join(VIEWS)}, not {views!r}")
    if len(set(views)) < len(views):
        raise ProposalError(f"views must name each once, not {views!r}")
    return tuple(views)


def _meaning(text: str, xlen: int) -> Bits:
    try:
        roots = from_text(text)
    except TextError as error:
        raise ProposalError(f"meaning: {error}") from None
    if len(roots) != 1 or roots[0].width != xlen:
        raise ProposalError(f"meaning must be one expression of {xlen} bits")
    return roots[0]


def _check_operands(instruction: Instruction, root: Bits, xlen: int) -> None:
    encoding = instruction.encoding
    opcode = encoding.match & 0x7F
    if encoding.mask & 0x7F != 0x7F or opcode not in CUSTOM_OPCODES:
        accepted = ", ".join(f"{o:#x}" for o in CUSTOM_OPCODES)
        raise ProposalError(f"encoding must have a custom opcode ({accepted}), not {opcode:#x}")
    if "rd" not in encoding.registers:
        raise ProposalError("encoding must have the destination rd")
    widths = {**dict.fromkeys(REGISTER_SOURCES, xlen)}
    widths.update((i.name, i.width) for i in encoding.immediates)
    for a in arguments([root]):
        expected = widths.get(str(a.attr))
        if expected is None:
            raise ProposalError(f"meaning must read registers and immediates only, not {a.attr!r}")
        if a.width != expected:
            raise ProposalError(f"operand {a.attr} must be {expected} bits wide, not {a.width}")

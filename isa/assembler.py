"""Assembler: text to a `Program`.

One instruction or label a line, `#` or `//` start a comment. Pseudo-instructions: `nop`, `mv`,
`li` (always two instructions when it does not fit 12 bits), `la`, `not`, `neg`, `j`, `ret`, `call`
and `beqz`/`bnez`; `%hi(label)` and `%lo(label)` are the halves of an address. Behind `.data`,
directives place data (`isa.data_section`); `.text` leads back to code. Directives in code: `.word`,
`.globl`, which changes nothing, and for sets with compressed instructions `.half`,
`.option norvc` and `.option rvc`. Such sets compress whatever fits; offsets being what depends on
it, all start short, and those that do not reach grow until nothing changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import accumulate

from isa.data_section import DataSection
from isa.encoding import EncodingError
from isa.instruction import Instruction
from isa.instruction_set import InstructionSet
from isa.program import DATA_BASE, TEXT_BASE, Program, packed
from isa.registers import NUMBERS
from isa.syntax import OFFSETS, operands

_LABEL = re.compile(r"([A-Za-z_.$][\w.$]*):")
_DATA = {".half": 2, ".word": 4}
"""Bytes that a directive places."""
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|(?:#|//).*')
_HALF = re.compile(r"%(hi|lo)\(\s*([\w.$]+)\s*\)")
_SECTIONS = (".text", ".data", ".section")
_ADDRESSED = re.compile(r"(.*)\(\s*(\w+)\s*\)")


class AssemblyError(ValueError):
    """A line of assembly cannot be understood; the message starts with line:column."""


@dataclass(frozen=True)
class _Statement:
    line: int
    column: int
    mnemonic: str
    operands: tuple[str, ...]
    compress: bool = True

    def error(self, message: str) -> AssemblyError:
        return AssemblyError(f"{self.line}:{self.column}: {self.mnemonic}: {message}")


def assemble(text: str, instructions: InstructionSet) -> Program:
    """Assemble `text` for an instruction set, starting at `TEXT_BASE`.

    Raises:
        AssemblyError: Unknown mnemonic, register or label, or a value out of range.
    """
    statements: list[_Statement] = []
    labels: dict[str, int] = {}
    compress = bool(instructions.compressed)
    data = DataSection(DATA_BASE)
    in_data = False
    for number, raw in enumerate(text.splitlines(), 1):
        line = _COMMENT.sub(lambda m: m[1] or "", raw)
        while match := _LABEL.match(line.strip()):
            label = match[1]
            if label in labels or label in data.symbols:
                raise AssemblyError(f"{number}:1: label {label!r} must be defined once")
            if in_data:
                data.symbols[label] = data.end
            else:
                labels[label] = len(statements)
            line = line.strip()[match.end() :]
        if line.strip():
            column = len(raw) - len(raw.lstrip()) + 1
            mnemonic, rest = (*line.split(maxsplit=1), "")[:2]
            given = tuple(o.strip() for o in rest.split(",")) if rest.strip() else ()
            statement = _Statement(number, column, mnemonic, given, compress)
            if mnemonic in _SECTIONS:
                in_data = _is_data(statement)
            elif mnemonic in (".globl", ".global"):
                pass  # every label is seen everywhere
            elif mnemonic == ".option":
                compress = _compresses(statement, instructions)
            elif in_data:
                try:
                    data.place(mnemonic, rest)
                except ValueError as error:
                    raise statement.error(str(error)) from None
            else:
                statements += _expand(statement)
    return _placed(statements, labels, instructions, data)


def _is_data(s: _Statement) -> bool:
    """Whether a section directive leads to data."""
    name = s.operands[0] if s.mnemonic == ".section" and s.operands else s.mnemonic
    kind = name.split(".")[1] if name.count(".") else name
    if kind not in ("text", "data", "rodata", "bss", "sdata", "sbss"):
        raise s.error(f"section must be .text, .data, .rodata or .bss, not {name!r}")
    return kind != "text"


def _compresses(s: _Statement, instructions: InstructionSet) -> bool:
    """What a `.option` says of the statements behind it."""
    if s.operands not in (("rvc",), ("norvc",)):
        raise s.error(f"option must be rvc or norvc, not {', '.join(s.operands)}")
    if s.operands == ("rvc",) and not instructions.compressed:
        raise s.error("rvc needs a set with compressed instructions; add zca")
    return s.operands == ("rvc",)


def _placed(
    statements: list[_Statement],
    labels: dict[str, int],
    instructions: InstructionSet,
    data: DataSection,
) -> Program:
    """The program, its instructions as short as they can be."""
    sizes = [2 if s.compress else 4 for s in statements]
    while True:
        places = list(accumulate(sizes, initial=TEXT_BASE))
        symbols = {**{label: places[i] for label, i in labels.items()}, **data.symbols}
        encoded = [
            _encode(s, pc, symbols, instructions, size)
            for s, pc, size in zip(statements, places, sizes, strict=False)
        ]
        grown = [size for _, size in encoded]
        if grown == sizes:
            break
        sizes = grown
    words, padding = packed(b"".join(w.to_bytes(size, "little") for w, size in encoded))
    return Program(words, bytes(data.content), symbols, padding_bytes=padding)


def _integer(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None


def _expand(s: _Statement) -> list[_Statement]:
    """Replace a pseudo-instruction by what it stands for."""

    def to(mnemonic: str, *given: str) -> _Statement:
        return replace(s, mnemonic=mnemonic, operands=given)

    o = s.operands
    simple: dict[str, tuple[int, Callable[[], list[_Statement]]]] = {
        "nop": (0, lambda: [to("addi", "x0", "x0", "0")]),
        "mv": (2, lambda: [to("addi", o[0], o[1], "0")]),
        "not": (2, lambda: [to("xori", o[0], o[1], "-1")]),
        "neg": (2, lambda: [to("sub", o[0], "x0", o[1])]),
        "j": (1, lambda: [to("jal", "x0", o[0])]),
        "call": (1, lambda: [to("jal", "ra", o[0])]),
        "ret": (0, lambda: [to("jalr", "x0", "0(ra)")]),
        "beqz": (2, lambda: [to("beq", o[0], "x0", o[1])]),
        "bnez": (2, lambda: [to("bne", o[0], "x0", o[1])]),
        "li": (2, lambda: _load_immediate(s)),
        "la": (
            2,
            lambda: [to("lui", o[0], f"%hi({o[1]})"), to("addi", o[0], o[0], f"%lo({o[1]})")],
        ),
    }
    if s.mnemonic not in simple:
        return [s]
    count, expand = simple[s.mnemonic]
    if len(o) != count:
        raise s.error(f"takes {count} operands, not {len(o)}")
    return expand()


def _load_immediate(s: _Statement) -> list[_Statement]:
    rd, text = s.operands
    value = _integer(text)
    if value is None or not -(1 << 31) <= value < 1 << 32:
        raise s.error(f"value must be an integer of 32 bits, not {text!r}")
    value = (value ^ 1 << 31) % (1 << 32) - (1 << 31)  # as signed
    if -2048 <= value < 2048:
        return [replace(s, mnemonic="addi", operands=(rd, "x0", str(value)))]
    low = (value & 0xFFF ^ 0x800) - 0x800
    high = (value - low) >> 12 & 0xFFFFF
    return [
        replace(s, mnemonic="lui", operands=(rd, str(high))),
        replace(s, mnemonic="addi", operands=(rd, rd, str(low))),
    ]


def _encode(
    s: _Statement, pc: int, symbols: dict[str, int], isa: InstructionSet, least: int
) -> tuple[int, int]:
    """Bits of a statement, and how many bytes they take, at least `least`."""
    if s.mnemonic in _DATA and (s.mnemonic == ".word" or isa.compressed):
        value = _integer(s.operands[0]) if len(s.operands) == 1 else None
        if value is None:
            raise s.error("takes one integer")
        size = _DATA[s.mnemonic]
        return value & ((1 << 8 * size) - 1), size
    instruction = isa.by_name.get(s.mnemonic)
    if instruction is None:
        near = get_close_matches(s.mnemonic, isa.by_name, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise s.error(f"mnemonic must belong to the instruction set{hint}")
    expected = operands(instruction)
    given = s.operands
    if len(given) != len(expected):
        raise s.error(f"operands must be {', '.join(expected) or 'none'}, not {', '.join(given)}")
    values = dict.fromkeys(instruction.encoding.registers, 0)
    values.update(dict.fromkeys(instruction.immediates, 0))
    for name, text in zip(expected, given, strict=True):
        if name == "imm12(rs1)":
            match = _ADDRESSED.fullmatch(text)
            if not match:
                raise s.error(f"address must be imm(register), not {text!r}")
            values["imm12"] = _immediate(s, instruction, "imm12", match[1] or "0", pc, symbols)
            values["rs1"] = _register(s, match[2])
        elif name in instruction.encoding.registers:
            values[name] = _register(s, text)
        else:
            values[name] = _immediate(s, instruction, name, text, pc, symbols)
    if instruction.name == "fence":
        values.update(pred=15, succ=15)
    try:
        word = instruction.encode(**values)
    except EncodingError as error:
        raise s.error(str(error).partition(": ")[2]) from None
    short = isa.compress(instruction, values) if least == 2 else None
    return (word, 4) if short is None else (short, 2)


def _register(s: _Statement, text: str) -> int:
    if text not in NUMBERS:
        raise s.error(f"register must be x0 to x31 or an ABI name, not {text!r}")
    return NUMBERS[text]


def _immediate(
    s: _Statement, instruction: Instruction, name: str, text: str, pc: int, symbols: dict[str, int]
) -> int:
    value = _integer(text)
    if name in OFFSETS:
        if value is None:
            value = _address(s, text, symbols) - pc
        scale = OFFSETS[name]
        width = next(i.width for i in instruction.encoding.immediates if i.name == name)
        limit = scale << width - 1
        if value % scale or not -limit <= value < limit:
            raise s.error(
                f"offset must be a multiple of {scale} in {-limit} to {limit - 1}, not {value}"
            )
        return value // scale
    if half := _HALF.fullmatch(text):
        address = _address(s, half[2], symbols)
        low = (address & 0xFFF ^ 0x800) - 0x800
        value = low if half[1] == "lo" else (address - low) >> 12 & 0xFFFFF
    if value is None:
        raise s.error(f"{name} must be an integer, not {text!r}")
    if name == "imm12" and not -2048 <= value < 2048:
        raise s.error(f"imm12 must be -2048 to 2047, not {value}")
    return value


def _address(s: _Statement, label: str, symbols: dict[str, int]) -> int:
    if label not in symbols:
        near = get_close_matches(label, symbols, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise s.error(f"label must be defined, not {label!r}{hint}")
    return symbols[label]

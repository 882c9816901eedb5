"""Program file: an ELF, hex or assembly file as a program for an instruction set."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from isa.assembler import AssemblyError, assemble
from isa.elf import MAGIC, ElfError, read_elf
from isa.hex_file import HexError, read_hex
from isa.instruction_set import InstructionSet
from isa.program import Program

HEX = (".hex", ".mem")
ASSEMBLY = (".s", ".asm")


class ProgramFileError(ValueError):
    """A file cannot be read as a program; the message starts with its name."""


def without_atomics(isa_string: str) -> tuple[str, str]:
    """An ISA string without A, and a note if that changed it.

    Compilers' default sets have A, but compiled code of one thread seldom has its instructions.
    Programs that do are stopped there.
    """
    match = re.match(r"(rv(?:32|64)[a-z]*?)a([a-z]*)(?=_|$)", isa_string.lower())
    if match is None:
        return isa_string, ""
    shorter = match[1] + match[2] + isa_string[match.end() :]
    return shorter, "atomic instructions are not available; the program is run without A"


def default_isa(path: Path) -> str:
    """The ISA string where none is given: what an ELF's header tells, else rv32im.

    Raises:
        ProgramFileError: The file is absent, or a malformed ELF.
    """
    data = _read(path)
    if data[:4] != MAGIC:
        return "rv32im"
    try:
        elf = read_elf(data)
    except ElfError as error:
        raise ProgramFileError(f"{path}: {error}") from None
    return f"rv{elf.xlen}im{'c' if elf.is_compressed else ''}"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ProgramFileError(f"{path}: {error.strerror}") from None


def load_program(path: Path, instructions: InstructionSet) -> Program:
    """Read a program: ELF by its content, others by their suffix.

    Raises:
        ProgramFileError: The file is absent, malformed, or for another instruction set.
    """
    data = _read(path)
    suffix = path.suffix.lower()
    try:
        if data[:4] == MAGIC:
            return _elf(data, instructions)
        if suffix not in (*HEX, *ASSEMBLY):
            known = ", ".join((*HEX, *ASSEMBLY))
            raise ProgramFileError(
                f"{path}: file must be an ELF, or end in one of {known}, not {suffix!r}"
            )
        text = data.decode("utf-8")
        if suffix in HEX:
            return read_hex(text, instructions)
        program = assemble(text, instructions)
        return replace(program, start=program.symbols.get("_start", program.start))
    except (AssemblyError, HexError) as error:
        raise ProgramFileError(f"{path}:{error}") from None
    except ElfError as error:
        raise ProgramFileError(f"{path}: {error}") from None
    except UnicodeDecodeError:
        raise ProgramFileError(f"{path}: text must be UTF-8") from None


def _elf(data: bytes, instructions: InstructionSet) -> Program:
    elf = read_elf(data)
    if elf.xlen != instructions.xlen:
        raise ElfError(
            f"ELF is for RV{elf.xlen}, the instruction set for RV{instructions.xlen}; "
            "give the one it was compiled for"
        )
    if elf.is_compressed and instructions.alignment != 2:
        raise ElfError(
            "ELF has compressed instructions, the instruction set has none; "
            "add c to it, or compile without"
        )
    return elf.program

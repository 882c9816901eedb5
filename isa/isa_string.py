"""ISA strings: `rv32im_zbkb_zkne` names a register width and extensions.

Read as the manual defines them (RISC-V Unprivileged ISA 20240411, chapter 36): letters and names
in either case, underscores between, versions such as `2p1` accepted and not compared. Extensions
may stand in any order, as compilers allow; what an extension requires is added.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches

from isa.instruction_set import InstructionSet, extension_names, load_extension

UNSUPPORTED = {
    "a": "atomic instructions need more than one hart",
    "d": "floating point is out of scope",
    "e": "only the base with 32 registers is supported",
    "f": "floating point is out of scope",
    "g": "it stands for IMAFD; name rv32im or rv64im",
    "h": "there is no privileged architecture",
    "p": "it is not ratified",
    "q": "floating point is out of scope",
    "v": "vectors are out of scope",
    "zkr": "the entropy source is out of scope; reading `seed` would trap",
}
"""Extensions that exist but not here, and why."""

_FLOAT = (0x07, 0x27, 0x43, 0x47, 0x4B, 0x4F, 0x53)
OPCODES = {"f": _FLOAT, "d": _FLOAT, "q": _FLOAT, "rv64": (0x1B, 0x3B)}
"""Major opcodes that these occupy, against which custom extensions are checked."""

_SINGLE = re.compile(r"([a-rt-wy])(\d+(?:p\d+)?)?")
_VERSION = re.compile(r"\d+(?:p\d+)?$")
_CANONICAL = "imafdqcbpvh"


@dataclass(frozen=True)
class IsaString:
    """A parsed ISA string.

    Attributes:
        xlen: Register width, 32 or 64.
        extensions: Names, base first, each after those it requires.
    """

    xlen: int
    extensions: tuple[str, ...]

    def __str__(self) -> str:
        """The canonical spelling."""
        names = [e for e in self.extensions if e != f"rv{self.xlen}i"]
        single = sorted((n for n in names if len(n) == 1), key=_CANONICAL.index)
        longer = sorted((n for n in names if len(n) > 1), key=lambda n: (n[0] != "z", n))
        return "_".join([f"rv{self.xlen}i" + "".join(single), *longer])

    def instructions(self) -> InstructionSet:
        """The instructions of all extensions."""
        return InstructionSet.of(self.xlen, *self.extensions)


def parse(text: str) -> IsaString:
    """Read an ISA string.

    Raises:
        ValueError: It is malformed, or names an extension that is unknown, unsupported, named
            twice, absent at this register width, or in conflict with another.
    """
    match = re.match(r"rv(32|64)(?=[ieg])", text.lower())
    if match is None:
        raise ValueError(f"ISA string must start with rv32i or rv64i, not {text!r}")
    xlen = int(match[1])
    named = _names(text.lower()[match.end() :], text)
    base = named.pop(0)
    if base in UNSUPPORTED:
        raise _unsupported(base, text)
    for i, name in enumerate(named):
        if name in named[:i] or name == "i":
            raise ValueError(f"extension {name} must be named once in {text!r}")
    _refuse_conflicts(xlen, named, text)
    ordered = {f"rv{xlen}i": None}
    for name in named:
        _add(name, text, ordered)
    for name in ordered:
        if xlen not in load_extension(name).xlens:
            raise ValueError(
                f"extension {name} of {text!r} must be one that exists on RV{xlen}; "
                f"it needs RV{' or RV'.join(map(str, load_extension(name).xlens))}"
            )
    return IsaString(xlen, tuple(ordered))


def instruction_set(text: str) -> InstructionSet:
    """The instructions that an ISA string names; see `parse`."""
    return parse(text).instructions()


def _known(name: str) -> bool:
    return name in extension_names() and not name.startswith("rv")


def _names(rest: str, text: str) -> list[str]:
    """Split what follows the width; versions are dropped."""
    names: list[str] = []
    for part in rest.split("_"):
        if not part and names:
            raise ValueError(f"name must stand between underscores of {text!r}, not nothing")
        while part:
            single = _SINGLE.match(part)
            if _known(part) or (single is None):
                name = part if _known(part) else _VERSION.sub("", part)
                part = ""
            elif len(part) > single.end() and _known(_VERSION.sub("", part)):
                name, part = _VERSION.sub("", part), ""
            else:
                name, part = single[1], part[single.end() :]
            names.append(name)
    return names


def _add(name: str, text: str, ordered: dict[str, None]) -> None:
    """Add an extension behind those that it requires."""
    if not _known(name):
        if name in UNSUPPORTED:
            raise _unsupported(name, text)
        near = get_close_matches(name, [n for n in extension_names() if _known(n)], 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"extension in {text!r} must be a known one, not {name!r}{hint}")
    for required in load_extension(name).requires:
        _add(required, text, ordered)
    ordered[name] = None


def _unsupported(name: str, text: str) -> ValueError:
    return ValueError(f"extension {name} of {text!r} is not available: {UNSUPPORTED[name]}")


def _refuse_conflicts(xlen: int, named: list[str], text: str) -> None:
    """Refuse extensions that use opcodes which another occupies, naming both."""
    for name in filter(_known, named):
        others = [n for n in named if n in OPCODES]
        if xlen == 64 and 64 not in load_extension(name).xlens:
            others.append("rv64")
        for instruction in load_extension(name).instructions:
            opcode = instruction.encoding.match & 0x7F
            for other in others:
                if opcode in OPCODES[other]:
                    raise ValueError(
                        f"extensions {name} and {other} of {text!r} both use opcode "
                        f"{opcode:#04x} ({instruction.name}); choose one of them"
                    )

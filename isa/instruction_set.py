"""InstructionSet: a sum of extensions and single instructions, without clashing encodings."""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, cached_property

import isa.extensions
from isa.bits import Bits, arg, const, evaluate, substitute, topological
from isa.compressed import Compressed
from isa.encoding import EncodingError
from isa.instruction import REGISTER_SOURCES, Extension, Instruction


@cache
def extension_names() -> tuple[str, ...]:
    """Names of all extensions: the files in isa/extensions, sorted."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules(isa.extensions.__path__)))


@cache
def extension_parameters(name: str) -> dict[str, tuple[int, ...]]:
    """Parameters of a parametric extension and their accepted values; empty for plain ones."""
    return dict(getattr(_module(name), "PARAMETERS", {}))


@cache
def load_extension(name: str, **parameters: int) -> Extension:
    """Load the extension in isa/extensions/<name>.py.

    Raises:
        ValueError: No such extension, or a parameter value it does not accept.
    """
    module = _module(name)
    accepted = extension_parameters(name)
    for key, value in parameters.items():
        if value not in accepted.get(key, ()):
            raise ValueError(
                f"parameter {key} of extension {name} must be one of "
                f"{list(accepted.get(key, ()))}, not {value!r}"
            )
    if accepted:
        built: Extension = module.extension(**parameters)
        return built
    plain: Extension = module.EXTENSION
    return plain


@cache
def find_instruction(name: str, xlen: int) -> Instruction:
    """The instruction of this mnemonic at this register width, whichever extension declares it.

    Where several do, the first by name does; they declare the same one, unless a custom extension
    reuses a mnemonic.

    Raises:
        ValueError: No extension has such an instruction at this width.
    """
    known: dict[str, Instruction] = {}
    for extension in extension_names():
        for instruction in load_extension(extension).instructions:
            if xlen in instruction.xlens:
                known.setdefault(instruction.name, instruction)
    if name not in known:
        near = get_close_matches(name, known, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"instruction must be one that exists on RV{xlen}, not {name!r}{hint}")
    return known[name]


@cache
def _module(name: str):  # type: ignore[no-untyped-def]
    if name not in extension_names():
        near = get_close_matches(name, extension_names(), 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"extension must be one of {list(extension_names())}, not {name!r}{hint}")
    return importlib.import_module(f"isa.extensions.{name}")


@dataclass(frozen=True)
class InstructionSet:
    """Instructions that a core executes.

    Attributes:
        xlen: Register width, 32 or 64.
        instructions: In declaration order.
        state: Width in bits of each architectural state element besides x0-x31 and pc.
        compressed: 16-bit encodings; what they stand for is used if it is in the set.
    """

    xlen: int
    instructions: tuple[Instruction, ...]
    state: tuple[tuple[str, int], ...] = field(default=())
    compressed: tuple[Compressed, ...] = field(default=())

    @classmethod
    def of(cls, xlen: int, *parts: str | Extension | Instruction | Compressed) -> InstructionSet:
        """Sum extensions (by name or record) and single instructions.

        Raises:
            ValueError: Unknown extension, or an extension or instruction that lacks this xlen.
            EncodingError: Two instructions share encodings; the message names both.
        """
        instructions: dict[str, Instruction] = {}
        state: dict[str, int] = {}
        compressed: dict[Compressed, None] = {}
        for part in parts:
            if isinstance(part, str):
                part = load_extension(part)
            if isinstance(part, Extension):
                if xlen not in part.xlens:
                    raise ValueError(
                        f"xlen of extension {part.name} must be one of {list(part.xlens)}, "
                        f"not {xlen}"
                    )
                state.update(part.state)
                compressed.update((c, None) for c in part.compressed if xlen in c.xlens)
                chosen: Iterable[Instruction] = [i for i in part.instructions if xlen in i.xlens]
            elif isinstance(part, Compressed):
                compressed[part] = None
                continue
            else:
                if xlen not in part.xlens:
                    raise ValueError(
                        f"xlen of instruction {part.name} ({part.extension}) must be one of "
                        f"{list(part.xlens)}, not {xlen}"
                    )
                chosen = [part]
                state.update(part.state)
            for instruction in chosen:
                known = instructions.setdefault(instruction.name, instruction)
                if known.encoding != instruction.encoding:
                    raise EncodingError(
                        f"encoding of {known.name} must be the same in {known.extension} and "
                        f"{instruction.extension}; choose one of them"
                    )
        made = cls(xlen, tuple(instructions.values()), tuple(state.items()), tuple(compressed))
        made._refuse_overlaps()
        return made

    def __add__(self, other: InstructionSet | Extension | Instruction) -> InstructionSet:
        if isinstance(other, InstructionSet):
            others: tuple[Extension | Instruction | Compressed, ...]
            others = (*other.instructions, *other.compressed)
        else:
            others = (other,)
        return InstructionSet.of(self.xlen, *self.instructions, *self.compressed, *others)

    def _refuse_overlaps(self) -> None:
        opcodes: dict[int, list[Instruction]] = {}
        for a in self.instructions:
            if self.compressed and a.encoding.match & a.encoding.mask & 3 != 3:
                raise EncodingError(
                    f"encoding of {a.name} ({a.extension}) overlaps those of "
                    f"{self.compressed[0].extension}; choose one of them"
                )
            seen = opcodes.setdefault(a.encoding.match & 0x7F, [])
            for b in seen:
                common = a.encoding.mask & b.encoding.mask
                if (a.encoding.match ^ b.encoding.match) & common:
                    continue
                if not (_is_case_of(a, b, self.xlen) or _is_case_of(b, a, self.xlen)):
                    raise EncodingError(
                        f"encoding of {a.name} ({a.extension}) overlaps that of "
                        f"{b.name} ({b.extension}); choose one of them"
                    )
            seen.append(a)

    @cached_property
    def by_name(self) -> dict[str, Instruction]:
        """Instructions by mnemonic."""
        return {i.name: i for i in self.instructions}

    def __contains__(self, name: object) -> bool:
        return name in self.by_name

    @cached_property
    def _decoder(self) -> list[tuple[int, dict[int, Instruction]]]:
        groups: dict[int, dict[int, Instruction]] = {}
        for i in self.instructions:
            groups.setdefault(i.encoding.mask, {})[i.encoding.match] = i
        return sorted(groups.items(), key=lambda g: -g[0].bit_count())

    def decode(self, word: int) -> tuple[Instruction, dict[str, int]] | None:
        """The instruction that `word` encodes and its operand fields; None if there is none.

        Where `size` of the word is 2, that is what its lower half stands for.
        """
        if self.compressed and word & 3 != 3:
            return self.expand(word & 0xFFFF)
        for mask, group in self._decoder:
            found = group.get(word & mask)
            if found is not None and found.encoding.admits(word):
                return found, found.decode(word)
        return None

    @property
    def alignment(self) -> int:
        """Bytes of which the address of every instruction is a multiple."""
        return 2 if self.compressed else 4

    def size(self, word: int) -> int:
        """Bytes of the instruction that begins with the bits of `word`."""
        return 2 if self.compressed and word & 3 != 3 else 4

    @cached_property
    def _expander(self) -> list[Compressed]:
        return sorted(self.compressed, key=lambda c: -c.mask.bit_count())

    @cached_property
    def _compressors(self) -> dict[str, list[Compressed]]:
        found: dict[str, list[Compressed]] = {}
        for c in self.compressed:
            if c.expansion in self.by_name:
                for name in dict.fromkeys(form.name for form in c.forms):
                    found.setdefault(name, []).append(c)
        return found

    def expand(self, halfword: int) -> tuple[Instruction, dict[str, int]] | None:
        """The instruction that a 16-bit encoding stands for, and its operand fields."""
        for c in self._expander:
            if halfword & c.mask == c.match:  # the most special one; no other is meant
                instruction = self.by_name.get(c.expansion)
                if instruction is None:
                    return None
                fields = c.expand(halfword, instruction.encoding)
                return None if fields is None else (instruction, fields)
        return None

    def compress(self, instruction: Instruction, fields: Mapping[str, int]) -> int | None:
        """The 16-bit encoding of an instruction that does the same; None if there is none.

        Args:
            instruction: One of the set.
            fields: Its operand fields; immediates may be signed.
        """
        for c in self._compressors.get(instruction.name, ()):
            found = c.compress(instruction.encoding, fields)
            if found is not None:
                return found
        return None

    def extension(self, name: str) -> tuple[Instruction, ...]:
        """The instructions that one extension declares."""
        return tuple(i for i in self.instructions if i.extension == name)

    def extras(self) -> tuple[Instruction, ...]:
        """Instructions beyond the base integer set: those that need a unit of their own."""
        return tuple(i for i in self.instructions if i.extension not in ("rv32i", "rv64i"))

    @cached_property
    def digest(self) -> str:
        """Digest of encodings and meanings."""
        from isa.text import to_text  # the textual form is needed here alone

        digest = hashlib.blake2b(digest_size=16)
        for i in sorted(self.instructions, key=lambda i: i.name):
            digest.update(i.line.encode())
            digest.update(to_text(i.effects(self.xlen).values()).encode())
        for c in self.compressed:
            digest.update(f"{c.line} {c.forms}".encode())
        return digest.hexdigest()


def _is_case_of(special: Instruction, general: Instruction, xlen: int) -> bool:
    """Whether `special` is `general` with some operands fixed, as `zext.h` is `pack` with x0.

    Their graphs are one, or they agree where one register bit is set or clear and on random values;
    so `rev8` is `grevi` by 24, though nobody wrote it that way.
    """
    ours, theirs = special.encoding, general.encoding
    if theirs.mask & ~ours.mask:
        return False
    widths = {"rs1": xlen, "rs2": xlen, "rs3": xlen, **{i.name: i.width for i in theirs.immediates}}
    fixed = {}
    for name, value in general.decode(ours.match).items():
        if name in special.parameters or name == "rd":
            continue
        if name in REGISTER_SOURCES and value:
            return False
        fixed[arg(name, widths[name])] = const(value, widths[name])
    a, b = special.effects(xlen), general.effects(xlen)
    if a.rd is None or b.rd is None or len(a.values()) + len(b.values()) > 2:
        return False
    return _agree(substitute(b.rd, fixed), a.rd)


def _agree(a: Bits, b: Bits) -> bool:
    if a is b:
        return True
    leaves = {str(n.attr): n.width for n in topological([a, b]) if n.op == "arg"}
    draw = random.Random(0)
    samples = [{n: draw.getrandbits(w) for n, w in leaves.items()} for _ in range(64)]
    for name, width in leaves.items():
        for bit in range(width):
            for rest in (0, -1):
                others = {n: rest % (1 << w) for n, w in leaves.items()}
                samples.append({**others, name: others[name] ^ 1 << bit})
    return all(evaluate(a, values) == evaluate(b, values) for values in samples)

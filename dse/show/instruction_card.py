"""Instruction card: all that is known of one instruction, as nested plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dse.show.relatives import relatives
from dse.show.state_text import state_text
from isa.compressed import Compressed, Form
from isa.diagram import diagram
from isa.formula import formula
from isa.instruction import Instruction
from isa.instruction_set import (
    InstructionSet,
    extension_names,
    extension_parameters,
    load_extension,
)

Memo = Callable[[str, str, Callable[[], Any]], Any]
"""Remembers a JSON value by kind and key, as `dse.cache.Cache.memo`."""
LONGEST_FORMULA = 40
"""Lines of a formula beyond which it is cut."""
MOST_USES = 16
"""Kernels named on a card; the rest is counted."""


def owner_of(name: str) -> tuple[str, Instruction]:
    """The extension that defines an instruction, rather than one that adopts it."""
    owners = []
    for extension_name in extension_names():
        first = {key: values[0] for key, values in extension_parameters(extension_name).items()}
        extension = load_extension(extension_name, **first)
        for instruction in extension.instructions:
            if instruction.name == name:
                defined_in = instruction.meaning.__module__.rpartition(".")[2]
                owners.append((defined_in != extension_name, extension_name, instruction))
    _, extension_name, instruction = min(owners, key=lambda owner: owner[:2])
    return extension_name, instruction


def instruction_card(name: str, memo: Memo) -> dict[str, Any]:
    """The card; hardware and uses of kernels are remembered by `memo`."""
    for extension_name in extension_names():
        for short in load_extension(extension_name).compressed:
            if short.name == name:
                return _compressed_card(short)
    owner, instruction = owner_of(name)
    xlen = instruction.xlens[0]
    lines = formula(instruction.effects(xlen))
    if len(lines) > LONGEST_FORMULA:
        cut = len(lines) - LONGEST_FORMULA
        lines = [*lines[: LONGEST_FORMULA - 1], f"... {cut} lines ...", lines[-1]]
    encoding = instruction.encoding
    card: dict[str, Any] = {
        "summary": (instruction.meaning.__doc__ or "").strip(),
        f"formula on RV{xlen}": lines,
        "encoding": diagram(encoding),
        "match": f"{encoding.match:#010x}",
        "mask": f"{encoding.mask:#010x}",
        "riscv-opcodes": instruction.line,
        "extension": owner,
        "exists on": [f"RV{x}" for x in instruction.xlens],
        "source": instruction.source,
        "latency class": _latency_class(instruction),
    }
    if instruction.effects(xlen).rd is not None and not instruction.extension.startswith("rv"):
        card["unit, estimated"] = memo("unit costs", name, lambda: unit_costs(instruction, xlen))
    if instruction.reads_state or _writes(instruction):
        card["state of the extension"] = list(state_text(owner))
    card["nearest relatives"] = [str(r) for r in relatives(instruction, xlen)]
    uses = memo("kernel uses", owner, lambda: kernel_uses(owner)).get(name, [])
    more = [f"and {len(uses) - MOST_USES} more"] if len(uses) > MOST_USES else []
    card["used by kernels"] = uses[:MOST_USES] + more
    return card


def _writes(instruction: Instruction) -> list[str]:
    return [name for name, _ in instruction.effects(instruction.xlens[0]).state]


def _compressed_card(found: Compressed) -> dict[str, Any]:
    return {
        "summary": f"The 16-bit encoding of {found.expansion}.",
        "stands for": [_form(form) for form in found.forms],
        "match": f"{found.match:#06x}",
        "mask": f"{found.mask:#06x}",
        "riscv-opcodes": found.line,
        "extension": found.extension,
        "exists on": [f"RV{x}" for x in found.xlens],
        "source": found.source,
    }


def _form(form: Form) -> str:
    return " ".join([form.name, *(f"{name}={value}" for name, value in form.given)])


def _latency_class(instruction: Instruction) -> str:
    timing = "independent of data" if instruction.data_independent else "may depend on data"
    return f"{instruction.kind}, {timing}"


def unit_costs(instruction: Instruction, xlen: int) -> dict[str, str]:
    """Area and delay of the datapath alone, for each circuit of its table and of its unit."""
    from hw.area import estimate
    from hw.composition import circuit_map
    from hw.extension import build_extension
    from hw.technology import Technology
    from hw.units import AUTO, MERGED, circuit_names, table_names, units_of
    from isa.bits import topological
    from isa.table import Table

    technology = Technology("ge")
    values = instruction.effects(xlen).values()
    read = {n.attr.name for n in topological(values) if isinstance(n.attr, Table)}
    rivals = sorted(read & set(table_names()))
    choices: list[tuple[str, tuple[tuple[str, str], ...]]] = [
        ("", ()),
        *(
            (way, ((unit, way),))
            for unit in units_of([instruction.name])
            for way in circuit_names(unit)
            if way not in (AUTO, MERGED)
        ),
    ]
    if rivals:
        names = [set(circuit_names(table)) for table in rivals]
        choices = [
            (circuit, tuple((table, circuit) for table in rivals))
            for circuit in circuit_names(rivals[0])
            if all(circuit in known for known in names)
        ]
    found = {}
    for circuit, chosen in choices:
        cost = estimate(build_extension([instruction], xlen, circuit_map(chosen)), technology)
        error = technology.rung("estimate").area_error
        found[circuit or "derived from the meaning"] = (
            f"{cost.area_ge:.0f} GE, {cost.delay_fo4:.1f} FO4 with decode and result selection "
            f"(area ±{error:.0%})"
        )
    return found


def kernel_uses(owner: str) -> Mapping[str, list[str]]:
    """Kernels that use each instruction of an extension, compiled for base and extension.

    Of the workloads that process one block; modes of operation are made of them. At the smallest
    register width of the extension.
    """
    import workloads
    from isa.compiler.compile import compile_kernel
    from isa.kernel import KernelError, UnsupportedKernel
    from isa.ops import WidthError

    first = {key: values[0] for key, values in extension_parameters(owner).items()}
    extension = load_extension(owner, **first)
    base = f"rv{extension.xlens[0]}i"
    parts = [base] if owner == base else [base, *extension.requires, extension]
    instructions = InstructionSet.of(extension.xlens[0], *parts)
    uses: dict[str, dict[str, list[str]]] = {}
    for name in workloads.workload_names():
        if workloads.is_sized(name):
            continue
        for kernel_name, kernel in workloads.get(name).kernels.items():
            try:
                program = compile_kernel(kernel.build, instructions)
            except (UnsupportedKernel, KernelError, WidthError):
                continue  # it needs more instructions, or registers of the other width
            decoded = (instructions.decode(word) for word in program.words)
            for used in {d[0].name for d in decoded if d is not None}:
                uses.setdefault(used, {}).setdefault(name, []).append(kernel_name)
    return {
        mnemonic: [f"{name} ({', '.join(kernels)})" for name, kernels in sorted(found.items())]
        for mnemonic, found in sorted(uses.items())
    }

"""The names a search space may use, asked of the registries, so that a new file is enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from dse.design import Value


class Vocabulary(Protocol):
    """What a space can be written in; tests pass their own."""

    def workload_names(self) -> Sequence[str]:
        """Every workload."""

    def kernel_names(self, workload: str) -> Sequence[str]:
        """The implementation variants of a workload, in order of preference."""

    def kernel_requirements(self, workload: str, kernel: str) -> Sequence[str]:
        """Names of the instructions and extensions that a variant cannot be compiled without."""

    def kernels_changed(self, workload: str, view: str, xlen: int) -> Sequence[str]:
        """The variants that differ in another view of `isa.view`; asked only for proposals."""

    def size_fault(self, workload: str, size_bytes: int) -> str | None:
        """Why a workload cannot have this message size; None where it can."""

    def extension_names(self) -> Sequence[str]:
        """Every extension, base sets included."""

    def extension_parameters(self, extension: str) -> Mapping[str, Sequence[int]]:
        """Parameters of an extension and what each accepts."""

    def instructions_of(self, extension: str) -> Sequence[str]:
        """Mnemonics an extension declares."""

    def compressed_of(self, extension: str) -> Sequence[str]:
        """Mnemonics of its 16-bit encodings."""

    def table_names(self) -> Sequence[str]:
        """All that has rival circuits: tables such as `aes_sbox`, units such as `shifter`."""

    def circuit_names(self, table: str) -> Sequence[str]:
        """The circuits registered for a table or unit."""

    def coprocessor_kernels(self, workload: str) -> Mapping[str, Sequence[str]]:
        """Variants in which a co-processor takes part, each with what it needs beside."""

    def coprocessor_parameters(self) -> Mapping[str, Sequence[Value]]:
        """Parameters of a co-processor and what each accepts; the first is the default."""

    def technology_names(self) -> Sequence[str]:
        """Technologies that can price a netlist."""

    def core_presets(self) -> Sequence[str]:
        """Names of ready-made cores."""


class Registries:
    """The vocabulary of the installed project; each registry is imported when first asked."""

    def workload_names(self) -> Sequence[str]:
        """Every file of `workloads/` that registers one."""
        import workloads

        return tuple(workloads.workload_names())

    def kernel_names(self, workload: str) -> Sequence[str]:
        """Keys of the workload's `kernels`."""
        import workloads

        return tuple(workloads.get(workload).kernels)

    def kernel_requirements(self, workload: str, kernel: str) -> Sequence[str]:
        """The variant's own `requires`, sorted."""
        import workloads

        return tuple(sorted(workloads.get(workload).kernels[kernel].requires))

    def kernels_changed(self, workload: str, view: str, xlen: int) -> Sequence[str]:
        """Those that exist for the register width and are written otherwise there."""
        import workloads
        from isa.kernel import UnsupportedKernel
        from isa.view import changes

        found = []
        for name, kernel in workloads.get(workload).kernels.items():
            try:
                if changes(kernel.build, view, xlen):
                    found.append(name)
            except UnsupportedKernel:
                continue
        return tuple(found)

    def size_fault(self, workload: str, size_bytes: int) -> str | None:
        """What the workload itself says when asked for that size."""
        import workloads

        try:
            workloads.get(workload, size_bytes)
        except ValueError as error:
            return str(error)
        return None

    def extension_names(self) -> Sequence[str]:
        """Every file of `isa/extensions/`."""
        from isa.instruction_set import extension_names

        return extension_names()

    def extension_parameters(self, extension: str) -> Mapping[str, Sequence[int]]:
        """What the extension's file declares."""
        from isa.instruction_set import extension_parameters

        return extension_parameters(extension)

    def instructions_of(self, extension: str) -> Sequence[str]:
        """Mnemonics, for a parametric extension those of its first parameter values."""
        from isa.instruction_set import extension_parameters, load_extension

        first = {key: values[0] for key, values in extension_parameters(extension).items()}
        return tuple(i.name for i in load_extension(extension, **first).instructions)

    def compressed_of(self, extension: str) -> Sequence[str]:
        """Mnemonics of compressed instructions, which stand for those of other extensions."""
        from isa.instruction_set import load_extension

        if self.extension_parameters(extension):
            return ()
        return tuple(dict.fromkeys(c.name for c in load_extension(extension).compressed))

    def table_names(self) -> Sequence[str]:
        """Tables with a file in `hw/units/`."""
        from hw import units

        return tuple(units.unit_names())

    def circuit_names(self, table: str) -> Sequence[str]:
        """Circuits registered for `table`."""
        from hw import units

        return tuple(units.circuit_names(table))

    def coprocessor_kernels(self, workload: str) -> Mapping[str, Sequence[str]]:
        """Drivers of `workloads/coprocessor_driver.py`."""
        from workloads.coprocessor_driver import drivers

        return drivers(workload)

    def coprocessor_parameters(self) -> Mapping[str, Sequence[Value]]:
        """Fields of `hw.coprocessors.parameters.Coprocessor`."""
        from dse.coprocessor import accepted

        return accepted()

    def technology_names(self) -> Sequence[str]:
        """Technologies of `hw/technology.py`."""
        from hw.technology import technology_names

        return tuple(technology_names())

    def core_presets(self) -> Sequence[str]:
        """Presets of `isa/timing.py`."""
        from isa.timing import PRESETS

        return tuple(PRESETS)


REGISTRIES = Registries()

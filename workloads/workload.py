"""Workload: an algorithm with its golden function, kernels, published vectors and secrets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from isa.kernel import Builder

Values = Mapping[str, bytes]
"""Contents of buffers by name."""


@dataclass(frozen=True)
class Buffer:
    """A memory argument of a kernel; buffers are passed in a0, a1, ... in order.

    Attributes:
        name: What it holds.
        size_bytes: Its length.
        direction: "in", "out" or "inout".
        secret: Its initial contents are secret.
        declassified: Its final contents are public, as a ciphertext is.
    """

    name: str
    size_bytes: int
    direction: str
    secret: bool = False
    declassified: bool = False


@dataclass(frozen=True)
class Kernel:
    """One implementation variant of a workload.

    Attributes:
        name: Short name, a value of the design parameter `kernel.<workload>`.
        build: Traces the kernel on a `Builder`; pointers in the order of the buffers.
        summary: One line for people, with the publication whose structure it follows.
        requires: Mnemonics without which it cannot be compiled.
    """

    name: str
    build: Callable[[Builder], None]
    summary: str
    requires: frozenset[str] = frozenset()

    def in_view(self, view: str) -> Kernel:
        """This kernel in another view of `isa.view.VIEWS`, whose name is added to its own."""
        from isa.view import VIEWS, in_view  # few need it

        return replace(
            self,
            name=f"{self.name}-{view}",
            build=in_view(self.build, view),
            summary=f"{self.summary}; {VIEWS[view][1]}",
        )


@dataclass(frozen=True)
class Vector:
    """A published test vector.

    Attributes:
        inputs: Contents of the "in" and "inout" buffers.
        outputs: Expected contents of the "out" and "inout" buffers.
        source: Where it is printed.
    """

    inputs: Values
    outputs: Values
    source: str


@dataclass(frozen=True)
class Workload:
    """An algorithm in one mode and message size.

    Attributes:
        name: `<alg>-encrypt` and the like.
        source: Standard that defines it.
        buffers: Arguments in order.
        golden: The algorithm in plain Python: inputs by name to outputs by name.
        kernels: Implementation variants by name.
        vectors: Known answers.
        units: How many blocks one run processes; cycles per block are per run / units.
        message_bytes: Bytes of message one run processes.
    """

    name: str
    source: str
    buffers: tuple[Buffer, ...]
    golden: Callable[[Values], dict[str, bytes]]
    kernels: Mapping[str, Kernel]
    vectors: tuple[Vector, ...]
    units: int = 1
    message_bytes: int = 0

    def kernel(self, name: str) -> Kernel:
        """The kernel of that name: one of `kernels`, or `<kernel>-<view>`, one of them in a view.

        Raises:
            KeyError: There is none.
        """
        if name in self.kernels:
            return self.kernels[name]
        written, _, view = name.rpartition("-")
        return self.kernels[written].in_view(view)

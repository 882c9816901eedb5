"""Core: the parameters of a host core, and the cores known by name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isa.instruction_set import InstructionSet

PIPELINES = (2, 3, 5)
NAMES = ("default", "icicle")
BRANCHES = ("execute", "decode")
PREDICTIONS = ("none", "not-taken", "backward-taken")
MEMORIES = ("separate", "shared")
MULTIPLIERS = (0, 2, 4, 8, 16, 32)
PIPELINED = {"pipelined_2": 2, "pipelined_3": 3, "pipelined_4": 4}
"""Stages of a pipelined unit of products by the choice that asks for it."""
PRODUCTS = (*MULTIPLIERS, *PIPELINED)
"""Ways to products: at once, so many bits a cycle, or through so many stages."""
DIVIDERS = (0, 1, 2, 4)
LONGEST_LATENCY = 16

NO_COMPRESSED = (
    "instructions of core icicle must have 32 bits, not 16, as its rules were measured on a core "
    "without compressed ones; leave zca out"
)


@dataclass(frozen=True)
class Core:
    """Parameters of a host core; the table in `isa.timing` says what each costs in cycles.

    Attributes:
        name: "default", or a preset that replaces the pipeline's rules by measured ones.
        xlen: Register width in bits, 32 or 64.
        pipeline: Number of stages, 2, 3 or 5.
        forwarding: Results reach waiting instructions before they are written back.
        branch: Stage that resolves branches and jumps, "execute" or "decode".
        prediction: Until then the core fetches nothing ("none"), the instruction behind
            ("not-taken"), or the target of a jump that holds it and of a branch back
            ("backward-taken").
        memory: Instructions and data have a port each ("separate") or one together ("shared").
        memory_latency: Cycles from an address to its word, 1 to 16; one access at a time.
        read_ports: Of the register file, 2 or 3; units with three operands need 3.
        multiplier: Bits of a factor that an iterative multiplier takes a cycle, 2 to 32; or
            "pipelined_2" to "pipelined_4", a product a cycle after so many; 0 where products come
            from a unit like any other.
        carryless: The same of carry-less products.
        divider: Bits of the quotient that an iterative divider finds a cycle, 1, 2 or 4; or 0.
    """

    name: str = "default"
    xlen: int = 32
    pipeline: int = 5
    forwarding: bool = True
    branch: str = "execute"
    prediction: str = "not-taken"
    memory: str = "separate"
    memory_latency: int = 1
    read_ports: int = 2
    multiplier: int | str = 0
    carryless: int | str = 0
    divider: int = 0

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise ValueError(f"name of a core must be one of {list(NAMES)}, not {self.name!r}")
        choices: dict[str, tuple[object, ...]] = {
            "pipeline": PIPELINES,
            "branch": BRANCHES,
            "prediction": PREDICTIONS,
            "memory": MEMORIES,
            "read_ports": (2, 3),
            "multiplier": PRODUCTS,
            "carryless": PRODUCTS,
            "divider": DIVIDERS,
        }
        if self.xlen not in (32, 64):
            raise ValueError(f"xlen must be 32 or 64, not {self.xlen!r}")
        for key, accepted in choices.items():
            value = getattr(self, key)
            if value not in accepted or isinstance(value, bool):
                raise ValueError(f"{key} must be one of {list(accepted)}, not {value!r}")
        if not isinstance(self.forwarding, bool):
            raise ValueError(f"forwarding must be true or false, not {self.forwarding!r}")
        latency = self.memory_latency
        if isinstance(latency, bool) or latency not in range(1, LONGEST_LATENCY + 1):
            raise ValueError(f"memory_latency must be 1 to {LONGEST_LATENCY}, not {latency!r}")

    def canonical(self) -> Core:
        """The core without parameters that cannot matter.

        Two stages have nothing to forward; with fewer than five, decode is a part of execute; and
        where a branch is resolved before the instruction behind it could leave fetch, fetching
        none is the same as predicting not taken.
        """
        if self.name in PRESETS:
            return PRESETS[self.name]
        branch = self.branch if self.pipeline == 5 else "execute"
        early = branch == "decode" or self.pipeline != 5
        return replace(
            self,
            forwarding=self.forwarding or self.pipeline == 2,
            branch=branch,
            prediction="not-taken" if early and self.prediction == "none" else self.prediction,
        )

    def fault(self, instructions: InstructionSet) -> str | None:
        """Why the core cannot execute a set; None if it can."""
        if instructions.compressed and self.name == "icicle":
            return NO_COMPRESSED
        if instructions.compressed and (self.memory, self.memory_latency) != ("separate", 1):
            return (
                "memory of a core with compressed instructions must be separate, of latency 1, "
                f"not {self.memory}, of latency {self.memory_latency}"
            )
        for instruction in instructions.instructions if self.read_ports == 2 else ():
            if "rs3" in instruction.sources:
                return (
                    f"read_ports must be 3 for an instruction that reads rs3, as {instruction.name}"
                )
        return None


PRESETS = {"icicle": Core("icicle", pipeline=5, forwarding=False, memory="shared")}
"""Cores with rules of their own, by name: NLU-V's host (isa/icicle.py)."""

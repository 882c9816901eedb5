"""Compiler: from a kernel to machine code of exactly one instruction set.

Select covers the kernel's words with the set's patterns, schedule orders, allocate gives registers,
emit writes the program.
"""

from isa.compiler.compile import compile_kernel

__all__ = ["compile_kernel"]

"""Instruction-set extensions, one file each, named as in an ISA string."""

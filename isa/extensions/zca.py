"""Zca: compressed instructions, the C extension without those of floating point.

The order is that in which an encoding is looked for: where several fit, the first is taken, as
GNU `as` does.
"""

from __future__ import annotations

from isa.instruction import Extension

EXTENSION = Extension("zca", source="RISC-V Unprivileged ISA 20240411, ch. 27 (C) and 28.2 (Zca)")
compressed = EXTENSION.compressed_instruction

compressed("c.lwsp rd_n0 c_uimm8sphi c_uimm8splo 1..0=2 15..13=2", "lw rs1=2")
compressed("c.lw rd_p rs1_p c_uimm7lo c_uimm7hi 1..0=0 15..13=2", "lw")
compressed("c.swsp c_rs2 c_uimm8sp_s 1..0=2 15..13=6", "sw rs1=2")
compressed("c.sw rs1_p rs2_p c_uimm7lo c_uimm7hi 1..0=0 15..13=6", "sw")
compressed("c.ldsp rd_n0 c_uimm9sphi c_uimm9splo 1..0=2 15..13=3", "ld rs1=2", xlens=(64,))
compressed("c.ld rd_p rs1_p c_uimm8lo c_uimm8hi 1..0=0 15..13=3", "ld", xlens=(64,))
compressed("c.sdsp c_rs2 c_uimm9sp_s 1..0=2 15..13=7", "sd rs1=2", xlens=(64,))
compressed("c.sd rs1_p rs2_p c_uimm8hi c_uimm8lo 1..0=0 15..13=7", "sd", xlens=(64,))

compressed("c.addi4spn rd_p c_nzuimm10 1..0=0 15..13=0", "addi rs1=2")
compressed("c.nop c_nzimm6hi c_nzimm6lo 1..0=1 15..13=0 11..7=0", "addi imm12=0", hints=("imm",))
compressed("c.addi rd_rs1_n0 c_nzimm6lo c_nzimm6hi 1..0=1 15..13=0", "addi", hints=("rd", "imm"))
compressed("c.addi16sp c_nzimm10hi c_nzimm10lo 1..0=1 15..13=3 11..7=2", "addi rd=2 rs1=2")
compressed("c.li rd_n0 c_imm6lo c_imm6hi 1..0=1 15..13=2", "addi", hints=("rd",))
compressed("c.lui rd_n2 c_nzimm18hi c_nzimm18lo 1..0=1 15..13=3", "lui", hints=("rd",))
compressed("c.addiw rd_rs1_n0 c_imm6lo c_imm6hi 1..0=1 15..13=1", "addiw", xlens=(64,))

compressed("c.mv rd_n0 c_rs2_n0 1..0=2 15..13=4 12=0", "add", "addi rs1=rs2 imm12=0",
           hints=("rd",))  # fmt: skip
compressed("c.add rd_rs1_n0 c_rs2_n0 1..0=2 15..13=4 12=1", "add", "add rs1=rs2 rs2=rs1",
           hints=("rd",))  # fmt: skip
compressed("c.sub rd_rs1_p rs2_p 1..0=1 15..13=4 12..10=0b011 6..5=0", "sub")
compressed("c.xor rd_rs1_p rs2_p 1..0=1 15..13=4 12..10=0b011 6..5=1", "xor", "xor rs1=rs2 rs2=rs1")
compressed("c.or rd_rs1_p rs2_p 1..0=1 15..13=4 12..10=0b011 6..5=2", "or", "or rs1=rs2 rs2=rs1")
compressed("c.and rd_rs1_p rs2_p 1..0=1 15..13=4 12..10=0b011 6..5=3", "and", "and rs1=rs2 rs2=rs1")
compressed("c.subw rd_rs1_p rs2_p 1..0=1 15..13=4 12..10=0b111 6..5=0", "subw", xlens=(64,))
compressed("c.addw rd_rs1_p rs2_p 1..0=1 15..13=4 12..10=0b111 6..5=1", "addw",
           "addw rs1=rs2 rs2=rs1", xlens=(64,))  # fmt: skip

compressed("c.andi rd_rs1_p c_imm6hi c_imm6lo 1..0=1 15..13=4 11..10=2", "andi")
compressed("c.slli rd_rs1_n0 c_nzuimm5 1..0=2 15..12=0", "slli", xlens=(32,), hints=("rd", "imm"))
compressed("c.srli rd_rs1_p c_nzuimm5 1..0=1 15..13=4 12..10=0", "srli", xlens=(32,),
           hints=("imm",))  # fmt: skip
compressed("c.srai rd_rs1_p c_nzuimm5 1..0=1 15..13=4 12..10=1", "srai", xlens=(32,),
           hints=("imm",))  # fmt: skip
compressed("c.slli rd_rs1_n0 c_nzuimm6hi c_nzuimm6lo 1..0=2 15..13=0", "slli", xlens=(64,),
           hints=("rd", "imm"))  # fmt: skip
compressed("c.srli rd_rs1_p c_nzuimm6lo c_nzuimm6hi 1..0=1 15..13=4 11..10=0", "srli",
           xlens=(64,), hints=("imm",))  # fmt: skip
compressed("c.srai rd_rs1_p c_nzuimm6lo c_nzuimm6hi 1..0=1 15..13=4 11..10=1", "srai",
           xlens=(64,), hints=("imm",))  # fmt: skip

compressed("c.j c_imm12 1..0=1 15..13=5", "jal")
compressed("c.jal c_imm12 1..0=1 15..13=1", "jal rd=1", xlens=(32,))
compressed("c.beqz rs1_p c_bimm9lo c_bimm9hi 1..0=1 15..13=6", "beq", "beq rs1=0 rs2=rs1")
compressed("c.bnez rs1_p c_bimm9lo c_bimm9hi 1..0=1 15..13=7", "bne", "bne rs1=0 rs2=rs1")
compressed("c.jr rs1_n0 1..0=2 15..13=4 12=0 6..2=0", "jalr")
compressed("c.jalr c_rs1_n0 1..0=2 15..13=4 12=1 6..2=0", "jalr rd=1")
compressed("c.ebreak 1..0=2 15..13=4 12=1 11..2=0", "ebreak")

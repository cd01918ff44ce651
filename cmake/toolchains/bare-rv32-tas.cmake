# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A processor without atomic instructions, so that the compiler makes none.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR riscv32)
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_ASM_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
# By the older specification, as in bare-rv32.cmake.
set(machine "-march=rv32im -misa-spec=2.2 -mabi=ilp32")
set(CMAKE_ASM_FLAGS_INIT "${machine}")
set(CMAKE_C_FLAGS_INIT "${machine} -mcmodel=medany -ffreestanding -ffunction-sections -fdata-sections")

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR riscv32)
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_ASM_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
# By the older specification, where "i" has the control registers: the compiler's library is found
# by the names that it gives processors.
if(NOT DEFINED machine)
    set(machine "-march=rv32imafdc -misa-spec=2.2 -mabi=ilp32d")
endif()
set(CMAKE_ASM_FLAGS_INIT "${machine}")
set(CMAKE_C_FLAGS_INIT "${machine} -mcmodel=medany -ffreestanding -ffunction-sections -fdata-sections")

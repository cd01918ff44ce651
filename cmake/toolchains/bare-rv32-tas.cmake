# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A processor without atomic instructions, so that the compiler makes none.
set(machine "-march=rv32im -misa-spec=2.2 -mabi=ilp32")
include(${CMAKE_CURRENT_LIST_DIR}/bare-rv32.cmake)

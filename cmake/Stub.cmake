# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes STUB, functions without lines by the names that LIBRARY has under VERSION, and STUB.map. As
# LIBRARY does, STUB asks for what a program may have for it: so the linker lets that be seen.
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[A-Za-z_0-9]+@+${VERSION}\n" names "${lines}")
list(TRANSFORM names REPLACE "@.*" "")
list(REMOVE_ITEM names ${VERSION}) # the version itself
list(REMOVE_DUPLICATES names)
list(SORT names)
list(LENGTH names count)
if(count EQUAL 0)
    message(FATAL_ERROR "${LIBRARY} has no name under ${VERSION}")
endif()
string(JOIN "(void) {}\nvoid " functions ${names})
string(JOIN ";\n        " listed ${names})
file(WRITE ${STUB} "/* Made by Stub.cmake. */\nvoid ${functions}(void) {}\n"
    "extern __attribute__((weak)) void ompt_start_tool(void);\n"
    "void (*const medley_tool)(void) = ompt_start_tool;\n")
file(WRITE ${STUB}.map "${VERSION} {\n    global:\n        ${listed};\n    local:\n        *;\n};\n")

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The simulator (docs/design/sim.md): an engine, and a world, which is the floors above the port,
# from the same sources, with every memory access instrumented, and the scenarios.

set(MEDLEY_SIM_FOLDER ${PROJECT_SOURCE_DIR}/src/port/sim)

add_library(medley_sim_flags INTERFACE)
target_include_directories(medley_sim_flags INTERFACE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/include/medley/std ${PROJECT_SOURCE_DIR}/src ${MEDLEY_SIM_FOLDER})
target_compile_options(medley_sim_flags INTERFACE
    -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -fno-common
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}=. $<$<BOOL:${MEDLEY_WERROR}>:-Werror>)

# The engine: resolves what the world calls, from the program that it is linked into.
function(medley_sim_engine name)
    add_library(${name} OBJECT ${ARGN})
    target_link_libraries(${name} PUBLIC medley_sim_flags)
    target_compile_definitions(${name} PRIVATE _GNU_SOURCE)
    target_compile_options(${name} PRIVATE -O2)
endfunction()

# medley_sim_world(NAME floor... FILES file...): the engine takes the place of the sanitizer's
# library.
function(medley_sim_world name)
    cmake_parse_arguments(W "" "" "FILES" ${ARGN})
    set(files ${W_FILES})
    foreach(floor ${W_UNPARSED_ARGUMENTS})
        get_target_property(sources medley_${floor} SOURCES)
        get_target_property(folder medley_${floor} SOURCE_DIR)
        foreach(source ${sources})
            cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder})
            list(APPEND files ${source})
        endforeach()
    endforeach()
    add_library(${name} MODULE ${files})
    set_target_properties(${name} PROPERTIES PREFIX "")
    target_link_libraries(${name} PRIVATE medley_sim_flags)
    # What happens once in hundreds happens in a short run as well.
    target_compile_definitions(${name} PRIVATE MED_HEAP_SLOTS_PER_CHUNK=2u MED_HEAP_BATCH=1u
        MED_HEAP_RESTING=1u MED_HEAP_RETURNS=2u MED_HEAP_KEPT_PER_NODE_BYTES=1024u
        MED_HEAP_FIRST_LIFE=254u MED_TASK_QUEUE=4u MED_TASK_SLAB=2u MED_LOCK_UNWOKEN_MOST=3u)
    # No sibling calls: a hook returns to where the access stands. No copies of the compiler's own:
    # what it makes of one whose size it knows is not instrumented.
    target_compile_options(${name} PRIVATE -O2 -g -fsanitize=thread -Wno-tsan -fno-optimize-sibling-calls
        --param=tsan-instrument-func-entry-exit=0
        -fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset -fno-builtin-memcmp)
    target_link_options(${name} PRIVATE -Wl,-Bsymbolic
        -Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset,--wrap=memcmp)
endfunction()

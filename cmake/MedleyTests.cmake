# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Unit tests stand beside the code (x_test.c beside x.c) and use cmocka (Cmocka.cmake).

if(MEDLEY_PORT STREQUAL linux)
    include(Cmocka)
endif()

# medley_test(NAME file... [LABELS l...] [TIMEOUT s] [ARGS a...])
function(medley_test name)
    cmake_parse_arguments(T "" "TIMEOUT" "LABELS;ARGS" ${ARGN})
    if(NOT T_TIMEOUT)
        set(T_TIMEOUT 120)
    endif()
    if(NOT T_LABELS)
        set(T_LABELS unit)
    endif()
    add_executable(${name} ${T_UNPARSED_ARGUMENTS})
    target_link_libraries(${name} PRIVATE medley_flags medley_static medley_cmocka)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    add_test(NAME ${name} COMMAND ${name} ${T_ARGS})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${T_TIMEOUT} LABELS "${T_LABELS}")
endfunction()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Unit tests stand beside the code (x_test.c beside x.c) and use cmocka (Cmocka.cmake).

if(MEDLEY_PORT STREQUAL linux)
    include(Cmocka)
endif()

# Every test has a folder of its own as shared memory, so that it meets nobody's systems and leaves
# nothing behind: tests/run.sh. Two builds may test at once.
if(IS_DIRECTORY /dev/shm)
    string(MD5 build "${PROJECT_BINARY_DIR}")
    string(SUBSTRING ${build} 0 8 build)
    set(MEDLEY_TEST_FOLDER /dev/shm/medley-tests-${build})
else()
    set(MEDLEY_TEST_FOLDER ${PROJECT_BINARY_DIR}/shm)
endif()
set(MEDLEY_TEST_RUN ${PROJECT_SOURCE_DIR}/tests/run.sh ${MEDLEY_TEST_FOLDER})
if(MEDLEY_PORT STREQUAL linux)
    add_test(NAME shared_memory_begin COMMAND ${MEDLEY_TEST_RUN})
    add_test(NAME shared_memory_end COMMAND ${MEDLEY_TEST_RUN})
    set_tests_properties(shared_memory_begin PROPERTIES FIXTURES_SETUP shared_memory)
    set_tests_properties(shared_memory_end PROPERTIES FIXTURES_CLEANUP shared_memory)
endif()

# medley_add_test(NAME program argument...): a program of this build, or any other.
function(medley_add_test name program)
    set(command ${program} ${ARGN})
    if(TARGET ${program})
        set(command ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${program}> ${ARGN})
    endif()
    add_test(NAME ${name} COMMAND ${MEDLEY_TEST_RUN} ${command})
    set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED shared_memory)
endfunction()

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
    medley_add_test(${name} ${name} ${T_ARGS})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${T_TIMEOUT} LABELS "${T_LABELS}")
endfunction()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# One object library per floor; all of them make libmedley.

add_library(medley_flags INTERFACE)
target_include_directories(medley_flags INTERFACE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/src/port/${MEDLEY_PORT})
if(NOT MEDLEY_PORT STREQUAL linux)
    # A compiler for bare metal may come without a C library.
    target_include_directories(medley_flags SYSTEM INTERFACE ${PROJECT_SOURCE_DIR}/src/port/bare/include)
    target_compile_definitions(medley_flags INTERFACE MED_PORT_WHY_BYTES=32
        MED_PORT_PATH_BYTES=1)
endif()
target_compile_options(medley_flags INTERFACE
    -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    -fvisibility=hidden -fno-semantic-interposition -fno-common
    # Nothing that is installed says where it was built.
    -ffile-prefix-map=${PROJECT_BINARY_DIR}=. -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
option(MEDLEY_TEST_AND_SET "Cores that have no other read-modify-write (src/port/atomic_store.h)" OFF)
if(MEDLEY_TEST_AND_SET)
    target_compile_definitions(medley_flags INTERFACE MED_PORT_TEST_AND_SET)
endif()
target_compile_definitions(medley_flags INTERFACE MED_LOG_MOST=MED_LOG_${MEDLEY_LOG_MOST})
option(MEDLEY_WERROR "Warnings are errors" OFF)
if(MEDLEY_WERROR)
    target_compile_options(medley_flags INTERFACE -Werror)
endif()

# medley_floor(NAME file...): the sources of one floor, named from its own folder.
function(medley_floor name)
    add_library(medley_${name} OBJECT ${ARGN})
    target_link_libraries(medley_${name} PRIVATE medley_flags)
    set_property(TARGET medley_${name} PROPERTY POSITION_INDEPENDENT_CODE ${MEDLEY_PIC})
    set_property(GLOBAL APPEND PROPERTY MEDLEY_FLOORS medley_${name})
endfunction()

if(MEDLEY_PORT STREQUAL linux)
    set(MEDLEY_PIC ON)
else()
    set(MEDLEY_PIC OFF)
endif()

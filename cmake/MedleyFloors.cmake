# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# One object library per floor; all of them make libmedley.

add_library(medley_flags INTERFACE)
target_include_directories(medley_flags INTERFACE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/include/medley/std ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/src/port/${MEDLEY_PORT})
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

# medley_archive(TARGET NAME file...): libNAME.a, whose names beyond the interfaces are such that no
# program has them (HideNames.cmake): whatever a program calls its functions, it calls its own, and
# we ours.
function(medley_archive target name)
    add_library(${target} STATIC ${ARGN})
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME ${name}
        ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/archives)
    add_custom_command(TARGET ${target} POST_BUILD
        COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DOBJCOPY=${CMAKE_OBJCOPY} -DARCHIVE=$<TARGET_FILE:${target}>
            -P ${PROJECT_SOURCE_DIR}/cmake/HideNames.cmake VERBATIM)
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/HideNames.cmake)
endfunction()

# medley_shared_of(TARGET ARCHIVE): a shared library of all that is in there.
function(medley_shared_of target archive)
    set(nothing ${PROJECT_BINARY_DIR}/archives/nothing.c)
    if(NOT EXISTS ${nothing})
        file(WRITE ${nothing} "typedef int nothing;\n")
    endif()
    add_library(${target} SHARED ${nothing})
    target_link_libraries(${target} PRIVATE medley_flags -Wl,--whole-archive ${archive} -Wl,--no-whole-archive)
endfunction()

# medley_first(TARGET SCRIPT): that script of the linker's says what stands first in it. GNU's knows
# such scripts, gold and mold do not: what they link stands as they will. MEDLEY_FIRST_NAMED: the
# objects have the names by which scripts say it, which they lose where the linker optimizes.
if(MEDLEY_PORT STREQUAL linux)
    include(CheckCSourceCompiles)
    set(MEDLEY_FIRST_NAMED FALSE)
    string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
    separate_arguments(CMAKE_REQUIRED_LINK_OPTIONS NATIVE_COMMAND "${CMAKE_SHARED_LINKER_FLAGS}")
    list(APPEND CMAKE_REQUIRED_LINK_OPTIONS -shared -Wl,-T,${PROJECT_SOURCE_DIR}/src/first.ld)
    set(CMAKE_REQUIRED_FLAGS -fPIC)
    check_c_source_compiles("int main(void) { return 0; }" MEDLEY_FIRST_LINKS)
    unset(CMAKE_REQUIRED_FLAGS)
    unset(CMAKE_REQUIRED_LINK_OPTIONS)
    if(MEDLEY_FIRST_LINKS AND CMAKE_C_OUTPUT_EXTENSION STREQUAL .o AND NOT CMAKE_C_OUTPUT_EXTENSION_REPLACE
            AND NOT CMAKE_INTERPROCEDURAL_OPTIMIZATION AND NOT "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${build_type}}" MATCHES "-flto")
        set(MEDLEY_FIRST_NAMED TRUE)
    endif()
endif()
function(medley_first target script)
    if(MEDLEY_FIRST_LINKS)
        target_link_options(${target} PRIVATE -Wl,-T,${script})
        set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
    endif()
endfunction()

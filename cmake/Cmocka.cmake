# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmocka, as target medley_cmocka: the distribution's library, or, for a processor that the
# distribution has none for, the distribution's source package (MEDLEY_CMOCKA_SOURCE, laid there by
# scripts/setup.sh cross).
add_library(medley_cmocka INTERFACE)
if(MEDLEY_CMOCKA_SOURCE)
    if(NOT EXISTS ${MEDLEY_CMOCKA_SOURCE}/src/cmocka.c)
        message(FATAL_ERROR
            "no source of cmocka in ${MEDLEY_CMOCKA_SOURCE}: scripts/setup.sh cross lays it there")
    endif()
    add_library(cmocka_from_source STATIC ${MEDLEY_CMOCKA_SOURCE}/src/cmocka.c)
    target_include_directories(cmocka_from_source SYSTEM PUBLIC ${MEDLEY_CMOCKA_SOURCE}/include)
    target_compile_definitions(cmocka_from_source PRIVATE
        HAVE_INTTYPES_H=1 HAVE_MALLOC_H=1 HAVE_STRUCT_TIMESPEC=1 HAVE_SETJMP_H=1 HAVE_SIGNAL_H=1
        HAVE_STDINT_H=1 HAVE_STRINGS_H=1 HAVE_TIME_H=1 HAVE_UNISTD_H=1 HAVE_SNPRINTF=1
        HAVE_VSNPRINTF=1 HAVE_STRSIGNAL=1 HAVE_CLOCK_GETTIME=1 HAVE_CLOCK_REALTIME=1
        HAVE_GCC_THREAD_LOCAL_STORAGE=1 WORDS_SIZEOF_VOID_P=8)
    target_compile_options(cmocka_from_source PRIVATE -w)
    target_link_libraries(medley_cmocka INTERFACE cmocka_from_source)
else()
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
    target_link_libraries(medley_cmocka INTERFACE PkgConfig::CMOCKA)
endif()

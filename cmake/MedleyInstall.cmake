# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What `make install` lays down: headers, libraries, the command and its topologies, how to find
# them (pkg-config, CMake), the man pages, the examples. All of it may be moved: paths inside are
# relative. The components are the packages of MedleyDeb.cmake.

install(TARGETS medley_hidden medley_shared
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libmedley-dev
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libmedley NAMELINK_COMPONENT libmedley-dev)
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libmedley-dev
    FILES_MATCHING PATTERN "*.h")
if(TARGET medley)
    install(TARGETS medley RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT medley)
    # Where the command looks: ../share, from its own folder.
    file(RELATIVE_PATH shared /${CMAKE_INSTALL_BINDIR} /share/medley)
    install(DIRECTORY tools/medley/topologies DESTINATION ${CMAKE_INSTALL_BINDIR}/${shared} COMPONENT medley
        FILES_MATCHING PATTERN "*.yaml")
    install(DIRECTORY tools/medley/model DESTINATION ${CMAKE_INSTALL_BINDIR}/${shared} COMPONENT medley
        FILES_MATCHING PATTERN "*.py" PATTERN "*.json" PATTERN "__pycache__" EXCLUDE)
endif()
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT medley)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT licence) # packages have it once more
install(DIRECTORY docs/tutorial DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT libmedley-dev
    FILES_MATCHING PATTERN "*.md")
install(FILES docs/coming-from.md docs/embedded.md docs/tuning.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs
    COMPONENT libmedley-dev)
install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT libmedley-dev
    FILES_MATCHING PATTERN "*.c" PATTERN "*.h" PATTERN "Makefile" PATTERN "*.yaml")

# OpenMP's have names that are others' elsewhere: they lie in a folder where nobody looks who is not
# told to.
set(MEDLEY_OPENMP_DIR ${CMAKE_INSTALL_LIBDIR}/medley/openmp)
install(TARGETS medley_omp medley_omp_stub medley_omp_gomp medley_omp_llvm
    ARCHIVE DESTINATION ${MEDLEY_OPENMP_DIR} COMPONENT medley-openmp
    LIBRARY DESTINATION ${MEDLEY_OPENMP_DIR} COMPONENT medley-openmp)
install(FILES $<TARGET_FILE_DIR:medley_omp>/libomp.so.5 src/omp/libgomp.spec
    DESTINATION ${MEDLEY_OPENMP_DIR} COMPONENT medley-openmp)

# ---- How to find it ------------------------------------------------------------------------------

set(MEDLEY_PKGCONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(MEDLEY_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Medley)
# From those folders to the prefix.
file(RELATIVE_PATH MEDLEY_PKGCONFIG_UP /${MEDLEY_PKGCONFIG_DIR} /)
file(RELATIVE_PATH MEDLEY_PACKAGE_UP /${MEDLEY_PACKAGE_DIR} /)

include(CMakePackageConfigHelpers)
set(folder ${PROJECT_BINARY_DIR}/install)
configure_file(cmake/medley.pc.in ${folder}/medley.pc @ONLY)
configure_file(cmake/MedleyConfig.cmake.in ${folder}/MedleyConfig.cmake @ONLY)
write_basic_package_version_file(${folder}/MedleyConfigVersion.cmake
    COMPATIBILITY SameMajorVersion)
# Where that is installed is known when it is; and it is made there, since two may install one build
# at once.
install(CODE "
    string(REPLACE \" \" \"\\\\ \" MEDLEY_PREFIX \"\${CMAKE_INSTALL_PREFIX}\")
    set(CMAKE_INSTALL_LIBDIR \"${CMAKE_INSTALL_LIBDIR}\")
    set(PROJECT_VERSION \"${PROJECT_VERSION}\")
    set(file \"\${CMAKE_INSTALL_PREFIX}/${MEDLEY_PKGCONFIG_DIR}/medley-openmp.pc\")
    message(STATUS \"Installing: \$ENV{DESTDIR}\${file}\")
    configure_file(\"${PROJECT_SOURCE_DIR}/cmake/medley-openmp.pc.in\" \"\$ENV{DESTDIR}\${file}\" @ONLY)
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${file}\")" COMPONENT medley-openmp)
install(FILES ${folder}/medley.pc DESTINATION ${MEDLEY_PKGCONFIG_DIR} COMPONENT libmedley-dev)
# By the standards' names, and with their versions, for programs that know no more than those.
function(medley_interface file INTERFACE_NAME INTERFACE_VERSION INTERFACE_DESCRIPTION)
    configure_file(cmake/interface.pc.in ${folder}/${file}.pc @ONLY)
    install(FILES ${folder}/${file}.pc DESTINATION ${MEDLEY_PKGCONFIG_DIR} COMPONENT libmedley-dev)
endfunction()
medley_interface(mcapi MCAPI 2.015 "Multicore Communications API, by Medley")
medley_interface(mrapi MRAPI 1.0 "Multicore Resource Management API, by Medley")
install(FILES ${folder}/MedleyConfig.cmake ${folder}/MedleyConfigVersion.cmake
    DESTINATION ${MEDLEY_PACKAGE_DIR} COMPONENT libmedley-dev)

# ---- Man pages: each name that a page of section 3 explains leads to it --------------------------

file(GLOB pages CONFIGURE_DEPENDS docs/man/*.[137])
foreach(page ${pages})
    get_filename_component(file ${page} NAME)
    string(REGEX MATCH "[137]$" section ${file})
    if(file MATCHES "^medley-(openmp|ompt)[.]7$")
        set(component medley-openmp)
    elseif(section EQUAL 1 OR file STREQUAL medley.7)
        set(component medley)
    else()
        set(component libmedley-dev)
    endif()
    install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT ${component})
    if(section EQUAL 3)
        file(STRINGS ${page} names REGEX "^\\.Nm [a-z_0-9]+")
        foreach(name ${names})
            string(REGEX REPLACE "^\\.Nm ([a-z_0-9]+).*" "\\1.3" alias ${name})
            if(NOT alias STREQUAL file)
                file(WRITE ${folder}/man/${alias} ".so man3/${file}\n")
                install(FILES ${folder}/man/${alias} DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT libmedley-dev)
            endif()
        endforeach()
    endif()
endforeach()

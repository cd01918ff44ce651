# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Debian packages of what MedleyInstall.cmake installs, by CPack (`make deb`; the preset deb).
#
# Five, where one would be less to write. Who runs a program needs the library alone, which needs
# nothing but libc, and two of its versions must stand side by side: so nothing is with it whose
# name is without a version. The command brings hwloc, jansson and libyaml; the module for hwloc
# brings hwloc, which the library does without. What one compiles with is pages and headers that no
# other machine wants. OpenMP's libraries, with what is needed to link with them,
# are in a folder of their own, so that they stand beside libgomp1 and libomp5 of Debian.
#
# CPack collects each package's files and packs them. What lies in between, dependencies and what
# Debian expects of files, is scripts/deb-finish.sh: CPack's own way would tell the linkers of other
# packages that libgomp.so.1 comes from us, and calls ldconfig from scripts.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME medley)
set(CPACK_PACKAGE_VENDOR Medley)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_SET_DESTDIR ON) # what is made where it is installed names the prefix
set(CPACK_STRIP_FILES OFF) # deb-finish.sh does, archives too
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/MedleyDebFinish.cmake)
set(CPACK_MEDLEY_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_MEDLEY_SOVERSION ${PROJECT_VERSION_MAJOR})
set(CPACK_MEDLEY_CONTROL ${PROJECT_BINARY_DIR}/control)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENTS_ALL libmedley libmedley-hwloc libmedley-dev medley-openmp medley)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SOURCE medley)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# Who makes a package answers for it, and says so as Debian's own tools ask: DEBFULLNAME, DEBEMAIL.
# Medley has no address of its own.
if(DEFINED ENV{DEBEMAIL} AND DEFINED ENV{DEBFULLNAME})
    set(CPACK_DEBIAN_PACKAGE_MAINTAINER "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
else()
    set(CPACK_DEBIAN_PACKAGE_MAINTAINER "Medley's makers <medley@medley.invalid>")
endif()

# medley_package(COMPONENT PACKAGE SECTION DESCRIPTION [FIELD VALUE]...): beside its dependencies by
# way of libraries.
function(medley_package component package section description)
    cmake_parse_arguments(PARSE_ARGV 4 P "" "DEPENDS;RECOMMENDS;SUGGESTS;CONTROL_EXTRA" "")
    string(TOUPPER ${component} upper)
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package} PARENT_SCOPE)
    set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
    set(CPACK_DEBIAN_${upper}_DESCRIPTION "${description}" PARENT_SCOPE)
    foreach(field DEPENDS RECOMMENDS SUGGESTS CONTROL_EXTRA)
        if(P_${field})
            set(CPACK_DEBIAN_${upper}_PACKAGE_${field} "${P_${field}}" PARENT_SCOPE)
        endif()
    endforeach()
endfunction()

set(library libmedley${PROJECT_VERSION_MAJOR})
set(same "(= ${PROJECT_VERSION})")
set(what "Medley lets a program use every processor of a system, like cores or unlike
ones, through the standards that programs are written against: MRAPI, MCAPI
and OpenMP.")
medley_package(libmedley ${library} libs "runtime for heterogeneous multicore systems
${what}
.
This package has the library that programs for MRAPI and MCAPI run on."
    RECOMMENDS libmedley-hwloc
    CONTROL_EXTRA "${PROJECT_BINARY_DIR}/control/symbols;${PROJECT_BINARY_DIR}/control/shlibs;${PROJECT_BINARY_DIR}/control/triggers")
medley_package(libmedley-hwloc libmedley-hwloc libs "runtime for heterogeneous multicore systems: hwloc
${what}
.
This package has the module by which the trees of resources that MRAPI gives
are hwloc's. Without it they have what the kernel's files tell."
    DEPENDS "${library} ${same}"
    RECOMMENDS libhwloc-plugins)
medley_package(libmedley-dev libmedley-dev libdevel "runtime for heterogeneous multicore systems: headers
${what}
.
This package has what programs for MRAPI and MCAPI are compiled and linked
with: headers, the static library, pkg-config's and CMake's files, manual
pages and examples."
    DEPENDS "${library} ${same}"
    SUGGESTS "medley, medley-openmp, pkg-config, libpng-dev, libturbojpeg0-dev")
medley_package(medley-openmp medley-openmp libs "OpenMP for programs of gcc's and clang's, by Medley
${what}
.
This package has libraries that stand in for those of gcc and LLVM, in a
folder of their own: who asks for them by LD_LIBRARY_PATH, or links with the
flags that pkg-config gives for medley-openmp, runs on them, and nobody else."
    RECOMMENDS libmedley-hwloc)
medley_package(medley medley utils "runtime for heterogeneous multicore systems: command
${what}
.
This package has the command, which starts programs as one system, shows
systems that run, what happened in them, and the machine."
    RECOMMENDS "medley-openmp, python3"
    SUGGESTS "python3-simpy, libhwloc-plugins")

include(CPack)

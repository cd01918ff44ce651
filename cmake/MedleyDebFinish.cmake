# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Run by CPack when the files of all packages lie in folders, and none is packed (MedleyDeb.cmake).
execute_process(
    COMMAND ${CPACK_MEDLEY_SOURCE}/scripts/deb-finish.sh
        ${CPACK_TEMPORARY_DIRECTORY} ${CPACK_MEDLEY_CONTROL} ${CPACK_PACKAGE_VERSION} ${CPACK_MEDLEY_SOVERSION}
    COMMAND_ERROR_IS_FATAL ANY)
foreach(component ${CPACK_COMPONENTS_ALL})
    string(TOUPPER ${component} upper)
    file(READ ${CPACK_MEDLEY_CONTROL}/${component}.depends depends)
    string(STRIP "${depends}" depends)
    set(own "${CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS}")
    if(own AND depends)
        string(PREPEND depends "${own}, ")
    elseif(own)
        set(depends "${own}")
    endif()
    set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
endforeach()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Gives every name of ARCHIVE that is no interface two underscores in front: such names belong to
# those who make compilers and their libraries, and a program has none. What it only uses has them,
# too, where it is ours.
execute_process(COMMAND ${NM} -g ${ARCHIVE} OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " [A-Za-z] [A-Za-z_0-9.]+\n" names "${lines}")
list(FILTER names EXCLUDE REGEX "^ [Uvw] ([^m]|m[^e]|me[^d]|med[^_])")
list(TRANSFORM names REPLACE " . ([^\n]+)\n" "\\1")
list(REMOVE_DUPLICATES names)
list(FILTER names EXCLUDE REGEX "^(_|(GOMP|omp|ompc|ompt|ompd|kmp|kmpc|mca|mcapi|mrapi|medley)_)")
list(TRANSFORM names REPLACE "(.+)" "\\1 __\\1\n")
string(CONCAT renamed ${names})
file(WRITE ${ARCHIVE}.renamed "${renamed}")
execute_process(COMMAND ${OBJCOPY} --redefine-syms=${ARCHIVE}.renamed ${ARCHIVE} COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE ${ARCHIVE}.renamed)

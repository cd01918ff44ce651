/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A file in which somebody may have written down a machine. */
#ifndef MEDLEY_MODULES_MACHINE_FILE_H
#define MEDLEY_MODULES_MACHINE_FILE_H

#include <stddef.h>

/* All of a plain file that passes machine_check, and a NUL, which `size` does not count; `line` is
 * where its machine begins. The caller frees it. NULL: `why` says what is wrong, and where. */
char *
machine_file_read(const char *path, size_t *size, unsigned *line, char *why, size_t why_bytes);

#endif

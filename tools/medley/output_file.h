/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files that a command writes: there whole, or as they were before. */
#ifndef MEDLEY_TOOLS_OUTPUT_FILE_H
#define MEDLEY_TOOLS_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* Writes all of it; false: it cannot, errno says why. */
typedef bool (*output_file_writer)(FILE *file, void *context);

/* "-" is standard output. What is there is replaced when the new one is whole, with its mode; where
 * a link leads there, the file behind it. A pipe or a device is written to. False: errno
 * says why. */
bool output_file_write(const char *path, output_file_writer write, void *context);

/* Could it be written now? For who has much to do before; leaves what is there. False: errno says
 * why. */
bool output_file_may_write(const char *path);

#endif

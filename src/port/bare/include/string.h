/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The part of the C library's header that Medley uses, for compilers that come without a library.
 */
#ifndef MEDLEY_PORT_BARE_STRING_H
#define MEDLEY_PORT_BARE_STRING_H

#include <stddef.h>

void *memcpy(void *restrict target, const void *restrict source, size_t bytes);
void *memmove(void *target, const void *source, size_t bytes);
void *memset(void *target, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);
size_t strlen(const char *string);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t bytes);

#endif

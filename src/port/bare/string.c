/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What compilers call by themselves, and the little more that Medley uses. Small, not fast; built
 * so that the compiler does not turn a loop here into a call of itself. */
#include <stdint.h>
#include <string.h>

/* A word of memory whatever its type. */
typedef uintptr_t any_word __attribute__((may_alias));

static int
difference(unsigned char a, unsigned char b)
{
    return (int)a - (int)b;
}

void *
memcpy(void *restrict target, const void *restrict source, size_t bytes)
{
    unsigned char *to = target;
    const unsigned char *from = source;
    if (((uintptr_t)to | (uintptr_t)from) % sizeof(uintptr_t) == 0) {
        for (; bytes >= sizeof(uintptr_t); bytes -= sizeof(uintptr_t)) {
            *(any_word *)(void *)to = *(const any_word *)(const void *)from;
            to += sizeof(uintptr_t);
            from += sizeof(uintptr_t);
        }
    }
    while (bytes--) {
        *to++ = *from++;
    }
    return target;
}

void *
memmove(void *target, const void *source, size_t bytes)
{
    unsigned char *to = target;
    const unsigned char *from = source;
    if ((uintptr_t)to - (uintptr_t)from >= bytes) {
        return memcpy(target, source, bytes);
    }
    while (bytes--) {
        to[bytes] = from[bytes];
    }
    return target;
}

void *
memset(void *target, int value, size_t bytes)
{
    unsigned char *to = target;
    while (bytes--) {
        *to++ = (unsigned char)value;
    }
    return target;
}

int
memcmp(const void *a, const void *b, size_t bytes)
{
    const unsigned char *x = a;
    const unsigned char *y = b;
    for (size_t i = 0; i < bytes; i++) {
        if (x[i] != y[i]) {
            return difference(x[i], y[i]);
        }
    }
    return 0;
}

size_t
strlen(const char *string)
{
    size_t length = 0;
    while (string[length]) {
        length++;
    }
    return length;
}

int
strncmp(const char *a, const char *b, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (a[i] != b[i] || !a[i]) {
            return difference((unsigned char)a[i], (unsigned char)b[i]);
        }
    }
    return 0;
}

int
strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}

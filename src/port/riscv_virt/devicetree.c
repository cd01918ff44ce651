/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How many harts there are, from the flattened device tree that the boot loader hands over: a
 * header, then a stream of big-endian words in which every node begins with its name. */
#include <string.h>

#include "port/riscv_virt/virt.h"

#define MAGIC 0xd00dfeedu
#define HEADER_STRUCT_OFFSET 2 /* in words */
#define HEADER_STRUCT_BYTES 9

enum token {
    TOKEN_NODE = 1,
    TOKEN_NODE_END = 2,
    TOKEN_PROPERTY = 3,
    TOKEN_NOTHING = 4,
    TOKEN_END = 9,
};

static uint32_t
word_at(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static size_t
whole_words(size_t bytes)
{
    return (bytes + 3) & ~(size_t)3;
}

uint32_t
med_virt_devicetree_harts(const void *devicetree)
{
    const unsigned char *tree = devicetree;
    if (!tree || word_at(tree) != MAGIC) {
        return 0;
    }
    const unsigned char *p = tree + word_at(tree + 4 * (size_t)HEADER_STRUCT_OFFSET);
    const unsigned char *end = p + word_at(tree + 4 * (size_t)HEADER_STRUCT_BYTES);
    uint32_t harts = 0;
    while (p + 4 <= end) {
        uint32_t token = word_at(p);
        p += 4;
        switch (token) {
        case TOKEN_NODE:
            harts += strncmp((const char *)p, "cpu@", 4) == 0;
            p += whole_words(strlen((const char *)p) + 1);
            break;
        case TOKEN_PROPERTY: /* length, name, value */
            p += 8 + whole_words(word_at(p));
            break;
        case TOKEN_NODE_END:
        case TOKEN_NOTHING:
            break;
        case TOKEN_END:
        default:
            return harts;
        }
    }
    return harts;
}

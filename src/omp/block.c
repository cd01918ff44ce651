/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Blocks of whole lines, from the process's heap. Before each stands where the heap's own begins,
 * and how large that is. */
#include "omp/block.h"

#include <stdint.h>
#include <string.h>

#include "port/port.h"

#define LINE 64u

typedef struct block_head {
    void *taken;
    size_t taken_bytes;
} block_head;

void *
med_block_take(size_t size_bytes)
{
    size_t whole = (size_bytes + LINE - 1) / LINE * LINE;
    size_t taken_bytes = whole + 2 * LINE;
    void *taken = med_port_heap_take(taken_bytes);
    if (!taken) {
        return NULL;
    }
    uintptr_t at = ((uintptr_t)taken + sizeof(block_head) + LINE - 1) / LINE * LINE;
    block_head *head = (block_head *)at - 1;
    *head = (block_head){.taken = taken, .taken_bytes = taken_bytes};
    return memset((void *)at, 0, whole);
}

void
med_block_give(void *block)
{
    if (block) {
        const block_head *head = (const block_head *)block - 1;
        med_port_heap_give(head->taken, head->taken_bytes);
    }
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Memory nodes on Linux, for private memory: which there are, and on which of them pages lie.
 *
 * All of it is a preference: a node that is full has its pages elsewhere. A policy that insists has
 * the process killed by the kernel when it touches what a node has no page for.
 */
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "linux.h"
#include "port/port.h"

#define SYS_NODE "/sys/devices/system/node"
#define NODES_MOST 1024u
#define WORD_BITS (8 * sizeof(unsigned long))
#ifndef MPOL_PREFERRED_MANY
#define MPOL_PREFERRED_MANY 5 /* since Linux 5.15: the next one of several that has a page */
#endif

typedef struct node_set {
    unsigned long words[NODES_MOST / WORD_BITS];
} node_set;

static bool
set_has(const node_set *set, uint32_t node)
{
    return node < NODES_MOST && (set->words[node / WORD_BITS] >> node % WORD_BITS & 1);
}

static void
set_add(node_set *set, uint32_t node)
{
    set->words[node / WORD_BITS] |= 1ul << node % WORD_BITS;
}

/* ---- Which there are ------------------------------------------------------------------------- */

/* Of a list such as "0-1,4". */
static void
list_read(const char *list, node_set *set)
{
    char *end;
    for (const char *text = list; *text >= '0' && *text <= '9';
         text = *end == ',' ? end + 1 : end) {
        unsigned long first = strtoul(text, &end, 10);
        unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        for (unsigned long node = first; node <= last && node < NODES_MOST; node++) {
            set_add(set, (uint32_t)node);
        }
    }
}

/* In MB/s, by who is nearest to it, as the firmware tells; 0: it does not. */
static unsigned long
bandwidth_of(uint32_t node)
{
    char path[96];
    char line[32];
    (void)snprintf(path, sizeof path, SYS_NODE "/node%u/access0/initiators/read_bandwidth", node);
    return med_linux_line_read(path, line, sizeof line) ? strtoul(line, NULL, 10) : 0;
}

/* Takes all out but those of the most bandwidth; and these as well, where no other has less. */
static void
fast_keep(node_set *set)
{
    char line[1024];
    node_set all = {{0}};
    unsigned long least = 0, most = 0;
    if (med_linux_line_read(SYS_NODE "/has_memory", line, sizeof line)) {
        list_read(line, &all);
    }
    for (uint32_t node = 0; node < NODES_MOST; node++) {
        unsigned long told = set_has(&all, node) ? bandwidth_of(node) : 0;
        least = told && (!least || told < least) ? told : least;
        most = told > most ? told : most;
    }
    for (uint32_t node = 0; node < NODES_MOST; node++) {
        if (set_has(set, node) && (least == most || bandwidth_of(node) != most)) {
            set->words[node / WORD_BITS] &= ~(1ul << node % WORD_BITS);
        }
    }
}

uint32_t
med_port_memory_nodes(med_port_memory_kind kind, uint32_t *numbers, uint32_t room)
{
    MED_LINUX_ERRNO_KEPT;
    node_set set = {{0}};
    uint32_t count = 0;
    if (syscall(SYS_get_mempolicy, NULL, set.words, NODES_MOST, NULL, MPOL_F_MEMS_ALLOWED) != 0) {
        set_add(&set, 0); /* a kernel without nodes */
    }
    if (kind == MED_PORT_MEMORY_HIGH_BANDWIDTH) {
        fast_keep(&set);
    }
    for (uint32_t node = 0; node < NODES_MOST; node++) {
        if (set_has(&set, node) && count++ < room) {
            numbers[count - 1] = node;
        }
    }
    return count;
}

/* ---- On which pages lie ---------------------------------------------------------------------- */

static bool
policy_set(char *address, size_t size_bytes, int policy, const node_set *set, unsigned flags)
{
    return syscall(SYS_mbind, address, size_bytes, policy, set->words, NODES_MOST + 1, flags) == 0;
}

static bool
prefer(char *address, size_t size_bytes, uint32_t node, unsigned flags)
{
    node_set set = {{0}};
    set_add(&set, node);
    return policy_set(address, size_bytes, MPOL_PREFERRED, &set, flags);
}

/* The caller's own node, if it is one of these; else whichever of them is next to who touches a
 * page. */
static bool
spread_nearest(char *address, size_t size_bytes, const node_set *set, uint32_t first)
{
    unsigned processor, node;
    if (getcpu(&processor, &node) == 0 && set_has(set, node)) {
        return prefer(address, size_bytes, node, 0);
    }
    return policy_set(address, size_bytes, MPOL_PREFERRED_MANY, set, 0) ||
           prefer(address, size_bytes, first, 0);
}

/* One part for each, of whole pages, one behind the other; the last ones may be smaller. */
static bool
spread_blocked(char *address, size_t size_bytes, const uint32_t *nodes, uint32_t count)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t pages = (size_bytes + page - 1) / page;
    size_t part = (pages + count - 1) / count * page;
    bool all = true;
    for (size_t at = 0, i = 0; at < size_bytes; at += part, i++) {
        all &= prefer(address + at, part < size_bytes - at ? part : size_bytes - at, nodes[i], 0);
    }
    return all;
}

medley_status_t
med_port_memory_spread(
    void *address, size_t size_bytes, med_port_spread spread, const uint32_t *nodes, uint32_t count)
{
    MED_LINUX_ERRNO_KEPT;
    node_set set = {{0}};
    bool is_set = false;
    for (uint32_t i = 0; i < count; i++) {
        if (nodes[i] >= NODES_MOST) {
            return MEDLEY_ERR_NOT_SUPPORTED;
        }
        set_add(&set, nodes[i]);
    }
    if (count == 0) {
        return MEDLEY_ERR_ARGUMENT;
    }
    switch (spread) {
    case MED_PORT_SPREAD_NEAREST:
        is_set = spread_nearest(address, size_bytes, &set, nodes[0]);
        break;
    case MED_PORT_SPREAD_BLOCKED:
        is_set = spread_blocked(address, size_bytes, nodes, count);
        break;
    case MED_PORT_SPREAD_INTERLEAVED:
        is_set = policy_set(address, size_bytes, MPOL_INTERLEAVE, &set, 0);
        break;
    default:
        break;
    }
    return is_set ? MEDLEY_OK : MEDLEY_ERR_NOT_SUPPORTED;
}

medley_status_t
med_port_memory_move_here(void *address, size_t size_bytes)
{
    MED_LINUX_ERRNO_KEPT;
    unsigned processor, node;
    bool is_set = getcpu(&processor, &node) == 0 && node < NODES_MOST &&
                  prefer(address, size_bytes, node, MPOL_MF_MOVE);
    return is_set ? MEDLEY_OK : MEDLEY_ERR_NOT_SUPPORTED;
}

medley_status_t
med_port_memory_pin(void *address, size_t size_bytes)
{
    MED_LINUX_ERRNO_KEPT;
    /* Not the C library's name: sanitizers have one of it that does nothing. */
    return syscall(SYS_mlock, address, size_bytes) == 0 ? MEDLEY_OK : MEDLEY_ERR_LIMIT;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the bare-metal ports have in common, and what each machine brings to it.
 *
 * This folder implements the part of port.h that needs no machine: an arena, waiting on words,
 * doorbells, copies, and everything that there is not without an operating system. A machine
 * (riscv_virt, cortex_m) adds boot, clock, console, threads, and the functions below.
 */
#ifndef MEDLEY_PORT_BARE_BARE_H
#define MEDLEY_PORT_BARE_BARE_H

#include <stddef.h>
#include <stdint.h>

#include "port/port.h"

#include "machine.h" /* of the machine's folder: MED_BARE_CORES_MAX, MED_BARE_ARENA_BYTES */

/* What med_port_memory_map has to give, aligned to 64 bytes. In a file of their own (arena.c), so
 * that an image that defines them has its own memory. */
extern unsigned char med_bare_arena[];
extern const size_t med_bare_arena_bytes;

/* The board's tightly coupled memories, at most four, each aligned to 64 bytes and apart from the
 * arena. In a file of their own (tight.c: there are none), likewise. */
extern const med_port_tight med_bare_tight[];
extern const uint32_t med_bare_tight_count;

/* Which core runs the caller: 0 to med_bare_core_count() - 1. */
uint32_t med_bare_core(void);
uint32_t med_bare_core_count(void);

/* A core that is about to sleep forgets its notifications, looks once more at what it waits for,
 * and sleeps: a notification after the forgetting ends the sleep, or keeps it from beginning. The
 * sleep also ends at the deadline, and for no reason. */
void med_bare_forget_notifications(void);
void med_bare_sleep_until_ns(uint64_t deadline_ns);
/* By any core, or an interrupt handler. */
void med_bare_notify(uint32_t core);

/* Where the calling thread's pointer lies. */
void **med_bare_self(void);
/* The calling thread ends: its hook runs, its pointer is cleared. Of the second pointer, likewise;
 * only in programs that have it. */
void med_bare_self_ends(void);
MED_PORT_OPTIONAL void med_bare_member_ends(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of shared memory by name have in common: shared.c (names), record.c, section.c,
 * slot.c. */
#ifndef MEDLEY_PORT_LINUX_SHARED_H
#define MEDLEY_PORT_LINUX_SHARED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "port/port.h"

/* Bytes of the file that are locked, and never written: the same in every version. */
#define MED_LINUX_SECTION_BYTE ((off_t)1 << 30)
#define MED_LINUX_SLOT_BYTE (MED_LINUX_SECTION_BYTE + 1)
#define MED_LINUX_WITNESS_BYTE (MED_LINUX_SECTION_BYTE + (1 << 20)) /* far from the slots */

/* By so much the path of a segment (segment.c) is longer than that of the shared memory that it
 * lies beside. */
#define MED_LINUX_SEGMENT_PATH_MORE 26

/* ---- Record locks (record.c) ----------------------------------------------------------------- */

struct flock;
struct flock med_linux_record(short type, off_t start, off_t length);
/* MEDLEY_BUSY: another process has it. */
medley_status_t med_linux_record_try(int fd, off_t byte);
/* Does another process hold what `lock` asks for? Then the lock that it has there. */
bool med_linux_record_find(int fd, struct flock *lock);
void med_linux_record_drop(int fd, off_t byte);

/* Is the descriptor still that of what was opened? */
bool med_linux_descriptor_is_ours(const med_port_shared *shared);
/* The same; the first to miss it since the last opening tells. */
bool med_linux_descriptor_check(const med_port_shared *shared);
void med_linux_descriptor_opened(void);

/* ---- The section (section.c) ----------------------------------------------------------------- */

typedef struct med_linux_patience {
    uint64_t deadline_ns;
    uint64_t pause_ns; /* the next one */
} med_linux_patience;

med_linux_patience med_linux_patience_until(uint64_t deadline_ns);

/* Of this process: no other thread, of any name. No thread waits longer in there than its own
 * deadline allows. False: ours has passed. */
void med_linux_threads_exclude(void);
bool med_linux_threads_exclude_until(med_linux_patience *p);
void med_linux_threads_admit(void);
/* In a child of fork: some other thread of the parent may have been in there. */
void med_linux_threads_forget(void);
#define MED_LINUX_WHY_THREADS                                                                      \
    "another thread of this process is at opening or closing shared memory"

/* Of all processes: by a thread that has excluded the others of its own. */
medley_status_t
med_linux_section_enter(int fd, med_linux_patience *p, char why[MED_PORT_WHY_BYTES]);

/* ---- Slots (slot.c) -------------------------------------------------------------------------- */

/* MEDLEY_EMPTY: nobody holds any. Only a plain yes is one: who is told no asks again in the
 * section. */
medley_status_t med_linux_slots_look(int fd);
/* Before the descriptor is closed, of which a child of the program may have a copy. */
void med_linux_witnesses_drop(int fd);

#endif

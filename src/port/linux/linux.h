/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of this folder share. */
#ifndef MEDLEY_PORT_LINUX_LINUX_H
#define MEDLEY_PORT_LINUX_LINUX_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "port/port.h"

/* No function of the port changes errno (port.h), but many of libc's do. To the end of the block in
 * which this stands, it is what it was. (Which clang counts as no use.) */
#define MED_LINUX_ERRNO_KEPT                                                                       \
    __attribute__((cleanup(med_linux_errno_back), unused)) int errno_before = errno

static inline void
med_linux_errno_back(const int *before)
{
    /* Clang takes it that malloc does not write errno, and would leave the store out. */
    __asm__ volatile("" : : : "memory");
    errno = *before;
}

/* Nor is any a point at which a thread is cancelled: likewise, and errno is kept. */
#define MED_LINUX_NOT_CANCELLED                                                                    \
    MED_LINUX_ERRNO_KEPT;                                                                          \
    __attribute__((cleanup(med_linux_block_ends), unused)) int cancel_before =                     \
        med_port_cancel_hold()

static inline void
med_linux_block_ends(const int *before)
{
    med_port_cancel_release(*before);
}

/* What an error of the system is, as far as it is the same to everybody: where it is something else
 * to you, look first. 0 is MEDLEY_OK. */
medley_status_t med_linux_status_of(int error);
/* The same where a folder refuses: MEDLEY_ERR_ACCESS is of what lies in it. */
medley_status_t med_linux_status_of_folder(int error);
/* What to do about it, to stand behind its text; "" when that says enough. */
const char *med_linux_advice_of(int error);

static inline struct timespec
med_linux_timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                             .tv_nsec = (long)(ns % 1000000000u)};
}

/* Will these be called (program.c)? Else nothing of a process may be kept that its child is not to
 * have. */
bool med_linux_is_told_of_forks(void);
/* Before a thread starts: what is cheap only while there is one. */
void med_linux_barrier_before_thread(void);
void med_linux_barrier_before_fork(void);
void med_linux_barrier_in_child(void);
void med_linux_pi_space_forget(void);
void med_linux_clock_forget(void);

/* How many processors the calling thread may run on; at least 1. */
uint32_t med_linux_processors_allowed(void);
/* A set of ours is the kernel's, whose words are longs. */
_Static_assert(sizeof(unsigned long) == sizeof(uint64_t), "sets of processors have other words");

/* Where shared memories and their segments lie. */
const char *med_linux_folder(void);
/* Ours alone: a plain file, of this user, with the mode we give, under one name. Else `why`. */
bool med_linux_file_is_ours(const struct stat *st, const char *path, char why[MED_PORT_WHY_BYTES]);
/* What open and its like have returned, of what is kept open: never 0, 1 or 2, which are the lowest
 * numbers free in a program that was started with them closed, and what it prints would go there.
 * -1 with errno. Before any record lock is taken: this closes a descriptor. */
int med_linux_descriptor_keep(int fd);
/* Makes a file with that mode: its descriptor, or -1 with errno. Whoever finds the name finds the
 * mode, too. */
int med_linux_file_make(const char *path);
/* For names that nobody looks for before we say so, in less than half the time: a mask of the
 * program's may have taken from the mode what the next one asks for. */
int med_linux_file_make_named(const char *path);
/* Gives it back. False: ours, and with nothing but that amiss, the file is not. */
bool med_linux_file_mode_mend(const char *path);
/* Makes a file so large, without storage. As the next. */
int med_linux_file_extend(int fd, size_t bytes);
/* Gives a file storage, all of it really there: a full /dev/shm is an error here, and would be
 * SIGBUS later. 0, or the error: EFBIG above the process's limit (ulimit -f). Signals may wait
 * until it is done. */
int med_linux_file_allocate(int fd, size_t bytes);
/* The first line of a small file, such as the kernel shows; false when there is none. */
bool med_linux_line_read(const char *path, char *line, size_t size_bytes);

#endif

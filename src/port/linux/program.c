/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The forks and the exit of the program that we are part of.
 *
 * Its own handlers may call us: to leave before a fork and come back behind it, or to leave at the
 * exit. So ours stand between them and the event. Handlers run in the order in which they are
 * placed, or in the reverse, so ours are placed before the program has run anything of itself: by a
 * constructor that comes before those of the program and of every library that needs this one, and
 * for the exit by the destructor that comes after theirs, and after all of atexit. (A program that
 * opens this library by dlopen may have placed some before.) What they are to call is said later;
 * but what the port itself keeps of its process they see to always, next to the fork.
 *
 * What may run together: one thread places handlers, others fork or exit meanwhile. A fork that has
 * begun without them goes on without them.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "linux.h"
#include "port/port.h"

/* The first of all that a program can have; of destructors, the last. */
#define NEXT_TO_THE_EVENT 101

/* ---- Its name -------------------------------------------------------------------------------- */

const char *
med_port_program_name(void)
{
    return program_invocation_short_name ? program_invocation_short_name : "";
}

/* ---- Fork ------------------------------------------------------------------------------------ */

static void (*on_fork_before)(void);
static void (*on_fork_in_parent)(void);
static void (*on_fork_in_child)(void);
static bool on_fork_there; /* the three above */
static int placing_error;
static uint32_t process_life; /* changed in a child, which has one thread */
static _Thread_local bool forks_with_them __attribute__((tls_model("initial-exec")));

static void
before_fork(void)
{
    /* A1 handlers <- R1 (med_port_on_fork) */
    forks_with_them = __atomic_load_n(&on_fork_there, __ATOMIC_ACQUIRE);
    if (forks_with_them && on_fork_before) {
        on_fork_before();
    }
    med_linux_barrier_before_fork();
}

static void
parent_after_fork(void)
{
    if (forks_with_them && on_fork_in_parent) {
        on_fork_in_parent();
    }
}

static void
child_after_fork(void)
{
    med_linux_barrier_in_child();
    med_linux_pi_space_forget();
    med_linux_clock_forget();
    process_life++;
    if (forks_with_them && on_fork_in_child) {
        on_fork_in_child();
    }
}

__attribute__((constructor(NEXT_TO_THE_EVENT))) static void
program_begins(void)
{
    placing_error = pthread_atfork(before_fork, parent_after_fork, child_after_fork);
}

bool
med_linux_is_told_of_forks(void)
{
    return placing_error == 0;
}

medley_status_t
med_port_on_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    if (!med_linux_is_told_of_forks()) {
        return MEDLEY_ERR_NO_MEMORY;
    }
    on_fork_before = before;
    on_fork_in_parent = in_parent;
    on_fork_in_child = in_child;
    /* R1 handlers -> A1 (before_fork) */
    __atomic_store_n(&on_fork_there, true, __ATOMIC_RELEASE);
    return MEDLEY_OK;
}

uint32_t
med_port_process_life(void)
{
    return process_life;
}

/* ---- Exit ------------------------------------------------------------------------------------ */

static void (*on_exit_handler)(void);

__attribute__((destructor(NEXT_TO_THE_EVENT))) static void
program_ends(void)
{
    /* A2 handler <- R2 (med_port_on_exit) */
    void (*handler)(void) = __atomic_load_n(&on_exit_handler, __ATOMIC_ACQUIRE);
    if (handler) {
        handler();
    }
}

medley_status_t
med_port_on_exit(void (*handler)(void))
{
    /* R2 handler -> A2 (program_ends) */
    __atomic_store_n(&on_exit_handler, handler, __ATOMIC_RELEASE);
    return MEDLEY_OK;
}

medley_status_t
med_port_at_exit(void (*handler)(void))
{
    MED_LINUX_ERRNO_KEPT;
    return atexit(handler) == 0 ? MEDLEY_OK : MEDLEY_ERR_NO_MEMORY;
}

/* ---- End ------------------------------------------------------------------------------------- */

_Noreturn void
med_port_program_end(int status)
{
    exit(status);
}

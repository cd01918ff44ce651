/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What there is neither without an operating system nor in the simulator: the ports of both build
 * it. */
#include <string.h>

#include "port/port.h"

/* There are no forks and no exits, so the handlers run at each of them. */
medley_status_t
med_port_on_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    (void)before;
    (void)in_parent;
    (void)in_child;
    return MEDLEY_OK;
}

uint32_t
med_port_process_life(void)
{
    return 0;
}

bool
med_port_object_beside(const char *name, const void *own, char *path, size_t path_bytes)
{
    (void)name;
    (void)own;
    (void)path;
    (void)path_bytes;
    return false;
}

bool
med_port_object_of(const void *address, char *path, size_t path_bytes, uint64_t *inside)
{
    (void)address;
    (void)path;
    (void)path_bytes;
    (void)inside;
    return false;
}

medley_status_t
med_port_on_exit(void (*handler)(void))
{
    (void)handler;
    return MEDLEY_OK;
}

medley_status_t
med_port_at_exit(void (*handler)(void))
{
    (void)handler;
    return MEDLEY_OK;
}

bool
med_port_thread_native_detached(const void *native)
{
    (void)native;
    return false;
}

/* Threads have their processors, which share everything but themselves. */
medley_status_t
med_port_thread_bind(const med_processor_set *processors)
{
    (void)processors;
    return MEDLEY_ERR_NOT_SUPPORTED;
}

uint32_t
med_port_processor_first(uint32_t processor, med_port_shares shares)
{
    return shares == MED_PORT_SHARES_CORE ? processor : 0;
}

/* Nobody guesses. */
uint32_t
med_port_random(void)
{
    return 1;
}

/* Nobody is cancelled. */
int
med_port_cancel_hold(void)
{
    return 0;
}

void
med_port_cancel_release(int before)
{
    (void)before;
}

medley_status_t
med_port_counter_open(med_port_counter *counter)
{
    static const char why[] = "nothing is counted here";
    _Static_assert(sizeof why <= MED_PORT_WHY_BYTES, "there is room");
    memcpy(counter->why, why, sizeof why);
    return MEDLEY_ERR_NOT_SUPPORTED;
}

medley_status_t
med_port_counter_read(med_port_counter *counter, uint64_t *value)
{
    (void)counter;
    (void)value;
    return MEDLEY_ERR_NOT_SUPPORTED;
}

void
med_port_counter_forgive(med_port_counter *counter)
{
    (void)counter;
}

void
med_port_counter_close(med_port_counter *counter)
{
    (void)counter;
}

medley_status_t
med_port_write_line(const char *where, const char *line)
{
    (void)where;
    (void)line;
    return MEDLEY_ERR_NOT_SUPPORTED;
}

medley_status_t
med_port_file_read(const char *path, char *bytes, size_t size_bytes, size_t *length)
{
    (void)path;
    (void)bytes;
    (void)size_bytes;
    (void)length;
    return MEDLEY_ERR_NOT_SUPPORTED;
}

/* All cores are alike. */
uint32_t
med_port_processor_rank(uint32_t processor, bool *is_capacity)
{
    (void)processor;
    *is_capacity = false;
    return 0;
}

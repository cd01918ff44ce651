/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Counters on Linux. Time at work: of a processor from /proc/stat (in ticks), of a thread from its
 * schedstat (in nanoseconds). The rest is perf_event_open's: it needs a processor whose counters
 * this machine shows (virtual machines often hide them), and for whole processors a user who may.
 *
 * A processor has few counters. Of more that are asked for, by anybody, the kernel lets each count
 * for part of the time, and tells with the count how long it was wanted and how long it ran. So
 * what came since the last look is taken for a sample of that time, and added as much larger as the
 * time was longer: each stretch by its own share, so the sum never goes back, as one that scaled
 * the whole each time would where a quiet stretch follows a busy one that was hardly seen.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "linux.h"
#include "port/port.h"

/* ---- Time ------------------------------------------------------------------------------------ */

static medley_status_t
thread_time_read(const med_port_counter *counter, uint64_t *value)
{
    char path[64], line[96];
    (void)snprintf(path, sizeof path, "/proc/%u/task/%u/schedstat", counter->process_id,
                   counter->thread_id);
    if (!med_linux_line_read(path, line, sizeof line)) {
        return MEDLEY_ERR_NOT_FOUND;
    }
    *value = strtoull(line, NULL, 10);
    return MEDLEY_OK;
}

/* "cpu3 user nice system idle iowait irq softirq steal": what is neither idle nor stolen. */
static uint64_t
ticks_at_work(const char *columns)
{
    uint64_t ticks = 0;
    for (int column = 0; column < 7; column++) {
        char *end;
        uint64_t value = strtoull(columns, &end, 10);
        ticks += column == 3 || column == 4 ? 0 : value;
        columns = end;
    }
    return ticks;
}

static medley_status_t
processor_time_read(const med_port_counter *counter, uint64_t *value)
{
    char line[512], wanted[24];
    long ticks_per_s = sysconf(_SC_CLK_TCK);
    int length = snprintf(wanted, sizeof wanted, "cpu%u ", counter->processor);
    medley_status_t status = MEDLEY_ERR_NOT_FOUND;
    FILE *file = fopen("/proc/stat", "re");
    while (file && status != MEDLEY_OK && fgets(line, sizeof line, file)) {
        if (strncmp(line, wanted, (size_t)length) == 0) {
            *value = ticks_at_work(line + length) * (1000000000u / (uint64_t)ticks_per_s);
            status = MEDLEY_OK;
        }
    }
    if (file) {
        (void)fclose(file);
    }
    return status;
}

static medley_status_t
time_read(const med_port_counter *counter, uint64_t *value)
{
    return counter->of_processor ? processor_time_read(counter, value)
                                 : thread_time_read(counter, value);
}

/* ---- The processor's own counters ------------------------------------------------------------ */

static medley_status_t
perf_refused(med_port_counter *counter, int error)
{
    const char *advice = "";
    medley_status_t status = MEDLEY_ERR_NOT_SUPPORTED;
    if (error == EACCES || error == EPERM) {
        advice = counter->of_processor ? "; whole processors need CAP_PERFMON, or "
                                         "kernel.perf_event_paranoid at most 0"
                                       : "; threads need kernel.perf_event_paranoid at most 2";
    } else if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP || error == EINVAL) {
        advice = "; this processor, or the virtual machine, shows no such counter";
    } else if (error == EBUSY || error == EMFILE) {
        status = MEDLEY_BUSY;
    } else if (error == ESRCH) {
        status = MEDLEY_ERR_NOT_FOUND;
    }
    (void)snprintf(counter->why, sizeof counter->why, "perf_event_open: %s%s",
                   strerrordesc_np(error), advice);
    return status;
}

static medley_status_t
perf_open(med_port_counter *counter)
{
    static const uint64_t configs[MED_PORT_COUNTER_KIND_COUNT] = {
        [MED_PORT_COUNTER_CYCLES] = PERF_COUNT_HW_CPU_CYCLES,
        [MED_PORT_COUNTER_INSTRUCTIONS] = PERF_COUNT_HW_INSTRUCTIONS,
        [MED_PORT_COUNTER_CACHE_MISSES] = PERF_COUNT_HW_CACHE_MISSES,
    };
    struct perf_event_attr attributes = {.type = PERF_TYPE_HARDWARE,
                                         .size = sizeof attributes,
                                         .config = configs[counter->kind],
                                         .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                        PERF_FORMAT_TOTAL_TIME_RUNNING,
                                         .exclude_kernel = !counter->of_processor,
                                         .exclude_hv = 1};
    long fd = syscall(
        SYS_perf_event_open, &attributes, counter->of_processor ? -1 : (pid_t)counter->thread_id,
        counter->of_processor ? (int)counter->processor : -1, -1, PERF_FLAG_FD_CLOEXEC);
    fd = med_linux_descriptor_keep((int)fd);
    if (fd < 0) {
        return perf_refused(counter, errno);
    }
    counter->handle = fd;
    return MEDLEY_OK;
}

/* What a read gives, in the kernel's order: what is in `looked_at`. */
typedef enum perf_word {
    COUNTED,
    TIME_WANTED,
    TIME_RUN,
    PERF_WORDS
} perf_word;
_Static_assert(sizeof((med_port_counter *)0)->looked_at == PERF_WORDS * sizeof(uint64_t), "");

/* value * wanted / run. The remainder's share gives up low bits where the product would not fit. */
static uint64_t
scaled(uint64_t value, uint64_t wanted, uint64_t run)
{
    uint64_t whole = value / run * wanted;
    uint64_t rest = value % run;
    while (rest > UINT64_MAX / wanted) {
        rest >>= 1;
        run >>= 1;
    }
    return whole + rest * wanted / run;
}

/* Time in which it did not run is left for the look after which it did. */
static void
perf_go_on(med_port_counter *counter, const uint64_t now[PERF_WORDS])
{
    uint64_t by[PERF_WORDS];
    for (int word = 0; word < PERF_WORDS; word++) {
        by[word] = now[word] - counter->looked_at[word];
    }
    if (by[TIME_RUN] == 0) {
        return;
    }
    counter->estimate += by[TIME_RUN] < by[TIME_WANTED]
                             ? scaled(by[COUNTED], by[TIME_WANTED], by[TIME_RUN])
                             : by[COUNTED];
    memcpy(counter->looked_at, now, sizeof counter->looked_at);
}

static bool
perf_look(const med_port_counter *counter, uint64_t now[PERF_WORDS])
{
    size_t bytes = PERF_WORDS * sizeof now[0];
    return read((int)counter->handle, now, bytes) == (ssize_t)bytes;
}

static medley_status_t
perf_read(med_port_counter *counter, uint64_t *value)
{
    uint64_t now[PERF_WORDS];
    if (!perf_look(counter, now)) {
        return MEDLEY_ERR_NOT_FOUND;
    }
    perf_go_on(counter, now);
    *value = counter->estimate;
    return MEDLEY_OK;
}

/* ---- The contract ---------------------------------------------------------------------------- */

medley_status_t
med_port_counter_open(med_port_counter *counter)
{
    MED_LINUX_NOT_CANCELLED;
    uint64_t value;
    counter->handle = -1;
    counter->why[0] = '\0';
    counter->estimate = 0;
    memset(counter->looked_at, 0, sizeof counter->looked_at);
    if (counter->kind != MED_PORT_COUNTER_TIME_NS) {
        return perf_open(counter);
    }
    medley_status_t status = time_read(counter, &value);
    if (status != MEDLEY_OK) {
        (void)snprintf(counter->why, sizeof counter->why, "%s",
                       counter->of_processor ? "/proc/stat does not list this processor"
                                             : "/proc shows no schedstat of this thread");
    }
    return status;
}

medley_status_t
med_port_counter_read(med_port_counter *counter, uint64_t *value)
{
    MED_LINUX_NOT_CANCELLED;
    return counter->kind == MED_PORT_COUNTER_TIME_NS ? time_read(counter, value)
                                                     : perf_read(counter, value);
}

void
med_port_counter_forgive(med_port_counter *counter)
{
    MED_LINUX_NOT_CANCELLED;
    uint64_t now[PERF_WORDS];
    if (counter->kind != MED_PORT_COUNTER_TIME_NS && perf_look(counter, now)) {
        perf_go_on(counter, now);
        counter->looked_at[TIME_WANTED] = now[TIME_WANTED];
    }
}

void
med_port_counter_close(med_port_counter *counter)
{
    MED_LINUX_NOT_CANCELLED;
    if (counter->handle >= 0) {
        (void)close((int)counter->handle);
        counter->handle = -1;
    }
}

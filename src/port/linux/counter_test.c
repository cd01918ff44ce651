/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Counters that the kernel lets count for part of the time, without a processor that has any: what
 * it says at each look, and what is told. The system calls are replaced, for this program
 * (-Wl,--wrap).
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "port/port.h"
#include "support/unit.h"

#define FORMAT ((uint64_t)PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#define HOUR UINT64_C(3600000000000)

/* ---- The kernel ------------------------------------------------------------------------------ */

/* At one look: what was counted, for how long it was wanted, and ran; and what is to be told. */
typedef struct look {
    uint64_t kernel[3];
    uint64_t told;
} look;

static const look *current;
static int kernel_fd = -1;

long __wrap_syscall(long number, ...);
long __real_syscall(long number, ...);
ssize_t __wrap_read(int fd, void *to, size_t bytes);
ssize_t __real_read(int fd, void *to, size_t bytes);

long
__wrap_syscall(long number, ...)
{
    va_list arguments;
    long a[6];
    va_start(arguments, number);
    for (int i = 0; i < 6; i++) {
        a[i] = va_arg(arguments, long);
    }
    va_end(arguments);
    if (number != SYS_perf_event_open) {
        return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
    const struct perf_event_attr *attributes = (const void *)a[0]; /* NOLINT: the kernel's way */
    assert_int_equal(attributes->read_format, FORMAT);
    kernel_fd = dup(STDERR_FILENO);
    return kernel_fd;
}

ssize_t
__wrap_read(int fd, void *to, size_t bytes)
{
    if (fd != kernel_fd) {
        return __real_read(fd, to, bytes);
    }
    if (!current) {
        return 0; /* as of what has gone */
    }
    if (bytes < sizeof current->kernel) {
        errno = ENOSPC;
        return -1;
    }
    memcpy(to, current->kernel, sizeof current->kernel);
    return sizeof current->kernel;
}

/* ---- What is told ---------------------------------------------------------------------------- */

static void
told(const look *looks, size_t count)
{
    med_port_counter counter = {.kind = MED_PORT_COUNTER_INSTRUCTIONS, .thread_id = 1};
    uint64_t value = 0;
    assert_int_equal(med_port_counter_open(&counter), MEDLEY_OK);
    for (size_t i = 0; i < count; i++) {
        current = &looks[i];
        assert_int_equal(med_port_counter_read(&counter, &value), MEDLEY_OK);
        assert_int_equal(value, looks[i].told);
    }
    current = NULL;
    assert_int_equal(med_port_counter_read(&counter, &value), MEDLEY_ERR_NOT_FOUND);
    med_port_counter_close(&counter);
}

#define TOLD(...)                                                                                  \
    do {                                                                                           \
        static const look looks[] = {__VA_ARGS__};                                                 \
        told(looks, sizeof looks / sizeof looks[0]);                                               \
    } while (0)

static void
alone_it_is_exact(void **state)
{
    (void)state;
    TOLD({{0, 0, 0}, 0}, {{7, 10, 10}, 7}, {{7, 20, 20}, 7}, {{1000003, 31, 31}, 1000003});
    TOLD({{UINT64_MAX / 2, 3 * HOUR, 3 * HOUR}, UINT64_MAX / 2});
}

static void
shared_out_it_is_scaled(void **state)
{
    (void)state;
    TOLD({{100, 40, 10}, 400}, {{200, 80, 20}, 800});
    TOLD({{100, 30, 20}, 150}, {{110, 40, 30}, 160}); /* exact again, from there on */
}

/* The last look's time is not lost. */
static void
while_it_does_not_run_nothing_is_told(void **state)
{
    (void)state;
    TOLD({{0, 50, 0}, 0}, {{0, 90, 0}, 0}, {{6, 100, 20}, 30}, {{6, 160, 20}, 30},
         {{8, 180, 30}, 46});
}

/* A count that begins anew does not make up for what it could not count before. */
static void
what_is_forgiven_is_not_made_up_for(void **state)
{
    static const look starved = {{0, 1000, 0}, 0}, ran = {{6, 1020, 10}, 12};
    med_port_counter counter = {.kind = MED_PORT_COUNTER_INSTRUCTIONS, .thread_id = 1};
    uint64_t value = 0;
    (void)state;
    assert_int_equal(med_port_counter_open(&counter), MEDLEY_OK);
    current = &starved;
    med_port_counter_forgive(&counter);
    current = &ran;
    assert_int_equal(med_port_counter_read(&counter, &value), MEDLEY_OK);
    assert_int_equal(value, ran.told);
    current = NULL;
    med_port_counter_close(&counter);
}

/* 10 of 100 were busy, then it is quiet: as a whole, 1001 / 60 * 150 were less than before. */
static void
it_never_goes_back(void **state)
{
    (void)state;
    TOLD({{1000, 100, 10}, 10000}, {{1001, 150, 60}, 10001}, {{1001, 250, 61}, 10001});
}

/* Where the product does not fit. */
static void
long_times_fit(void **state)
{
    (void)state;
    TOLD({{UINT64_C(5) << 48, UINT64_C(1) << 44, UINT64_C(1) << 42}, UINT64_C(5) << 50});
    TOLD({{UINT64_C(3) << 40, UINT64_C(3) << 50, UINT64_C(1) << 42}, UINT64_C(9) << 48});
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_it_is_exact),
        cmocka_unit_test(shared_out_it_is_scaled),
        cmocka_unit_test(while_it_does_not_run_nothing_is_told),
        cmocka_unit_test(what_is_forgiven_is_not_made_up_for),
        cmocka_unit_test(it_never_goes_back),
        cmocka_unit_test(long_times_fit),
    };
    return cmocka_run_group_tests_name("port/linux/counter", tests, NULL, NULL);
}

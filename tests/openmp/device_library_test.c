/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LLVM's library for devices, libomptarget, in a process whose OpenMP is ours: it asks for names of
 * LLVM's OpenMP, and is asked which devices there are. */
#include <dlfcn.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/unit.h"

typedef void (*data_begin)(void *place,
                           int64_t device,
                           int32_t count,
                           void **bases,
                           void **begins,
                           int64_t *sizes,
                           int64_t *kinds,
                           void **names,
                           void **mappers);

static void *library;

static void *
found(const char *name)
{
    void *symbol = dlsym(library, name);
    assert_non_null(symbol);
    return symbol;
}

static int
asked(const char *name)
{
    int (*function)(void);
    void *symbol = found(name);
    memcpy(&function, &symbol, sizeof function);
    return function();
}

static void
it_finds_what_it_asks_for(void **state)
{
    (void)state;
    void (*begin_devices)(void);
    data_begin begin;
    void *symbol = found("__tgt_init_all_rtls");
    memcpy(&begin_devices, &symbol, sizeof begin_devices);
    symbol = found("__tgt_target_data_begin_mapper");
    memcpy(&begin, &symbol, sizeof begin);
    begin_devices();
    for (int threads = 1; threads <= 2; threads++) {
#pragma omp parallel num_threads(threads)
        begin(NULL, -1, 0, NULL, NULL, NULL, NULL, NULL, NULL);
    }
}

/* Where it has none the host is 0, with gcc's programs always. */
static void
devices_are_those_that_it_has(void **state)
{
    (void)state;
    assert_int_equal(omp_get_num_devices(), asked("omp_get_num_devices"));
    assert_int_equal(omp_get_initial_device(), asked("omp_get_initial_device"));
    assert_int_equal(omp_get_device_num(), asked("omp_get_device_num"));
    assert_true(omp_get_num_devices() >= 1); /* the processor, which LLVM's counts as some */
    assert_true(omp_is_initial_device());
    assert_int_equal(omp_pause_resource(omp_pause_soft, omp_get_initial_device()), 0);
    assert_int_not_equal(omp_pause_resource(omp_pause_soft, 0), 0); /* that is another device */
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_finds_what_it_asks_for),
                                       cmocka_unit_test(devices_are_those_that_it_has)};
    const char *path = getenv("DEVICE_LIBRARY");
    if (!path || access(path, F_OK) != 0) {
        (void)printf("not possible here: no library for devices (%s)\n", path ? path : "");
        return 0;
    }
    library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        (void)fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    return cmocka_run_group_tests_name("device_library", tests, NULL, NULL);
}

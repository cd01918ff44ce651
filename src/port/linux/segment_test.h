/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the tests of segments have in common: segment_test.c, place_test.c. */
#ifndef MEDLEY_PORT_LINUX_SEGMENT_TEST_H
#define MEDLEY_PORT_LINUX_SEGMENT_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "port/port.h"
#include "support/unit.h"

#define NAME "segments.test"
#define INSTANCE UINT64_C(0x1234)
#define SIZE 10000u

/* Of the shared memory that they would lie beside. */
static inline const char *
shared_path(void)
{
    static char path[MED_PORT_PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/medley-%u-" NAME, getenv("MEDLEY_SHM_DIR"),
                   (unsigned)geteuid());
    return path;
}

static inline med_port_segment
segment_of(uint32_t number)
{
    return (med_port_segment){
        .beside = shared_path(), .instance = INSTANCE, .number = number, .size_bytes = SIZE};
}

static inline const char *
path_of(uint32_t number)
{
    static char path[256];
    (void)snprintf(path, sizeof path, "%s/medley-%u+" NAME "+%016llx-%08x",
                   getenv("MEDLEY_SHM_DIR"), (unsigned)geteuid(), (unsigned long long)INSTANCE,
                   number);
    return path;
}

static inline bool
is_there(uint32_t number)
{
    struct stat st;
    return lstat(path_of(number), &st) == 0;
}

static inline int
none_left(void **state)
{
    (void)state;
    med_port_segments_remove(shared_path(), 0);
    return 0;
}

static inline med_port_segment
made(uint32_t number)
{
    med_port_segment segment = segment_of(number);
    assert_int_equal(med_port_segment_create(&segment), MEDLEY_OK);
    assert_null(segment.address);
    assert_int_equal(med_port_segment_map(&segment), MEDLEY_OK);
    med_port_segment_close(&segment);
    return segment;
}

#endif

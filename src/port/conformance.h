/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What every implementation of port.h must keep, as checks that need nothing but port.h: they run
 * under cmocka on a hosted machine (port_test.c) and from an image on a bare one (tests/bare). Not
 * part of the library.
 */
#ifndef MEDLEY_PORT_CONFORMANCE_H
#define MEDLEY_PORT_CONFORMANCE_H

#include <stdint.h>

typedef struct med_port_check {
    const char *name;
    /* NULL when the port keeps it, else the condition that did not hold. */
    const char *(*run)(void);
} med_port_check;

extern const med_port_check med_port_checks[];
extern const uint32_t med_port_check_count;

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of segments have in common: segment.c (names and lives), place.c. */
#ifndef MEDLEY_PORT_LINUX_SEGMENT_H
#define MEDLEY_PORT_LINUX_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "port/port.h"

/* `why`: `doing` has given `error`. */
medley_status_t med_linux_segment_failed(med_port_segment *segment, const char *doing, int error);

/* ---- Places (place.c) ------------------------------------------------------------------------ */

/* What a segment takes: whole pages, of those that it lies on. */
size_t med_linux_place_bytes(uint32_t size_bytes, uint32_t place);
/* Is there such a memory, and such an address? Asked before anything is made. */
medley_status_t med_linux_place_check(med_port_segment *segment);
/* Gives a file that has none all its storage, in its place. */
medley_status_t med_linux_place_fill_file(med_port_segment *segment);
/* Maps one of this process alone, with all its storage where a place is asked for. */
medley_status_t med_linux_place_map_private(med_port_segment *segment);

#endif

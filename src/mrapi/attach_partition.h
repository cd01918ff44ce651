/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The partition that this process attaches to: made anew, or one in which somebody lives. */
#ifndef MEDLEY_MRAPI_ATTACH_PARTITION_H
#define MEDLEY_MRAPI_ATTACH_PARTITION_H

#include "medley/status.h"
#include "mrapi/image.h"
#include "mrapi/system.h"

/* In the section of a name that nobody lives in, of this process's limits, or the image's (may be
 * NULL). */
medley_status_t med_attach_partition_create(med_system *system, const char *name, med_image *image);
/* The same in memory of this process alone. */
medley_status_t med_attach_partition_private(med_system *system);
/* In the section, or of an observer who has seen that a slot is held: checks it, and uses it as it
 * is. */
medley_status_t med_attach_partition_join(med_system *system);

#endif

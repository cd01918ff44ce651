/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Attaching this process to a system, and leaving it. For system.c, inside its gate; observing
 * (system.h) is here too. */
#ifndef MEDLEY_MRAPI_ATTACH_H
#define MEDLEY_MRAPI_ATTACH_H

#include "medley/status.h"
#include "mrapi/image.h"
#include "mrapi/system.h"

/* Fill `system`, which is nobody's, or leave it unusable; the log says why. */
medley_status_t med_attach_named(const char *name, uint64_t deadline_ns, med_system *system);
/* Makes it of an image. MEDLEY_BUSY: somebody lives in it. */
medley_status_t med_attach_image(const char *name,
                                 uint64_t deadline_ns,
                                 struct med_image *image,
                                 med_system *system);
medley_status_t med_attach_private(med_system *system);
/* Gives up the process's row and the mapping; the last process removes the name, if it can enter
 * the section within MED_SYSTEM_PATIENCE_NS. */
void med_attach_end(med_system *system);

/* Gives up what this process keeps for itself of a system: in a child of fork all there is. */
void med_attach_own_end(med_system *system);
/* In the section of a name in which nobody lives: removes all segments beside it, then itself, so
 * that what is left by one who dies between is found by the next start. MEDLEY_ERR_ACCESS. */
medley_status_t med_attach_name_remove(med_port_shared *shared);
/* In the section of our file, under whose name another system may be by now, if somebody removed it
 * while we lived: the segments of ours go, and the name if it is still ours. A file that cannot be
 * removed is a leftover, which the next start replaces. */
void med_attach_name_remove_unless_held(med_system *system);

#endif

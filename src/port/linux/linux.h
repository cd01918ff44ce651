/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of this folder share. */
#ifndef MEDLEY_PORT_LINUX_LINUX_H
#define MEDLEY_PORT_LINUX_LINUX_H

#include <stdint.h>

/* How many processors the calling thread may run on; at least 1. */
uint32_t med_linux_processors_allowed(void);

#endif

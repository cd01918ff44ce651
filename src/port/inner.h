/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What of libmedley Medley's other libraries call, and no program: it is seen from outside under
 * the version MEDLEY_INNER (src/medley.map), which is none that stays. */
#ifndef MEDLEY_PORT_INNER_H
#define MEDLEY_PORT_INNER_H

#define MED_INNER __attribute__((visibility("default")))

#endif

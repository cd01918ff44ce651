/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Our ring as it is. */
#include "ring_own_loops.h"

OWN_SYSTEM(ring_packed, packed_, "medley packed", LAYOUT_PACKED, MED_RING_PACKED)
OWN_SYSTEM(ring_packed_looked_up,
           looked_up_,
           "medley packed, layout looked up",
           LAYOUT_LOOKED_UP,
           MED_RING_PACKED)
OWN_SYSTEM(ring_line, line_, "medley line", LAYOUT_LINE, MED_RING_LINE)

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Built for the target, not run: its symbol's size is what a process keeps per node. */
#include "mrapi/node.h"

char footprint_self[sizeof(med_self)];

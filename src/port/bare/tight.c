/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A board without tightly coupled memory. */
#include "port/bare/bare.h"

const med_port_tight med_bare_tight[1] = {{.name = ""}};
const uint32_t med_bare_tight_count = 0;

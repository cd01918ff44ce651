/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The pause of a loop, in C: port.h is not for C++, in which some of the rings compared are. */
#include "port/port.h"
#include "ring_bench.h"

void
ring_relax(void)
{
    med_port_cpu_relax();
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "port/port.h"
#include "ring_bench.h"

void
ring_relax(void)
{
    med_port_cpu_relax();
}
